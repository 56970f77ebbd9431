//! What must not be used: torn, damaged and foreign files, and those of events that the log does not have.

use super::growing::{Growing, prompt};
use super::*;
use crate::checkpoints::fold_id::{FoldId, Kind};
use crate::checkpoints::sealed::{Mark, seal, unseal};
use crate::context::Past;
use proptest::prelude::*;
use retrace_events::Hash;
use retrace_events::redact::Redactor;
use retrace_events::testing::example_stream;
use std::sync::Arc;

const LAST: u64 = STATE_EVENTS * 2;

/// A log and a folder with two checkpoints of it.
async fn kept() -> (Growing, tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let growing = Growing::of_prompts(LAST + 1).await;
    let keeper = checkpoints(folder.path());
    keeper.load(&growing.log, &growing.stream(0)).await.unwrap();
    keeper.settled().await;
    let files = files_named(folder.path(), "state-");
    assert_eq!(files.len(), 2);
    (growing, folder, files)
}

/// What is loaded is right, whatever is in the folder.
async fn is_right(log: &MemoryLog, folder: &Path, what: &str) {
    let stream = example_stream("grown");
    let last = log.head(&stream).await.unwrap().unwrap().seq;
    let keeper = checkpoints(folder);
    assert_eq!(loaded(&keeper, log, &stream, last).await, folded(log, &stream, last).await, "{what}");
    keeper.settled().await;
    let whole = keeper.load(log, &stream).await.unwrap();
    assert_eq!(bytes(&whole), folded(log, &stream, last).await, "{what}");
    keeper.settled().await;
}

#[tokio::test]
async fn a_torn_or_flipped_file_is_not_used_and_goes() {
    let (growing, folder, files) = kept().await;
    let newest = files.last().unwrap();
    let whole = std::fs::read(newest).unwrap();
    for length in (0..whole.len()).step_by(7) {
        std::fs::write(newest, &whole[..length]).unwrap();
        is_right(&growing.log, folder.path(), &format!("cut to {length}")).await;
        // What was thrown away is made again.
        assert_eq!(std::fs::read(newest).unwrap().len(), whole.len());
    }
    for place in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[place] ^= 1 << (place % 8);
        std::fs::write(newest, flipped).unwrap();
        is_right(&growing.log, folder.path(), &format!("flipped at {place}")).await;
    }
}

#[tokio::test]
async fn another_logs_session_of_the_same_name_is_not_used() {
    let (_, folder, files) = kept().await;
    let mut other = Growing::new();
    for number in 0..=LAST {
        other.add(0, prompt(&format!("something else {number}"))).await;
    }
    is_right(&other.log, folder.path(), "another log").await;
    // The same log's folder, with the other's files in it, both ways of being wrong at once.
    let mixed = tempfile::tempdir().unwrap();
    let keeper = checkpoints(mixed.path());
    keeper.load(&other.log, &other.stream(0)).await.unwrap();
    keeper.settled().await;
    let theirs = files_named(mixed.path(), "state-");
    for (theirs, ours) in theirs.iter().zip(&files) {
        std::fs::copy(theirs, ours).unwrap();
    }
    let (growing, ..) = kept().await;
    is_right(&growing.log, folder.path(), "foreign files").await;
}

#[tokio::test]
async fn a_checkpoint_whose_event_was_replaced_is_not_used() {
    let (growing, folder, _) = kept().await;
    // The same events up to the last checkpoint's, which is another one; and more behind it.
    let mut other = Growing::of_prompts(LAST - 1).await;
    other.add(0, prompt("not what it was")).await;
    other.add(0, prompt("and on")).await;
    is_right(&other.log, folder.path(), "replaced").await;
    is_right(&growing.log, folder.path(), "and back").await;
}

#[tokio::test]
async fn a_checkpoint_beyond_the_logs_end_is_not_used() {
    let (_, folder, files) = kept().await;
    let shorter = Growing::of_prompts(STATE_EVENTS + 2).await;
    is_right(&shorter.log, folder.path(), "shorter").await;
    assert!(!files[1].exists() && files[0].exists());
    is_right(&Growing::of_prompts(2).await.log, folder.path(), "shorter than all").await;
}

#[tokio::test]
async fn damage_at_a_checkpoints_event_is_told_by_the_log() {
    let (growing, folder, _) = kept().await;
    growing.log.flip_byte(&growing.stream(0), LAST - 1);
    let outcome = checkpoints(folder.path()).load(&growing.log, &growing.stream(0)).await;
    assert!(matches!(outcome, Err(retrace_events::LogError::Damaged { seq, .. }) if seq == LAST - 1), "{outcome:?}");
}

#[tokio::test]
async fn a_wrong_state_under_a_right_seal_is_not_used() {
    let (growing, folder, files) = kept().await;
    let event = growing.log.read(&growing.stream(0), LAST - 1, 1).await.unwrap().remove(0);
    let mark = Mark { seq: LAST - 1, hash: event.hash().unwrap() };
    for forged in [Vec::new(), vec![255; 400], bytes(&SessionState::default())] {
        std::fs::write(&files[1], seal(Kind::states().code, mark, &forged).unwrap()).unwrap();
        is_right(&growing.log, folder.path(), "forged").await;
    }
}

#[test]
fn a_seal_is_for_one_code_and_one_event() {
    let code = Kind::states().code;
    let mark = Mark { seq: 4, hash: Hash::of(b"event") };
    let sealed = seal(code, mark, b"state").unwrap();
    assert_eq!(unseal(code, mark, &sealed).unwrap(), b"state");
    assert_eq!(unseal(FoldId([7; FoldId::BYTES]), mark, &sealed), None);
    assert_eq!(unseal(code, Mark { seq: 5, ..mark }, &sealed), None);
    assert_eq!(unseal(code, Mark { hash: Hash::of(b"other"), ..mark }, &sealed), None);
    // A right hash over a length that no state has: nothing of that size is made.
    let mut long = sealed[32..].to_vec();
    long[8 + FoldId::BYTES + 32 + 8..][..8].copy_from_slice(&u64::MAX.to_le_bytes());
    let forged = [blake3::hash(&long).as_bytes().as_slice(), &long].concat();
    assert_eq!(unseal(code, mark, &forged), None);
}

#[test]
fn states_and_pasts_and_redactors_have_codes_of_their_own() {
    let plain = Redactor::new(Vec::new());
    let knowing = Redactor::new(vec!["a-secret-of-mine".to_owned()]);
    let codes = [Kind::states().code, Kind::pasts(&plain).code, Kind::pasts(&knowing).code];
    assert!(codes[0] != codes[1] && codes[1] != codes[2] && codes[0] != codes[2]);
    assert_eq!(Kind::pasts(&plain).code, Kind::pasts(&Redactor::new(Vec::new())).code);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let mark = Mark { seq: 4, hash: Hash::of(b"event") };
        prop_assert_eq!(unseal(Kind::states().code, mark, &bytes), None);
        let redactor = Arc::new(Redactor::new(Vec::new()));
        prop_assert!(Past::from_bytes(&bytes, example_stream("x"), redactor).is_err());
        let _ = codec::decode_derived::<SessionState>("a state", &bytes);
        // What unpacks to anything at all.
        let forged = [&seal(Kind::states().code, mark, b"").unwrap()[32..104], &bytes].concat();
        let forged = [blake3::hash(&forged).as_bytes().as_slice(), &forged].concat();
        let _ = unseal(Kind::states().code, mark, &forged);
    }
}
