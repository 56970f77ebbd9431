//! Secrets, and sessions made to break their reader: nothing gets out, nothing grows.

use super::super::unit::MAX_EVENT_DOCUMENTS;
use super::*;
use retrace_events::payload::session::SessionControlHandled;
use retrace_events::payload::turn::TurnInterrupted;

/// Made up, in parts, so that no scanner takes this file for a leak.
fn secrets() -> [String; 3] {
    [
        "correct-horse-battery".to_owned(),
        format!("sk-ant-{}", "api03-Zk3jd9Xq21mmLpQ8vv_0aB-cD"),
        format!("ghp_{}", "Zk3jd9Xq21mmLpQ8vv0aBcD7eF5gH6iJ7kL8"),
    ]
}

fn assert_clean(documents: &[Document], secret: &str) {
    assert!(!documents.is_empty());
    let all = serde_json::to_string(documents).unwrap();
    assert!(!all.contains(secret), "{secret} in {all}");
    assert!(all.contains("[redacted:"), "{all}");
}

#[test]
fn a_secret_in_an_answer_gets_into_no_document() {
    for secret in secrets() {
        for block in ["text", "thinking"] {
            let content = serde_json::json!([{ "type": block, block: format!("the key is {secret}, use it") }]);
            assert_clean(&documents(&[answer(&content.to_string())]), &secret);
        }
    }
}

#[test]
fn a_secret_in_an_input_gets_into_no_document() {
    for secret in secrets() {
        let command = serde_json::json!({ "command": format!("curl -H 'x-api-key: {secret}' | tee '{secret}.txt'") });
        assert_clean(&documents(&[called("1", "bash", &command.to_string())]), &secret);
        let path = serde_json::json!({ "path": format!("src/{secret}.rs"), "content": "x" });
        let with_result = [called("1", "write_file", &path.to_string()), finished("1", None, "written").into()];
        assert_clean(&documents(&with_result), &secret);
        assert_clean(&documents(&[called("1", "bash", &format!("no json: {secret}"))]), &secret);
    }
}

#[test]
fn a_secret_that_only_its_name_gives_away_is_known_by_it() {
    let nested = r#"{"env":{"API_KEY":"abcd1234efgh"},"body":"password = \"hunter2hunter2\""}"#;
    let documents = documents(&[called("1", "mcp__x__deploy", nested)]);
    for secret in ["abcd1234efgh", "hunter2hunter2"] {
        assert_clean(&documents, secret);
    }
}

#[test]
fn a_secret_where_a_text_is_parted_is_still_whole_when_it_is_looked_for() {
    let secret = &secrets()[2];
    // Around the end of a first piece, and around the middle of a text of which only head and tail are looked at.
    for (before, behind) in (4_030..4_110).step_by(5).map(|before| (before, 9_000)).chain([(262_130, 600_000)]) {
        let text = format!("{} {secret} {}", "x ".repeat(before / 2), "y ".repeat(behind / 2));
        let content = serde_json::json!([{ "type": "text", "text": text }]);
        let documents = documents(&[answer(&content.to_string())]);
        assert!(documents.iter().all(|document| !document.text.contains("Zk3jd9") && !document.text.contains("ghp_")));
    }
}

#[test]
fn secrets_in_notes_go_too() {
    let secret = &secrets()[0];
    let handled = SessionControlHandled {
        event: EventId(uuid::Uuid::nil()),
        seq: 0,
        accepted: true,
        note: format!("tagged `{secret}`"),
    };
    let interrupted = TurnInterrupted { by: secret.clone(), during: "x".into() };
    assert_clean(&documents(&[handled.into(), interrupted.into()]), secret);
}

#[test]
fn what_is_no_content_is_no_answer() {
    let odd = [
        "",
        "null",
        "{}",
        "[1,null,\"x\",[],{}]",
        r#"[{"type":"text"}]"#,
        r#"[{"type":"text","text":7}]"#,
        r#"[{"type":7,"text":"x"}]"#,
        r#"[{"type":"text","text":"cut off"#,
        r#"[{"type":"redacted_thinking","data":"AAAA"}]"#,
    ];
    for content in odd {
        assert!(documents(&[answer(content)]).is_empty(), "{content}");
    }
    let partly = r#"[{"type":"text","text":7},{"type":"new_block","text":"x"},{"type":"text","text":"kept"}]"#;
    assert_eq!(picture(&documents(&[answer(partly)])), "0.0 o0 s1 answer \"kept\"\n");
    let deep = format!(r#"[{{"type":"text","text":"kept","more":{}{}}}]"#, "[".repeat(100_000), "]".repeat(100_000));
    let found = documents(&[answer(&deep)]);
    assert!(found.len() <= 1);
}

#[test]
fn a_huge_text_becomes_a_bounded_number_of_documents() {
    let text = "a line of words that goes on and on\n".repeat(300_000);
    let extracted = extracted(&events(&[prompt(&text)]));
    let size: usize = extracted[0].documents.iter().map(|document| document.text.len()).sum();
    assert!((400_000..=600_000).contains(&size), "{size}");
    assert!(extracted[0].left_out.bytes > 10_000_000);
    let last = &extracted[0].documents.last().unwrap().text;
    assert!(last.ends_with("on and on"), "the end of the text is there");
    let blocks = vec![serde_json::json!({ "type": "text", "text": "words ".repeat(5_000) }); 900];
    let many = super::extracted(&events(&[answer(&serde_json::Value::Array(blocks).to_string())]));
    assert_eq!(many[0].documents.len(), MAX_EVENT_DOCUMENTS);
    assert!(many[0].left_out.bytes > 10_000_000);
}

#[test]
fn a_cursor_stays_small_whatever_comes() {
    let mut maker = EventMaker::new(example_stream("s"), 1);
    let mut cursor = SessionCursor::new(&example_stream("s"));
    let redactor = redactor();
    let long = "long/".repeat(90);
    let mut largest = 0;
    let mut apply = |payload: &Payload| {
        let event = Event::decode(maker.payload(payload, None)).unwrap();
        cursor.apply(Position(1), &event, &redactor);
        largest = largest.max(serde_json::to_vec(&cursor).unwrap().len());
    };
    apply(&started(&"/w".repeat(100_000)));
    for n in 0..400 {
        let paths: Vec<String> = (0..40).map(|k| format!("{long}{n}_{k}.rs")).collect();
        let input = serde_json::json!({ "paths": paths }).to_string();
        apply(&called(&format!("{n}{}", "i".repeat(10_000)), &"t".repeat(10_000), &input));
    }
    assert!(largest < 100_000, "{largest}");
    // Without what is open next to nothing is left.
    let mut maker = EventMaker::new(example_stream("s"), 1);
    let mut cursor = SessionCursor::new(&example_stream("s"));
    for n in 0..100 {
        let call = n.to_string();
        for payload in [called(&call, "bash", "{}"), finished(&call, Some(0), "x").into(), answer("[]")] {
            cursor.apply(Position(1), &Event::decode(maker.payload(&payload, None)).unwrap(), &redactor);
        }
    }
    let size = serde_json::to_vec(&cursor).unwrap().len();
    assert!(size < 300, "{size}");
}

#[test]
fn names_from_a_model_are_bounded() {
    let found = documents(&[called("1", &"tööl".repeat(1_000), "{}")]);
    assert!(found[0].tool.as_ref().unwrap().len() <= 128);
    assert!(found[0].text.len() <= 130);
}
