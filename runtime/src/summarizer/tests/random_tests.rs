//! Whatever happens while summaries are written (a session that grows, refusals, limits, lost acks, a process that begins
//! anew, two writers at a time): in the end each node has words once, and nobody paid for one of them twice.

use super::counting::{Counting, Fate};
use super::*;
use proptest::prelude::*;
use retrace_events::log::Fault;
use std::collections::BTreeSet;

/// What happens next.
#[derive(Debug, Clone)]
enum Happens {
    /// The session goes on by so many steps.
    Grows(usize),
    /// Summaries are written, at most so many, by one of two processes.
    Writes { by: usize, max_nodes: u32 },
    /// The process begins anew.
    BeginsAnew(usize),
    /// The next question is answered with nothing.
    Refuses,
    /// The next append goes wrong.
    Fails(Fault),
}

fn happens() -> impl Strategy<Value = Happens> {
    let fault = prop_oneof![Just(Fault::LoseAck), Just(Fault::NotStored), Just(Fault::Full)];
    prop_oneof![
        3 => (1..20_usize).prop_map(Happens::Grows),
        4 => (0..2_usize, 0..5_u32).prop_map(|(by, max_nodes)| Happens::Writes { by, max_nodes }),
        1 => (0..2_usize).prop_map(Happens::BeginsAnew),
        1 => Just(Happens::Refuses),
        1 => fault.prop_map(Happens::Fails),
    ]
}

/// The nodes above the steps that `steps` steps have, the last of which is open.
fn wanted(steps: usize) -> BTreeSet<(u32, u64)> {
    let mut wanted = BTreeSet::new();
    let mut nodes = steps.saturating_sub(1) as u64;
    for level in 1.. {
        nodes /= 8;
        if nodes == 0 {
            break;
        }
        wanted.extend((0..nodes).map(|index| (level, index)));
    }
    wanted
}

/// Lets it all happen; then nothing more goes wrong, and what is missing is written.
async fn check(story: Vec<Happens>) {
    let (log, mut maker) = logged(1).await;
    let counting = Arc::new(Counting::default());
    let mut writers = [writer(&log, &counting), writer(&log, &counting)];
    let (mut steps, mut lost) = (1, 0);
    for happens in story {
        match happens {
            Happens::Grows(more) => {
                // A fault is meant for the summaries.
                grow(&log, &mut maker, steps..steps + more).await;
                steps += more;
            }
            Happens::Writes { by, max_nodes } => {
                writers[by].write_missing(WriteLimits { max_nodes, max_cost_microusd: None }).await;
            }
            Happens::BeginsAnew(by) => writers[by] = writer(&log, &counting),
            Happens::Refuses => {
                counting.fates.lock().unwrap().push_back(Fate::Refused { is_transient: true });
                lost += 1;
            }
            Happens::Fails(fault) => {
                log.fail_next(fault);
                let max_nodes = u32::MAX;
                let report = writers[0].write_missing(WriteLimits { max_nodes, max_cost_microusd: None }).await;
                lost += 1;
                // It may not have been needed; no later append is to meet it.
                if report.written == 0 {
                    let _ = log.append(&[of_no_matter(lost)]).await;
                }
            }
        }
    }
    counting.fates.lock().unwrap().clear();
    let report = writer(&log, &counting).write_missing(all()).await;
    assert!(report.stopped.is_none(), "{report:?}");
    let words = written(&log).await;
    let places: BTreeSet<(u32, u64)> = places(&words).into_iter().collect();
    assert_eq!(places, wanted(steps));
    assert_eq!(places.len(), words.len(), "a node has words twice");
    // Asked for again is only what was refused, or could not be stored.
    assert!(counting.count() <= words.len() + lost, "{} questions for {} nodes", counting.count(), words.len());
}

/// An event of a stream that nobody looks at.
fn of_no_matter(number: usize) -> Envelope {
    EventMaker::new(example_stream(&format!("nothing-{number}")), 100 + number as u64).prompt("nothing")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn each_node_gets_words_once_whatever_happens(story in proptest::collection::vec(happens(), 0..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(story));
    }
}
