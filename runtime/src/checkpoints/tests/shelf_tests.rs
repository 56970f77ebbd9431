//! The folder of a session's checkpoints: whose it is, what stays in it, and what all of them may take.

use super::*;
use crate::checkpoints::fold_id::{FoldId, Folded, Kind};
use crate::checkpoints::overall_limit::bound;
use crate::checkpoints::sealed::Mark;
use crate::checkpoints::session_shelf::SessionShelf;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use retrace_events::testing::example_stream;
use retrace_events::{Hash, StreamId, Token};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

fn mark(seq: u64) -> Mark {
    Mark { seq, hash: Hash::of(&seq.to_le_bytes()) }
}

fn kind() -> Kind {
    Kind { interval: 10, ..Kind::states() }
}

fn set_age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn what_is_kept_comes_back_and_is_its_users_alone() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = SessionShelf::of(folder.path(), &example_stream("one"));
    shelf.keep(kind(), mark(9), b"nine").unwrap();
    assert_eq!(shelf.take(kind(), mark(9)).unwrap(), b"nine");
    assert_eq!(shelf.seqs(kind()), BTreeSet::from([9]));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(shelf.path()), 0o700);
    assert_eq!(mode(&files(shelf.path())[0]), 0o600);
    // A longer name than a folder may have.
    let long = Token::slug(&"x".repeat(64));
    let stream = StreamId { tenant: long.clone(), project: long.clone(), id: long, ..example_stream("one") };
    SessionShelf::of(folder.path(), &stream).keep(kind(), mark(9), b"nine").unwrap();
}

#[test]
fn sessions_of_one_name_in_two_projects_have_folders_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (example_stream("one"), StreamId { project: Token::slug("other"), ..example_stream("one") });
    SessionShelf::of(folder.path(), &one).keep(kind(), mark(9), b"one").unwrap();
    assert!(SessionShelf::of(folder.path(), &other).seqs(kind()).is_empty());
}

#[test]
fn what_other_code_folded_and_nobody_finished_goes_with_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = SessionShelf::of(folder.path(), &example_stream("one"));
    let old = Kind { code: FoldId([7; FoldId::BYTES]), ..kind() };
    let past = Kind { folded: Folded::Past, ..old };
    shelf.keep(old, mark(9), b"old").unwrap();
    shelf.keep(past, mark(9), b"a past").unwrap();
    for (name, age) in [(".unfinished-dead", 7_200), (".unfinished-alive", 0)] {
        std::fs::write(shelf.path().join(name), "half").unwrap();
        set_age(&shelf.path().join(name), age);
    }
    std::fs::write(shelf.path().join("state-nonsense.zst"), "?").unwrap();
    assert!(shelf.seqs(kind()).is_empty(), "another code's");
    shelf.keep(kind(), mark(19), b"new").unwrap();
    assert!(shelf.seqs(old).is_empty());
    assert_eq!(shelf.seqs(past), BTreeSet::from([9]), "pasts are no concern of states");
    assert_eq!(shelf.seqs(kind()), BTreeSet::from([19]));
    let left = files_named(shelf.path(), ".unfinished");
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn old_ones_are_thinned_out() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = SessionShelf::of(folder.path(), &example_stream("one"));
    for number in 1..=60_u64 {
        shelf.keep(kind(), mark(number * 10 - 1), b"x").unwrap();
    }
    let seqs = shelf.seqs(kind());
    assert!((20..30).contains(&seqs.len()), "{seqs:?}");
    assert!(seqs.contains(&599) && seqs.contains(&589) && !seqs.contains(&19));
}

#[test]
fn a_session_has_its_bound_in_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = SessionShelf::of(folder.path(), &example_stream("one"));
    let mut random = StdRng::seed_from_u64(3);
    let noise: Vec<u8> = (0..9 * 1024 * 1024).map(|_| random.random()).collect();
    for number in 1..=12 {
        shelf.keep(kind(), mark(number * 10 - 1), &noise).unwrap();
        let bytes: u64 = files(shelf.path()).iter().map(|path| path.metadata().unwrap().len()).sum();
        assert!(bytes <= Folded::State.max_bytes(), "{bytes}");
        assert_eq!(shelf.seqs(kind()).last(), Some(&(number * 10 - 1)), "the newest stays");
    }
    assert!(shelf.seqs(kind()).len() >= 3);
    // One that is larger than all may be is not kept, and costs nothing else.
    let before = shelf.seqs(kind());
    let large = noise.repeat(8);
    let mut whole = large.clone();
    whole.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= (at / noise.len()) as u8 ^ (at as u8).rotate_left(3));
    random.fill(&mut whole[..]);
    assert_eq!(shelf.keep(kind(), mark(1_000), &whole).unwrap(), 0);
    assert_eq!(shelf.seqs(kind()), before);
}

#[test]
fn of_all_sessions_the_oldest_lose_theirs_first() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = |log: &str, name: &str| SessionShelf::of(&folder.path().join(log), &example_stream(name));
    let mut random = StdRng::seed_from_u64(4);
    for (age, (log, name)) in [("a", "newest"), ("b", "middle"), ("a", "oldest")].into_iter().enumerate() {
        let noise: Vec<u8> = (0..1_000).map(|_| random.random()).collect();
        shelf(log, name).keep(kind(), mark(9), &noise).unwrap();
        files(shelf(log, name).path()).iter().for_each(|path| set_age(path, age as u64 * 100));
    }
    let there = |log, name| !shelf(log, name).seqs(kind()).is_empty();
    bound(folder.path(), 10_000, Path::new("/"));
    assert!(there("a", "newest") && there("b", "middle") && there("a", "oldest"));
    bound(folder.path(), 2_500, Path::new("/"));
    assert!(there("a", "newest") && there("b", "middle") && !there("a", "oldest"));
    // The one that was just written stays, whatever its age.
    bound(folder.path(), 1_500, shelf("b", "middle").path());
    assert!(!there("a", "newest") && there("b", "middle"));
    bound(&folder.path().join("nowhere"), 0, Path::new("/"));
}

#[tokio::test]
async fn a_forgotten_session_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let growing = super::growing::Growing::of_prompts(STATE_EVENTS).await;
    let keeper = checkpoints(folder.path());
    keeper.load(&growing.log, &growing.stream(0)).await.unwrap();
    keeper.settled().await;
    assert_eq!(files(folder.path()).len(), 1);
    keeper.forget(&example_stream("another")).unwrap();
    assert_eq!(files(folder.path()).len(), 1);
    keeper.forget(&growing.stream(0)).unwrap();
    assert_eq!(files(folder.path()).len(), 0);
    keeper.forget(&growing.stream(0)).unwrap();
    // Another log's are elsewhere.
    Checkpoints::of_log(folder.path(), "another").forget(&growing.stream(0)).unwrap();
}
