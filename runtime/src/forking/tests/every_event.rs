//! Every event of random sessions can be forked: the restored tree is the one that was kept aside at that moment, and the original
//! stays as it is. `PROPTEST_CASES=1000` runs a thousand of them.

use super::random_work::RandomWork;
use super::trees::{Tree, tree};
use super::*;
use crate::replaying::verify_session;
use crate::snapshots::restore;
use proptest::prelude::*;
use retrace_events::fold::FilesAt;

/// All events of `stream`, with the tree that was kept aside at each.
async fn moments(world: &World, mint: &KeepingMint, stream: &StreamId) -> Vec<(u64, Arc<Tree>)> {
    let events = world.events(stream).await;
    // A fork's first events are not made by an agent.
    events.iter().filter_map(|event| Some((event.envelope.seq, mint.find(event.envelope.id)?))).collect()
}

/// Forks `stream` at each of its events, and compares. Returns how many forks there were, and how many began before a call.
async fn fork_everywhere(world: &World, moments: &[(u64, Arc<Tree>)], stream: &StreamId) -> (usize, usize) {
    let mut moved = 0;
    for (seq, _) in moments {
        let point = ForkPoint::find(&world.log, stream, Some(*seq)).await.unwrap();
        assert!(!point.state.is_in_a_call(), "event {seq}: inside a call");
        assert_eq!(point.moved_from, (point.seq != *seq).then_some(*seq));
        moved += usize::from(point.moved_from.is_some());
        let Some((_, expected)) = moments.iter().find(|(at, _)| *at == point.seq) else { continue };
        let FilesAt::At(wanted) = &point.files else { panic!("event {seq}: {:?}", point.files) };
        let into = world.root.path().join(format!("restored-{seq}"));
        restore(&world.plan(), wanted, &into).await.unwrap();
        let restored = tree(&into);
        assert!(restored == **expected, "event {seq} (from {}): {}", point.seq, differing(&restored, expected));
        std::fs::remove_dir_all(&into).unwrap();
    }
    (moments.len(), moved)
}

fn differing(restored: &Tree, expected: &Tree) -> String {
    let paths = restored.keys().chain(expected.keys()).filter(|path| restored.get(*path) != expected.get(*path));
    let lines = paths.map(|path| format!("\n  {path:?}: {:?} instead of {:?}", restored.get(path), expected.get(path)));
    lines.collect()
}

async fn case(seed: u64) -> (usize, usize) {
    let mut work = RandomWork::new(seed);
    let turns = work.turns();
    let script = work.script(turns + 1);
    let world = World::with(&script).await;
    let mint = KeepingMint::new(world.workspace());
    work.by_hand(&world.workspace());
    let mut agent = world.start("original", &mint).await;
    for turn in 0..turns {
        if turn > 0 {
            work.by_hand(&world.workspace());
        }
        ask(&mut agent, &format!("turn {turn}")).await;
    }
    agent.close().await;
    let stream = example_stream("original");
    let (log, files) = (world.events(&stream).await, tree(&world.workspace()));
    let moments = moments(&world, &mint, &stream).await;
    let (mut forks, mut moved) = fork_everywhere(&world, &moments, &stream).await;

    // A fork that is worked in, and forks of it.
    let at = work.below(log.len() as u64);
    let (_, child) = world.fork(&stream, at, "child", true).await;
    let folder = world.root.path().canonicalize().unwrap().join("child");
    let mint = KeepingMint::new(folder.clone());
    let mut agent = Agent::resume(world.parts(Arc::<KeepingMint>::clone(&mint)), child.clone(), None).await.unwrap();
    ask(&mut agent, "something else").await;
    agent.close().await;
    let moments = super::every_event::moments(&world, &mint, &child).await;
    let more = fork_everywhere(&world, &moments, &child).await;
    (forks, moved) = (forks + more.0, moved + more.1);

    world.check();
    assert_eq!(world.events(&stream).await, log, "the original's log is another one now");
    assert!(tree(&world.workspace()) == files, "the original's files are others now");
    for session in [&stream, &child] {
        let report = verify_session(&world.log, session).await.unwrap();
        assert!(report.agrees(), "{session}: {report:?}");
    }
    (forks, moved)
}

/// As many cases as asked for; a dozen otherwise.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_event_can_be_forked_and_nothing_of_the_original_changes(seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (forks, _) = runtime.block_on(Box::pin(case(seed)));
        prop_assert!(forks > 4, "seed {seed} makes no session");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_sessions_reach_the_inside_of_calls() {
    let (mut forks, mut moved) = (0, 0);
    for seed in 0..4 {
        let (more, inside) = Box::pin(case(seed)).await;
        (forks, moved) = (forks + more, moved + inside);
    }
    assert!(moved > 10 && forks > 100, "{forks} forks, {moved} of them moved");
}
