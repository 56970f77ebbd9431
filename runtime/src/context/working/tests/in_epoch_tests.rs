//! What an epoch lacks, by the events of a session.

use super::super::missing::MissingRoom;
use super::{Session, lines_of, shown};
use expect_test::expect;
use retrace_events::payload::context::{ContextEpochStarted, ContextPassage, ContextRetrieved, ContextSource};
use retrace_events::payload::{Context, Payload};
use retrace_events::redact::Redactor;
use retrace_events::testing::example_payloads;
use serde_json::json;

const MUCH: MissingRoom = MissingRoom { bytes: 100_000, horizon_bytes: 100_000, place_bytes: 180 };

fn read(session: &mut Session, path: &str, lines: &[String]) {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let result = format!("{}[{} lines]", shown(1, &lines), lines.len());
    session.step("I read.", "read_file", &json!({ "path": path }), &result, None);
}

/// An epoch that keeps what is said from event `from_seq` on.
fn epoch(session: &mut Session, from_seq: u64, seed: Vec<ContextPassage>) {
    let example = example_payloads().into_iter().find_map(|payload| match payload {
        Payload::Context(Context::EpochStarted(start)) => Some(start),
        _ => None,
    });
    session.add(&ContextEpochStarted { from_seq, seed, ..example.unwrap() }.into());
}

fn next(session: &Session) -> u64 {
    session.events.last().unwrap().envelope.seq + 1
}

fn lacking(session: &Session, secrets: &[&str]) -> Vec<ContextPassage> {
    let secrets = secrets.iter().map(|secret| (*secret).to_owned()).collect();
    session.set().lacking(MUCH, &Redactor::new(secrets))
}

fn retrieved(session: &mut Session, passages: Vec<ContextPassage>) {
    session.add(&ContextRetrieved { query: "q".to_owned(), passages, index_position: 0 }.into());
}

fn session() -> Session {
    let mut session = Session::new();
    session.prompt("make alpha faster");
    read(&mut session, "src/alpha.rs", &lines_of("alpha", 4));
    session.step(
        "I test.",
        "bash",
        &json!({ "command": "cargo test" }),
        "exit code: 101\nerror in the zebra module",
        Some(101),
    );
    session
}

#[test]
fn an_epoch_that_holds_everything_lacks_nothing() {
    let mut session = session();
    epoch(&mut session, 0, Vec::new());
    assert_eq!(lacking(&session, &[]), []);
}

#[test]
fn what_was_left_behind_is_lacking_until_it_is_there() {
    let mut session = session();
    let from = next(&session);
    epoch(&mut session, from, Vec::new());
    read(&mut session, "src/beta.rs", &lines_of("beta", 3));
    let passages = lacking(&session, &[]);
    let shown: String = passages.iter().map(|it| format!("== {:?}\n{}", it.source, it.text)).collect();
    expect![[r#"
        == File { path: "src/alpha.rs", first_line: 1, last_line: 4 }
        1	let alpha_1 = compute_alpha(1);
        2	let alpha_2 = compute_alpha(2);
        3	let alpha_3 = compute_alpha(3);
        4	let alpha_4 = compute_alpha(4);
        == Notes("from event 7")
        exit code: 101
        error in the zebra module
    "#]]
    .assert_eq(&shown);
    assert!(passages.iter().all(|passage| passage.tokens > 0));
    // Nothing twice.
    retrieved(&mut session, passages);
    assert_eq!(lacking(&session, &[]), []);
    // In the next epoch it is gone again, but for the seed.
    let from = next(&session);
    let lines = lines_of("alpha", 4);
    let text = shown_of(&lines);
    let source = ContextSource::File { path: "src/alpha.rs".to_owned(), first_line: 1, last_line: 4 };
    epoch(&mut session, from, vec![ContextPassage { text, source, tokens: 9, score_milli: 0 }]);
    let paths: Vec<ContextSource> = lacking(&session, &[]).into_iter().map(|passage| passage.source).collect();
    assert!(paths.contains(&ContextSource::File { path: "src/beta.rs".to_owned(), first_line: 1, last_line: 3 }));
    assert!(!paths.iter().any(|path| format!("{path:?}").contains("alpha")), "{paths:?}");
}

fn shown_of(lines: &[String]) -> String {
    shown(1, &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn steps_that_are_kept_are_not_lacking() {
    let mut session = session();
    let from = next(&session);
    read(&mut session, "src/beta.rs", &lines_of("beta", 30));
    let input = json!({ "path": "src/gamma.rs", "content": "fn gamma() {\n    one();\n    two();\n}\n" });
    session.step("I write.", "write_file", &input, "wrote src/gamma.rs", None);
    let edit = json!({ "path": "src/beta.rs", "old_string": "let beta_7 = compute_beta(7);", "new_string": "let seven = 7;\nlet more = 8;\nlet last = 9;" });
    session.step("I edit.", "edit_file", &edit, "edited src/beta.rs", None);
    epoch(&mut session, from, Vec::new());
    let found = lacking(&session, &[]);
    let of = |name: &str| -> String {
        found.iter().filter(|it| format!("{:?}", it.source).contains(name)).map(|it| it.text.as_str()).collect()
    };
    assert_eq!(of("gamma"), "");
    // The change stands in its call; where it meets what was there before, nobody has seen the lines together.
    assert_eq!(of("beta"), "6\tlet beta_6 = compute_beta(6);\n7\tlet seven = 7;\n");
    assert!(of("alpha").starts_with("1\tlet alpha_1"), "{found:?}");
}

#[test]
fn what_is_redacted_does_not_come_again_and_again() {
    let mut session = session();
    let input =
        json!({ "path": "src/key.rs", "content": "fn key() {\n    let k = \"hunter2-hunter2\";\n    use_it(k);\n}\n" });
    session.step("I write.", "write_file", &input, "wrote src/key.rs", None);
    let from = next(&session);
    epoch(&mut session, from, Vec::new());
    let passages = lacking(&session, &["hunter2-hunter2"]);
    let text: String = passages.iter().map(|passage| passage.text.as_str()).collect();
    assert!(text.contains("use_it(k)") && !text.contains("hunter2"), "{text}");
    retrieved(&mut session, passages);
    assert_eq!(lacking(&session, &["hunter2-hunter2"]), []);
}
