//! What an epoch has, and which folders are still to be looked into.

use super::*;
use crate::context::known_instructions;
use proptest::prelude::*;
use retrace_events::log::MemoryLog;
use retrace_events::mint::SeededMint;
use retrace_events::payload::context::{ContextEpochStarted, ContextRetrieved};
use retrace_events::{Class, Hash, Payload, SessionState, StreamId, Token, Writer};
use std::sync::Arc;

fn instructions(path: &str, text: &str) -> ContextPassage {
    ContextPassage { text: text.into(), source: ContextSource::Instructions(path.into()), tokens: 1, score_milli: 1 }
}

fn epoch(seed: Vec<ContextPassage>, from_seq: u64) -> Payload {
    ContextEpochStarted {
        number: 1,
        renderer: 2,
        model: "m".into(),
        model_row: "{}".into(),
        system: "[]".into(),
        tools: "[]".into(),
        max_tokens: 10,
        thinking: None,
        output_config: None,
        seed,
        from_seq,
        why: String::new(),
        compacted: None,
    }
    .into()
}

fn retrieved(passages: Vec<ContextPassage>) -> Payload {
    ContextRetrieved { query: "q".into(), passages, index_position: 0 }.into()
}

/// What is known after `payloads`, in the workspace `/work`.
async fn known(payloads: Vec<Payload>) -> KnownInstructions {
    let stream =
        StreamId { tenant: Token::slug("l"), project: Token::slug("p"), class: Class::Session, id: Token::slug("s") };
    let mut writer = Writer::create(Arc::new(MemoryLog::new()), Arc::new(SeededMint::new(1)), stream, Hash::GENESIS);
    let mut state = SessionState { workspace: "/work".into(), ..SessionState::default() };
    for payload in payloads {
        for event in writer.append(vec![(payload, None)]).await.unwrap() {
            state.apply(&event);
        }
    }
    known_instructions(&state)
}

fn unknown(known: &KnownInstructions, touched: &[&str]) -> Vec<String> {
    known.unknown_folders(&touched.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>())
}

#[tokio::test]
async fn seed_and_tail_are_known_until_another_epoch_begins_without_them() {
    let file = ContextPassage {
        source: ContextSource::File { path: "b/AGENTS.md".into(), first_line: 1, last_line: 1 },
        ..instructions("x", "12345678")
    };
    let payloads = vec![
        epoch(vec![instructions("/u/AGENTS.md", "1234"), instructions("AGENTS.md", "12")], 0),
        retrieved(vec![instructions("a/AGENTS.md", "1"), file]),
    ];
    let first = known(payloads.clone()).await;
    assert_eq!(first.bytes(), 7);
    assert_eq!(unknown(&first, &["a/x", "a/b/x", "b/x"]), ["a/b", "b"], "a file of that name that was found is none");
    let kept = known([payloads.clone(), vec![epoch(Vec::new(), 0)]].concat()).await;
    assert_eq!((kept.bytes(), unknown(&kept, &["a/x"])), (1, vec![]), "the conversation is kept, and what is in it");
    let cut = known([payloads, vec![epoch(Vec::new(), 2)]].concat()).await;
    assert_eq!((cut.bytes(), unknown(&cut, &["a/x"])), (0, vec!["a".to_owned()]));
}

#[tokio::test]
async fn one_file_of_a_folder_says_that_the_folder_was_looked_into() {
    let known = known(vec![epoch(vec![instructions("a/CLAUDE.md", "x")], 0)]).await;
    assert_eq!(unknown(&known, &["a/x"]), [""; 0]);
}

#[tokio::test]
async fn room_that_is_used_up_stays_used_up() {
    let bench = Bench::new().await;
    bench.put("a/AGENTS.md", "one more rule\n");
    let full = known(vec![epoch(vec![instructions("AGENTS.md", &"x".repeat(65_530))], 0)]).await;
    let found = bench.nested(&["a/x"], &full).await;
    assert_eq!(found.notices, ["a/AGENTS.md is 14 bytes; the first 6 are used"]);
    let over = known(vec![epoch(vec![instructions("AGENTS.md", &"x".repeat(70_000))], 0)]).await;
    let found = bench.nested(&["a/x"], &over).await;
    assert_eq!(found.notices, ["a/AGENTS.md has no room beside the other instruction files; it is not used"]);
}

#[tokio::test]
async fn absolute_paths_in_the_workspace_are_taken_and_others_are_not() {
    let known = known(vec![]).await;
    assert_eq!(unknown(&known, &["/work/a/x", "/work/x", "/workers/b/x", "/etc/c/x", "/work", "/"]), ["a"]);
}

#[tokio::test]
async fn folders_of_other_people_and_endless_ones_are_left_out() {
    let known = known(vec![]).await;
    let deep = format!("{}x", "d/".repeat(40));
    let touched = ["node_modules/pkg/x", "a/.git/hooks/x", "venv/lib/site-packages/p/x", ".venv/x", &deep];
    assert_eq!(unknown(&known, &touched), [""; 0]);
    let many: Vec<String> = (0..1_000).map(|number| format!("f{number:04}/x")).collect();
    assert_eq!(known.unknown_folders(&many).len(), 64);
}

proptest! {
    /// Every folder above a path is there once, after the folders it lies in.
    #[test]
    fn root_to_leaf(touched in prop::collection::vec("[a-c](/[a-c]){0,5}", 0..8)) {
        let folders = KnownInstructions::default().unknown_folders(&touched);
        for path in &touched {
            let mut at = path.as_str();
            while let Some((folder, _)) = at.rsplit_once('/') {
                prop_assert_eq!(folders.iter().filter(|known| *known == folder).count(), 1);
                at = folder;
            }
        }
        for (place, folder) in folders.iter().enumerate() {
            if let Some((above, _)) = folder.rsplit_once('/') {
                prop_assert!(folders[..place].iter().any(|before| before == above));
            }
        }
    }
}
