//! States: loaded through checkpoints they are what they are without, at every place of every session and fork.

use super::growing::{Growing, moves, prompt};
use super::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_state_is_the_same_at_every_place(first in moves(25), second in moves(10)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let mut growing = Growing::new();
            for moves in [first, second] {
                growing.make(&moves).await;
                // Another handle each time, as another process has.
                let checkpoints = checkpoints(folder.path());
                for (stream, last) in growing.sessions() {
                    let whole = checkpoints.load(&growing.log, &stream).await.unwrap();
                    checkpoints.settled().await;
                    assert_eq!(bytes(&whole), folded(&growing.log, &stream, last).await);
                    for seq in 0..=last {
                        let expected = folded(&growing.log, &stream, seq).await;
                        assert_eq!(loaded(&checkpoints, &growing.log, &stream, seq).await, expected, "{stream}@{seq}");
                    }
                    checkpoints.settled().await;
                }
                let longest = growing.sessions().into_iter().map(|(_, last)| last).max().unwrap_or_default();
                assert_eq!(longest + 1 < STATE_EVENTS, files_named(folder.path(), "state-").is_empty());
            }
        });
    }
}

#[tokio::test]
async fn what_stands_before_a_checkpoint_is_not_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::of_prompts(STATE_EVENTS * 3 + 2).await;
    let (stream, last) = growing.sessions().remove(0);
    let expected = bytes(&checkpoints(folder.path()).load(&growing.log, &stream).await.unwrap());
    let keeper = checkpoints(folder.path());
    keeper.load(&growing.log, &stream).await.unwrap();
    keeper.settled().await;
    assert_eq!(files_named(folder.path(), "state-").len(), 3);
    // The first checkpoint stands at event 4: nothing before event 14 is needed any more.
    growing.log.flip_byte(&stream, 1);
    assert!(fold::load(&growing.log, &stream).await.is_err());
    assert!(Checkpoints::none().load(&growing.log, &stream).await.is_err());
    assert_eq!(bytes(&checkpoints(folder.path()).load(&growing.log, &stream).await.unwrap()), expected);
    // A fork far behind uses its parent's.
    let fork = growing.fork(0, last).await;
    let state = checkpoints(folder.path()).load(&growing.log, &growing.stream(fork)).await.unwrap();
    assert_eq!((state.next_seq(), state.next_place()), (1, last + 2));
    // Before the first checkpoint there is nothing but the log.
    let early = History::of(&growing.log, &stream).await.unwrap().until(3);
    assert!(checkpoints(folder.path()).state(&growing.log, &early).await.is_err());
}

#[tokio::test]
async fn a_fork_has_checkpoints_of_its_own_and_writes_those_its_parent_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::of_prompts(STATE_EVENTS + 1).await;
    let fork = growing.fork(0, STATE_EVENTS).await;
    for _ in 0..STATE_EVENTS {
        growing.add(fork, prompt("more")).await;
    }
    let keeper = checkpoints(folder.path());
    keeper.load(&growing.log, &growing.stream(fork)).await.unwrap();
    keeper.settled().await;
    let names: Vec<String> = files_named(folder.path(), "state-")
        .iter()
        .map(|path| path.parent().unwrap().file_name().unwrap().to_string_lossy().split('-').next().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["fork1", "grown"]);
}

#[tokio::test]
async fn while_a_session_runs_states_are_kept_as_it_passes_intervals_and_when_it_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = checkpoints(folder.path());
    let mut growing = Growing::new();
    let stream = growing.stream(0);
    let mut state = SessionState::default();
    for number in 0..STATE_EVENTS * 2 + 2 {
        growing.add(0, prompt(&number.to_string())).await;
        let before = state.next_seq();
        let history = History::of(&growing.log, &stream).await.unwrap();
        fold::continue_from(&growing.log, &history, &mut state).await.unwrap();
        keeper.passed(&stream, before, &state);
        keeper.settled().await;
    }
    assert_eq!(files_named(folder.path(), "state-").len(), 2);
    keeper.left(&stream, &state);
    keeper.settled().await;
    let files = files_named(folder.path(), "state-");
    assert_eq!(files.len(), 3, "{files:?}");
    growing.log.flip_byte(&stream, STATE_EVENTS * 2);
    let again = checkpoints(folder.path()).load(&growing.log, &stream).await.unwrap();
    assert_eq!(bytes(&again), bytes(&state), "the one it was left in");
}

#[tokio::test]
async fn without_a_folder_nothing_is_kept_and_all_is_the_same() {
    let growing = Growing::of_prompts(STATE_EVENTS * 2).await;
    let (stream, last) = growing.sessions().remove(0);
    let none = Checkpoints::none();
    assert_eq!(loaded(&none, &growing.log, &stream, last).await, folded(&growing.log, &stream, last).await);
    none.settled().await;
    none.forget(&stream).unwrap();
    // A folder that cannot be written is as good as none.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("checkpoints"), "in the way").unwrap();
    let blocked = checkpoints(folder.path());
    assert_eq!(loaded(&blocked, &growing.log, &stream, last).await, folded(&growing.log, &stream, last).await);
    blocked.settled().await;
    assert_eq!(loaded(&blocked, &growing.log, &stream, last).await, folded(&growing.log, &stream, last).await);
}
