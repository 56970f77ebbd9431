//! Whole runs.

use super::super::points::{PointList, PointsError};
use super::super::{BenchPlan, ContextBench, Measurements};
use super::{long, measured, plan, small};

fn sessions() -> Vec<super::BenchSession> {
    ["a", "b"].map(long).to_vec()
}

/// The same without latencies.
fn untimed(mut measured: Measurements) -> Measurements {
    measured.cells.iter_mut().for_each(|cell| cell.latency = None);
    measured
}

#[test]
fn a_run_is_the_same_every_time_and_whatever_comes_at_once() {
    let whole = untimed(measured(plan(), &sessions()));
    assert!(whole.points.len() > 30 && whole.sessions == 2, "{} in {}", whole.points.len(), whole.sessions);
    let mut bench = ContextBench::new(plan());
    let mut done = 0;
    for session in sessions() {
        bench.measure(&[session], &mut || done += 1).unwrap();
    }
    assert_eq!(untimed(bench.finish().unwrap()), whole);
    assert_eq!(done, 2);
}

#[test]
fn everything_has_everything_and_the_tail_nothing_old() {
    let measured = measured(plan(), &sessions());
    for budget in [1_000, 8_000] {
        let cell = |arm| measured.cell(arm, budget).unwrap();
        for share in cell("all").shares.iter().flatten() {
            assert!((share.mean - 1.0).abs() < 1e-9, "{share:?}");
        }
        for (column, share) in cell("tail").shares.iter().enumerate() {
            // Where the window has all there is, nothing is old.
            let Some(share) = share else { continue };
            // The columns of what the tail misses are every other one.
            assert!(column % 2 == 0 || share.mean == 0.0, "{column}: {share:?}");
            assert_eq!(cell("tail").above_tail[column].unwrap().mean, 0.0);
        }
        assert!(cell("tail").shares[0].unwrap().mean > 0.3);
        // The larger window has all that these sessions need.
        assert!(cell("workset").above_tail[1].map_or(budget == 8_000, |above| above.mean > 0.0));
        // What cannot be faked by loose lines.
        assert_eq!(cell("bag").shares[4].unwrap().mean, 0.0);
        assert!(cell("bag").shares[2].unwrap().mean > 0.1);
    }
    let read = |arm| measured.cell(arm, 1_000).unwrap().requests.warm_read_share().unwrap();
    assert!(read("all") > 0.95, "{}", read("all"));
    assert!(read("workset") < 0.2, "{}", read("workset"));
    let same = |arm| measured.cell(arm, 1_000).unwrap().requests.requests;
    assert_eq!(same("all"), same("bag"));
}

#[test]
fn arms_and_budgets_do_not_disturb_each_other() {
    let whole = measured(plan(), &sessions());
    let mut alone = plan();
    alone.arms.retain(|arm| arm.name() == "workset");
    alone.budgets = vec![8_000];
    let alone = measured(alone, &sessions());
    let (one, other) = (whole.cell("workset", 8_000).unwrap(), alone.cell("workset", 8_000).unwrap());
    assert_eq!((one.shares, one.above_tail, one.requests), (other.shares, other.above_tail, other.requests));
}

#[test]
fn a_list_of_points_is_taken_as_it_is() {
    let chosen = measured(plan(), &sessions());
    let json = serde_json::to_string(&chosen.points).unwrap();
    let listed = BenchPlan { points: Some(PointList::parse(&json).unwrap()), ..plan() };
    assert_eq!(untimed(measured(listed, &sessions())), untimed(chosen));
    // Of a session that is too short for choosing, too.
    let at = small().items.iter().rposition(|item| !item.replaced().is_empty()).unwrap();
    let few = BenchPlan { points: Some(PointList::parse(&format!("[[\"small\", {at}]]")).unwrap()), ..plan() };
    assert_eq!(measured(few, &[small()]).points, [("small".to_owned(), at)]);
}

#[test]
fn points_that_are_not_there_are_errors() {
    let bench = |json: &str| ContextBench::new(BenchPlan { points: Some(PointList::parse(json).unwrap()), ..plan() });
    let mut one = bench("[[\"small\", 0]]");
    assert!(one.wants("small") && !one.wants("other"));
    assert!(matches!(one.measure(&[small()], &mut || {}), Err(PointsError::NoCall { at: 0, .. })));
    let mut other = bench("[[\"elsewhere\", 3]]");
    other.measure(&[small()], &mut || {}).unwrap();
    assert_eq!(other.finish().unwrap_err().to_string(), "session elsewhere is not among those that are measured");
}

#[test]
fn nothing_to_measure_is_nothing() {
    let nothing = measured(plan(), &[small()]);
    assert_eq!((nothing.points.len(), nothing.sessions), (0, 0));
    assert!(nothing.cells.iter().all(|cell| cell.shares.iter().all(Option::is_none) && cell.latency.is_none()));
    assert_eq!(measured(plan(), &[]).sessions, 0);
}
