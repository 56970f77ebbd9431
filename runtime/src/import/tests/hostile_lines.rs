//! Whatever a transcript says, what comes of it is a session that folds, and goes on.

use super::*;
use proptest::prelude::*;
use retrace_events::Writer;
use retrace_events::fold::{CallProgress, Stage};
use retrace_events::mint::SeededMint;

/// Lines of all kinds, with few names, so that they meet.
fn any_line() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]);
    let id = prop::sample::select(vec!["t1", "t2", "t3"]);
    let message = prop::sample::select(vec!["m1", "m2", "m3", ""]);
    let text = prop::sample::select(vec![
        "words",
        "",
        "[Request interrupted by user]",
        "<command-name>/x</command-name>",
        "<local-command-stdout>y</local-command-stdout>",
        "<bash-input>z</bash-input>",
        "<task-notification>n",
    ]);
    let tool = prop::sample::select(vec!["Bash", "Read", "Edit", ""]);
    let stop = prop::sample::select(vec![
        "null",
        r#""end_turn""#,
        r#""tool_use""#,
        r#""max_tokens""#,
        r#""pause_turn""#,
        r#""refusal""#,
        "7",
    ]);
    let shape = (0..14_u8, any::<bool>(), any::<bool>());
    (name, id, message, text, tool, stop, shape).prop_map(|(name, id, message, text, tool, stop, (shape, flag, other))| {
        let text_block = format!(r#"{{"type":"text","text":"{text}"}}"#);
        let use_block = call(id, tool, if other { r#"{"a":1}"# } else { "[]" });
        let blocks = match shape {
            0..3 => text_block.clone(),
            3..7 => use_block,
            7 => format!("{text_block},{}", call("t9", "Bash", "{}")),
            _ => format!(r#"{{"type":"thinking","thinking":"{text}","signature":"c2ln"}}"#),
        };
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"{id}","is_error":{flag},"content":"{text}"}}"#);
        match shape {
            0..8 => line(name, "assistant", &format!(r#""isApiErrorMessage":{},"message":{{"id":"{message}","model":"claude-x","stop_reason":{stop},"content":[{blocks}]}}"#, flag && other && shape == 0)),
            8..10 => user(name, &format!("[{result}]")),
            10 => user(name, &format!("[{result},{text_block}]")),
            11 => line(name, "user", &format!(r#""isMeta":{flag},"isCompactSummary":{},"message":{{"content":"{text}"}}"#, other && flag)),
            12 => user(name, &format!(r#""{text}""#)),
            _ => line(name, "system", &format!(r#""subtype":"{}""#, if flag { "turn_duration" } else { "api_error" })),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lines_give_a_session_that_folds(lines in prop::collection::vec(any_line(), 0..40), cut in any::<prop::sample::Index>()) {
        let all = convert(lines.iter().map(String::as_str), true);
        // Names are unique, and a beginning of the lines gives a beginning of the events.
        let names: Vec<&String> = all.iter().map(|draft| &draft.name).collect();
        let unique: std::collections::HashSet<&&String> = names.iter().collect();
        prop_assert_eq!(unique.len(), names.len());
        let part = convert(lines[..cut.index(lines.len() + 1)].iter().map(String::as_str), false);
        prop_assert!(all.starts_with(&part));

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let state = runtime.block_on(folded(&all));
        for call in &state.calls {
            prop_assert!(call.progress != CallProgress::Asked, "a call without its event: {call:?}");
        }
        if let Some(turn) = &state.turn {
            prop_assert!(!matches!(turn.stage, Stage::Waiting { .. }), "no request of ours");
            let open = state.calls.iter().any(|call| call.progress != CallProgress::Done);
            prop_assert_eq!(open, matches!(turn.stage, Stage::Calls), "{:?}", turn.stage);
        } else {
            prop_assert!(state.calls.is_empty(), "{:?}", state.calls);
        }
        conversation_is_whole(&state);
    }

    #[test]
    fn any_text_is_read_without_a_panic(line in "\\PC{0,200}", json in any_json()) {
        for text in [line, json.to_string()] {
            if let Some(record) = Record::of(&text) {
                let mut converter = converter();
                converter.line("x", &record);
                converter.finish(true);
                for draft in converter.take() {
                    prop_assert!(draft.payload.encode().is_ok());
                }
            }
        }
    }
}

/// Objects with the fields of a line and anything in them.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        prop::sample::select(vec![
            "user",
            "assistant",
            "system",
            "progress",
            "tool_use",
            "tool_result",
            "image",
            "text",
            "x"
        ])
        .prop_map(Into::into),
    ];
    let field = prop::sample::select(vec![
        "type",
        "message",
        "content",
        "uuid",
        "subtype",
        "data",
        "attachment",
        "prompt",
        "id",
        "name",
        "input",
        "source",
        "text",
        "tool_use_id",
        "isMeta",
        "isCompactSummary",
        "isApiErrorMessage",
        "toolUseResult",
        "usage",
        "stop_reason",
        "error",
        "retryInMs",
    ]);
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::btree_map(field.clone().prop_map(str::to_owned), inner, 0..9)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

async fn folded(drafts: &[Draft]) -> SessionState {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let mint = Arc::new(SeededMint::new(1));
    let mut writer = Writer::create(Arc::clone(&log), mint, stream("x"), retrace_events::Hash::GENESIS);
    for chunk in std::iter::once(converter().take()).chain(drafts.chunks(100).map(<[Draft]>::to_vec)) {
        writer.append(chunk.into_iter().map(|draft| (draft.payload, None)).collect()).await.unwrap();
    }
    fold::load(log.as_ref(), &stream("x")).await.unwrap()
}

/// Every call has its result directly behind its answer, as the API demands, unless it is still open.
fn conversation_is_whole(state: &SessionState) {
    use retrace_events::fold::TranscriptItem;
    let mut open: Vec<String> = Vec::new();
    for item in state.transcript.items() {
        match item {
            TranscriptItem::Result { call, .. } => {
                let place = open.iter().position(|id| *id == call.0).expect("a result without a call");
                open.remove(place);
            }
            TranscriptItem::Answer { calls, .. } => {
                assert!(open.is_empty(), "{open:?}");
                open = calls.iter().map(|call| call.0.clone()).collect();
            }
            _ => assert!(open.is_empty(), "something stands between calls and results: {item:?}"),
        }
    }
    assert_eq!(open.len(), state.calls.iter().filter(|call| call.progress != CallProgress::Done).count());
}
