//! The seed of a fresh epoch.

use super::super::working_set::WorkingSet;
use super::{Session, lines_of, shown};
use expect_test::expect;
use proptest::prelude::*;
use retrace_events::payload::context::{ContextPassage, ContextSource};
use serde_json::json;

fn read(session: &mut Session, path: &str, from: usize, lines: &[String]) {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let end = if from == 1 { format!("[{} lines]", lines.len()) } else { "[lines]".to_owned() };
    let input = if from == 1 { json!({ "path": path }) } else { json!({ "path": path, "offset": from }) };
    session.step("I read.", "read_file", &input, &format!("{}{end}", shown(from, &lines)), None);
}

fn session() -> Session {
    let mut session = Session::new();
    session.prompt("make alpha faster");
    read(&mut session, "src/alpha.rs", 1, &lines_of("alpha", 12));
    read(&mut session, "src/alpha.rs", 40, &lines_of("more", 3));
    session.step(
        "I test.",
        "bash",
        &json!({ "command": "cargo test" }),
        "exit code: 101\nerror in the zebra module\n",
        Some(101),
    );
    read(&mut session, "src/beta.rs", 1, &["fn beta() {}".to_owned()]);
    let edit = json!({ "path": "src/beta.rs", "old_string": "beta()", "new_string": "zeta()" });
    session.step("I edit.", "edit_file", &edit, "edited src/beta.rs", None);
    session.step("I test again.", "bash", &json!({ "command": "cargo test" }), "exit code: 0\nall is well", Some(0));
    session.step("I look.", "bash", &json!({ "command": "git status" }), "exit code: 0\nclean", Some(0));
    session
}

fn all(passages: &[ContextPassage]) -> String {
    let name = |source: &ContextSource| match source {
        ContextSource::File { path, first_line, last_line } => format!("{path} {first_line}-{last_line}"),
        ContextSource::Notes(name) => name.clone(),
        other => format!("{other:?}"),
    };
    passages.iter().map(|passage| format!("== {}\n{}", name(&passage.source), passage.text)).collect()
}

fn cost(passages: &[ContextPassage]) -> u64 {
    passages.iter().map(|passage| u64::from(passage.tokens) + 40).sum()
}

#[test]
fn a_seed_says_what_was_done_and_shows_the_files() {
    let session = session();
    let next = session.events.last().unwrap().envelope.seq + 1;
    let passages = session.set().passages(4_000, next);
    expect![[r#"
        == files
        src/beta.rs: changed
        src/alpha.rs: read
        == commands
        $ cargo test  [exit 0]
        $ git status  [exit 0]
        == outputs
        exit code: 101
        error in the zebra module

        …
        exit code: 0
        all is well
        == src/alpha.rs 1-42
        1	let alpha_1 = compute_alpha(1);
        2	let alpha_2 = compute_alpha(2);
        3	let alpha_3 = compute_alpha(3);
        4	let alpha_4 = compute_alpha(4);
        5	let alpha_5 = compute_alpha(5);
        6	let alpha_6 = compute_alpha(6);
        7	let alpha_7 = compute_alpha(7);
        8	let alpha_8 = compute_alpha(8);
        9	let alpha_9 = compute_alpha(9);
        10	let alpha_10 = compute_alpha(10);
        11	let alpha_11 = compute_alpha(11);
        12	let alpha_12 = compute_alpha(12);
        …
        40	let more_1 = compute_more(1);
        41	let more_2 = compute_more(2);
        42	let more_3 = compute_more(3);
        == src/beta.rs 1-1
        1	fn zeta() {}
    "#]]
    .assert_eq(&all(&passages));
}

#[test]
fn what_is_kept_word_for_word_is_not_repeated() {
    let session = session();
    let set = session.set();
    // From the reading of `beta.rs` on.
    let kept =
        session.events.iter().rposition(|event| format!("{:?}", event.payload).contains("src/beta.rs\\\"}")).unwrap();
    let text = all(&set.passages(4_000, session.events[kept].envelope.seq - 1));
    assert!(text.contains("== src/alpha.rs") && text.contains("zebra module"), "{text}");
    assert!(
        !text.contains("== src/beta.rs") && !text.contains("all is well") && !text.contains("git status"),
        "{text}"
    );
    assert!(text.contains("src/beta.rs: changed"), "{text}");
    // With everything kept there is nothing to show.
    assert!(!all(&set.passages(4_000, 0)).contains("compute_alpha"));
}

#[test]
fn with_little_room_the_best_is_shown() {
    let mut session = session();
    session.step("Next I change alpha_11.", "bash", &json!({ "command": "true" }), "exit code: 0\n", Some(0));
    let next = session.events.last().unwrap().envelope.seq + 1;
    let passages = session.set().passages(400, next);
    let files: Vec<&ContextPassage> =
        passages.iter().filter(|passage| matches!(passage.source, ContextSource::File { .. })).collect();
    assert!(files.iter().any(|passage| passage.text.contains("alpha_11")), "{}", all(&passages));
    assert!(files.iter().all(|passage| passage.score_milli > 0));
    assert!(cost(&passages) <= 400);
    assert_eq!(session.set().passages(0, next), []);
    assert_eq!(WorkingSet::default().passages(4_000, 0), []);
}

#[test]
fn long_lines_are_cut_and_that_is_seen() {
    let mut session = Session::new();
    read(&mut session, "src/long.rs", 1, &["x".repeat(1_000), "short".to_owned()]);
    let text = all(&session.set().passages(4_000, u64::MAX));
    assert!(text.contains(&format!("1\t{} […]\n2\tshort\n", "x".repeat(400))), "{text}");
}

#[test]
fn a_file_that_nobody_knows_any_more_is_not_shown() {
    use retrace_events::CallId;
    use retrace_events::payload::tool::ToolOutcomeUnknown;
    let mut session = session();
    let input = json!({ "path": "src/alpha.rs", "content": "new" });
    session.answer(&json!([{ "type": "tool_use", "id": "lost", "name": "write_file", "input": input }]));
    session.add(&ToolOutcomeUnknown { call: CallId("lost".to_owned()), content: "nobody knows".to_owned() }.into());
    let text = all(&session.set().passages(4_000, u64::MAX));
    assert!(!text.contains("== src/alpha.rs") && text.contains("== src/beta.rs"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_seed_has_its_room(room in 0..3_000_u64, kept in 0..60_u64, files in 1..8_usize, lines in 1..80_usize) {
        let mut session = session();
        for n in 0..files {
            read(&mut session, &format!("src/f{n}.rs"), 1 + n * 7, &lines_of(&format!("f{n}"), lines));
        }
        let set = session.set();
        let passages = set.passages(room, kept);
        prop_assert!(cost(&passages) <= room, "{} of {room}", cost(&passages));
        for passage in &passages {
            prop_assert_eq!(passage.tokens as usize, passage.text.len().div_ceil(4));
            prop_assert!(!passage.text.is_empty());
            if let ContextSource::File { first_line, last_line, .. } = &passage.source {
                let numbers: Vec<u32> = passage.text.lines().filter_map(|line| line.split_once('\t')?.0.parse().ok()).collect();
                prop_assert!(numbers.is_sorted() && numbers.first() == Some(first_line) && numbers.last() == Some(last_line));
            }
        }
        prop_assert_eq!(passages, session.set().passages(room, kept));
    }
}
