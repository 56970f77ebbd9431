//! Tests of what is kept of a session.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bounds_tests;

use super::passages::{Room, cut};
use super::*;
use proptest::prelude::*;
use retrace_events::log::MemoryLog;
use retrace_events::mint::SeededMint;
use retrace_events::payload::Context;
use retrace_events::payload::context::{ContextEpochStarted, ContextSource};
use retrace_events::payload::session::{PlanStatus, SessionPlanned};
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnEnded, TurnOutcome, TurnPrompted, Usage};
use retrace_events::testing::{example_payloads, example_stream};
use retrace_events::{CallId, EventId, Hash, Writer};

/// A log with a session that grows by prompts, steps and plans.
struct Growing {
    log: MemoryLog,
    writer: Writer,
    calls: usize,
}

impl Growing {
    fn new() -> Self {
        let log = MemoryLog::new();
        let writer =
            Writer::create(Arc::new(log.clone()), Arc::new(SeededMint::new(7)), example_stream("past"), Hash::GENESIS);
        Self { log, writer, calls: 0 }
    }

    async fn add(&mut self, payload: impl Into<Payload>) -> Event {
        self.writer.append(vec![(payload.into(), None)]).await.unwrap().remove(0)
    }

    async fn prompt(&mut self, text: &str) -> Event {
        self.add(TurnPrompted { text: text.to_owned(), source: PromptSource::Local, attachments: Vec::new() }).await
    }

    async fn step(&mut self, command: &str, output: &str) {
        self.calls += 1;
        let call = CallId(format!("call-{}", self.calls));
        let input = serde_json::json!({ "command": command }).to_string();
        let request = EventId(uuid::Uuid::nil());
        let content = format!(r#"[{{"type":"tool_use","id":"{call}","name":"bash","input":{input}}}]"#);
        self.add(TurnAnswered {
            request,
            content,
            model: "m".to_owned(),
            stop_reason: "tool_use".to_owned(),
            stop_details: None,
            usage: Usage::default(),
            cost_microusd: 0,
            request_id: None,
            duration_ms: 1,
        })
        .await;
        let effect = ToolEffect::Writes;
        self.add(ToolCalled { call: call.clone(), tool: "bash".to_owned(), input, request, effect }).await;
        self.add(ToolFinished {
            call,
            is_error: false,
            content: output.to_owned(),
            exit: None,
            output: None,
            changed: Vec::new(),
            duration_ms: 1,
        })
        .await;
    }

    async fn end(&mut self) {
        self.add(TurnEnded { outcome: TurnOutcome::Completed, note: "done".to_owned() }).await;
    }

    /// A fresh epoch that begins with what is said next.
    async fn rotate(&mut self) {
        let example = example_payloads().into_iter().find_map(|payload| match payload {
            Payload::Context(Context::EpochStarted(start)) => Some(start),
            _ => None,
        });
        let from_seq = self.writer.next_seq();
        self.add(ContextEpochStarted { from_seq, seed: Vec::new(), ..example.unwrap() }).await;
    }

    async fn past(&self) -> Past {
        let mut past = Past::new(example_stream("past"), Arc::new(Redactor::new(Vec::new())));
        past.catch_up(&self.log).await.unwrap();
        past
    }
}

fn tokens(passages: &[ContextPassage]) -> u64 {
    passages.iter().map(|passage| u64::from(passage.tokens)).sum()
}

fn prompts(passages: &[ContextPassage]) -> Vec<&str> {
    let of_user = passages.iter().filter(|passage| matches!(passage.source, ContextSource::Prompt(_)));
    of_user.map(|passage| passage.text.as_str()).collect()
}

#[tokio::test]
async fn a_seed_says_what_was_asked_what_was_done_and_what_is_open() {
    let mut session = Growing::new();
    session.prompt("make the parser quick").await;
    session.step("cargo bench --bench parse", "312 ns").await;
    let text = "inline the scanner".to_owned();
    let items = vec![
        PlanItem { text: "measure it".to_owned(), status: PlanStatus::Done },
        PlanItem { text, status: PlanStatus::InProgress },
    ];
    session.add(SessionPlanned { call: CallId("call-1".to_owned()), items }).await;
    session.end().await;
    session.prompt("and the lexer too").await;
    session.step("cargo test", "ok").await;
    let seed = session.past().await.seed(u64::MAX, 4_000);
    assert_eq!(prompts(&seed), ["make the parser quick", "and the lexer too"]);
    let summaries: Vec<&ContextPassage> =
        seed.iter().filter(|passage| matches!(passage.source, ContextSource::Summary(_))).collect();
    assert!(summaries.iter().any(|passage| passage.text.contains("cargo bench --bench parse")), "{summaries:?}");
    let plan = seed.iter().find(|passage| passage.source == ContextSource::Notes("plan".to_owned())).unwrap();
    assert_eq!(plan.text, "[x] measure it\n[~] inline the scanner\n");
}

#[tokio::test]
async fn what_the_epoch_keeps_word_for_word_is_not_told_twice() {
    let mut session = Growing::new();
    session.prompt("the first").await;
    session.step("old-command", "old").await;
    session.end().await;
    let kept = session.prompt("the second").await;
    session.step("new-command", "new").await;
    let seed = session.past().await.seed(kept.envelope.seq, 4_000);
    assert_eq!(prompts(&seed), ["the first"]);
    let all: String = seed.iter().map(|passage| passage.text.as_str()).collect();
    assert!(all.contains("old-command") && !all.contains("new-command"), "{all}");
}

#[tokio::test]
async fn with_little_room_the_first_prompt_and_the_newest_stay() {
    let mut session = Growing::new();
    for number in 0..40 {
        session.prompt(&format!("prompt {number} {}", "word ".repeat(60))).await;
        session.end().await;
    }
    let seed = session.past().await.seed(u64::MAX, 2_000);
    let found = prompts(&seed);
    assert!(found.len() >= 3, "{found:?}");
    assert!(found[0].starts_with("prompt 0 "), "{found:?}");
    assert!(found.last().unwrap().starts_with("prompt 39 "), "{found:?}");
}

#[tokio::test]
async fn a_long_prompt_leaves_room_for_others_and_says_what_is_missing() {
    let mut session = Growing::new();
    session.prompt(&format!("begins {} ends", "x".repeat(100_000))).await;
    session.end().await;
    session.prompt("short").await;
    let seed = session.past().await.seed(u64::MAX, 2_000);
    let found = prompts(&seed);
    assert!(found[0].starts_with("begins") && found[0].ends_with("ends") && found[0].contains("bytes left out"));
    assert_eq!(found[1], "short");
    assert!(tokens(&seed) <= 2_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a session holds, a seed keeps to its budget, and reading the log in pieces comes to the same.
    #[test]
    fn a_seed_keeps_to_its_budget(
        steps in prop::collection::vec((0_u8..3, "[a-zé ]{0,400}"), 1..40),
        budget in 0_u64..6_000,
        kept in 0_u64..120,
        paused_at in 0_usize..40,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut session = Growing::new();
            let mut in_pieces = Past::new(example_stream("past"), Arc::new(Redactor::new(Vec::new())));
            for (place, (kind, text)) in steps.iter().enumerate() {
                match kind {
                    0 => drop(session.prompt(&format!("p {text}")).await),
                    1 => session.step(&format!("echo {text}"), text).await,
                    _ => session.end().await,
                }
                if place == paused_at {
                    in_pieces.catch_up(&session.log).await.unwrap();
                }
            }
            in_pieces.catch_up(&session.log).await.unwrap();
            let seed = session.past().await.seed(kept, budget);
            assert!(tokens(&seed) <= budget, "{} of {budget}", tokens(&seed));
            assert_eq!(in_pieces.seed(kept, budget), seed);
        });
    }

    #[test]
    fn a_cut_text_has_its_ends_and_its_size(text in "[a-zé\n]{0,300}", bytes in 0_usize..400) {
        let short = cut(&text, bytes);
        if text.len() <= bytes {
            prop_assert_eq!(short, text);
        } else {
            prop_assert!(short.contains("bytes left out"));
            // Small limits have room for nothing but the note.
            prop_assert!(short.len() <= bytes.max(40) + 8, "{} of {}", short.len(), bytes);
        }
    }

    /// Shares of a room never add up to more than the room.
    #[test]
    fn shares_are_within_the_whole(whole in 0_u64..5_000, asks in prop::collection::vec((0_u64..150, 0_usize..3_000), 0..20)) {
        let mut room = Room::new(whole);
        let mut taken = 0;
        for (percent, bytes) in asks {
            let mut share = room.share(percent);
            let asked = ContextPassage::new("x".repeat(bytes), ContextSource::Notes("n".to_owned()), 0);
            taken += share.take(asked).map_or(0, |passage| u64::from(passage.tokens));
        }
        prop_assert!(taken <= whole);
    }
}
