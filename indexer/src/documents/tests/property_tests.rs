//! What holds for any session: any split gives the same documents, and names, ordinals and sizes keep their rules.

use super::super::parting::WHOLE_BYTES;
use super::super::unit::MAX_EVENT_DOCUMENTS;
use super::*;
use proptest::prelude::*;
use retrace_events::BlobRef;
use retrace_events::hash::Hash;
use retrace_events::payload::tool::{ToolBackgroundEnded, ToolBackgroundStarted, ToolDenied};
use retrace_events::testing::example_payloads;

/// Short texts, long ones, and odd ones.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z_./ \n]{0,80}",
        2 => ("[a-z]{1,8}( [a-z]{1,8}){0,5}\n", 0_usize..600).prop_map(|(line, count)| line.repeat(count)),
        1 => any::<String>(),
        1 => Just("\0\x1b[31m".to_owned()),
    ]
}

fn call() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["1", "2", "3", "4"]).prop_map(str::to_owned)
}

fn payload() -> impl Strategy<Value = Payload> {
    let input = prop_oneof![
        text().prop_map(|text| serde_json::json!({ "path": text }).to_string()),
        text().prop_map(|text| serde_json::json!({ "command": text }).to_string()),
        text(),
    ];
    let blocks = prop::collection::vec((prop::bool::ANY, text()), 0..4).prop_map(|blocks| {
        let block = |(thinks, text): (bool, String)| match thinks {
            true => serde_json::json!({ "type": "thinking", "thinking": text, "signature": "x" }),
            false => serde_json::json!({ "type": "text", "text": text }),
        };
        serde_json::Value::Array(blocks.into_iter().map(block).collect()).to_string()
    });
    let result = (call(), text(), -1_i32..3, any::<bool>()).prop_map(|(call, text, code, kept)| {
        let output = kept.then(|| BlobRef { hash: Hash::of(text.as_bytes()), size_bytes: text.len() as u64 });
        ToolFinished { output, changed: vec!["src/x.rs".into()], ..finished(&call, Some(code), &text) }.into()
    });
    let ended = |call: String| ToolBackgroundEnded { call: CallId(call), exit: None, output: None, why: "x".into() };
    prop_oneof![
        2 => text().prop_map(|text| prompt(&text)),
        3 => blocks.prop_map(|content| answer(&content)),
        3 => (call(), input).prop_map(|(call, input)| called(&call, "bash", &input)),
        3 => result,
        1 => (call(), text()).prop_map(|(call, content)| ToolDenied { call: CallId(call), by: "r".into(), content }.into()),
        1 => call().prop_map(|call| ToolBackgroundStarted { call: CallId(call), command: "x".into() }.into()),
        1 => call().prop_map(move |call| ended(call).into()),
        1 => prop::sample::select(example_payloads()),
    ]
}

/// What `events` become when the cursor is stored and read back before the events at `stops`.
fn with_stops(events: &[Event], stops: &[usize]) -> Vec<Extracted> {
    let redactor = redactor();
    let mut cursor = SessionCursor::new(&example_stream("s"));
    let mut all = Vec::new();
    for (index, event) in events.iter().enumerate() {
        if stops.contains(&index) {
            let stored = serde_json::to_vec(&cursor).unwrap();
            cursor = serde_json::from_slice(&stored).unwrap();
        }
        all.push(cursor.apply(Position(100 + event.envelope.seq), event, &redactor));
    }
    all
}

/// Everything a cursor has to remember is needed behind some stop: workspace, open calls, and what goes on in the background.
#[test]
fn a_cursor_can_be_stored_at_any_event() {
    let background = |call: &str| ToolBackgroundStarted { call: CallId(call.into()), command: "x".into() }.into();
    let exit = Some(ToolExit { code: Some(1), signal: None, timed_out: false });
    let ended = ToolBackgroundEnded { call: CallId("1".into()), exit, output: None, why: "it ended".into() };
    let events = events(&[
        started("/work/x"),
        prompt("go"),
        called("1", "bash", r#"{"command":"python serve.py","background":true}"#),
        called("2", "read_file", r#"{"path":"/work/x/a.rs"}"#),
        finished("2", None, "fn main").into(),
        finished("1", None, "it runs").into(),
        background("1"),
        answer(r#"[{"type":"text","text":"It runs."}]"#),
        answer(r#"[{"type":"text","text":"It still does."}]"#),
        ended.into(),
        answer(r#"[{"type":"text","text":"No more."}]"#),
        finished("1", None, "of a call that is forgotten").into(),
    ]);
    let whole = with_stops(&events, &[]);
    assert_eq!(whole[9].documents[0].paths, ["serve.py"]);
    assert_eq!(whole[11].documents[0].tool, None);
    for stop in 0..events.len() {
        assert_eq!(with_stops(&events, &[stop]), whole, "stored before event {stop}");
    }
    assert_eq!(with_stops(&events, &(0..events.len()).collect::<Vec<_>>()), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// A cursor that is stored and read back at any event goes on as if nothing had been.
    #[test]
    fn any_split_gives_the_same(payloads in prop::collection::vec(payload(), 0..24), first in 0_usize..24, second in 0_usize..24) {
        let events = events(&payloads);
        prop_assert_eq!(with_stops(&events, &[first, second]), extracted(&events));
    }

    /// Keys are unique and say where a document is from; ordinals have no gaps; steps do not go back; sizes are bounded.
    #[test]
    fn the_rules_of_documents_hold(payloads in prop::collection::vec(payload(), 0..24)) {
        let extracted = extracted(&events(&payloads));
        let mut keys = std::collections::HashSet::new();
        let (mut next_ordinal, mut step) = (0, 0);
        for (seq, extracted) in extracted.iter().enumerate() {
            prop_assert!(extracted.documents.len() <= MAX_EVENT_DOCUMENTS);
            // An output without words of its own has an ordinal, too.
            let bodies = extracted.bodies.iter().map(|body| &body.blank);
            for document in extracted.documents.iter().chain(bodies) {
                prop_assert!(document.ordinal == next_ordinal || document.ordinal + 1 == next_ordinal);
                next_ordinal = document.ordinal + 1;
                prop_assert!(document.step >= step);
                step = document.step;
                prop_assert_eq!(document.seq, seq as u64);
            }
            for (part, document) in extracted.documents.iter().enumerate() {
                prop_assert_eq!(document.part as usize, part);
                let ending = format!("/{seq}.{part}");
                prop_assert!(document.key.ends_with(&ending));
                prop_assert!(keys.insert(document.key.clone()));
                prop_assert!(!document.text.trim().is_empty());
                prop_assert!(document.text.len() <= WHOLE_BYTES);
                prop_assert!(!document.text.contains(['\x1b', '\0']));
            }
        }
    }
}
