//! `retrace search` and `retrace index` as whole commands over sessions made by hand.

use super::Machine;
use super::made::{SECRET, answered, called, code, ended, finished, prompted, put, secretive, started};
use crate::cli::Exit;
use retrace_events::payload::turn::TurnOutcome;
use retrace_events::{CallId, Payload};
use serde_json::{Value, json};

/// A session in which a test failed and was mended.
fn flaky() -> Vec<Payload> {
    let mut failed = finished("c1", code(101), &[]);
    if let Payload::Tool(retrace_events::payload::Tool::Finished(finished)) = &mut failed {
        finished.content = "test parser::caret_column ... FAILED\nassertion failed: left 7, right 8".to_owned();
        finished.call = CallId("c1".to_owned());
    }
    vec![
        started("mend the flaky caret test"),
        prompted("why does caret_column fail now and then?"),
        answered("I'll run it.", 0),
        called("c1", "bash", &json!({"command": "cargo test caret_column"})),
        failed,
        answered("The caret counts tabs as one column.", 0),
        ended(TurnOutcome::Completed),
    ]
}

async fn machine() -> Machine {
    let machine = Machine::alone();
    put(&machine, "aaaa-1111", &flaky()).await;
    put(&machine, "bbbb-2222", &[started("something else"), prompted("paint the shed"), answered("Green?", 0)]).await;
    machine
}

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn hits_stand_below_their_sessions() {
    let machine = machine().await;
    let ran = machine.run(&["search", "caret_column", "--in", "events"]).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    assert!(
        ran.out.starts_with("aaaa-1111  mend the flaky caret test\n  1. #") && !ran.out.contains("bbbb"),
        "{}",
        ran.out
    );
    for part in [
        " call · bash · ",
        " result · bash · exit 101 · ",
        " prompt · ",
        "      test parser::caret_column ... FAILED\n",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.err.contains(" hits · ") && ran.err.contains("  look: retrace show aaaa-1111 --event "), "{}", ran.err);
    assert!(!ran.out.contains("shed"), "{}", ran.out);
}

#[tokio::test]
async fn programs_get_one_object_a_hit() {
    let machine = machine().await;
    let found = lines(&machine.out(&["search", "--json", "--kind", "prompt", "shed"]).await);
    assert_eq!(found.len(), 1, "{found:?}");
    let hit = &found[0];
    assert_eq!(
        (&hit["kind"], &hit["session"], &hit["title"]),
        (&json!("prompt"), &json!("bbbb-2222"), &json!("something else"))
    );
    assert_eq!((&hit["snippet"], &hit["highlights"]), (&json!("paint the shed"), &json!([[10, 14]])));
    assert_eq!((&hit["workspace"], &hit["seq"]), (&json!("/home/ada/project"), &json!(1)));
}

#[tokio::test]
async fn scores_are_explained_when_asked() {
    let machine = machine().await;
    let text = machine.out(&["search", "--explain", "shed"]).await;
    assert!(text.lines().nth(2).unwrap().trim_start().starts_with("keyword "), "{text}");
    assert!(!machine.out(&["search", "shed"]).await.contains("keyword "));
}

#[tokio::test]
async fn a_search_sees_what_was_appended_since() {
    let machine = machine().await;
    machine.out(&["search", "shed"]).await;
    assert_eq!(machine.run(&["search", "giraffe"]).await.exit, Exit::NotFound);
    put(&machine, "cccc-3333", &[started("zoo"), prompted("feed the giraffe")]).await;
    assert_eq!(machine.run(&["search", "giraffe", "--no-update"]).await.exit, Exit::NotFound);
    assert_eq!(lines(&machine.out(&["search", "giraffe", "--json"]).await)[0]["session"], "cccc-3333");
}

#[tokio::test]
async fn nothing_of_the_question_is_taken_for_an_answer() {
    let machine = machine().await;
    for (args, exit) in [
        (&["search"][..], Exit::Usage),
        (&["search", " ", "\t"], Exit::Usage),
        (&["search", "--session", "zzzz"], Exit::NotFound),
        (&["search", "x", "--session", ""], Exit::NotFound),
        (&["search", "x", "--since", "never"], Exit::Usage),
        (&["search", "nonesuch"], Exit::NotFound),
        (&["search", "shed", "--until", "1990"], Exit::NotFound),
    ] {
        let ran = machine.run(args).await;
        assert_eq!((ran.exit, ran.out.as_str()), (exit, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains("hint: "), "{args:?}: {ran:?}");
    }
}

#[tokio::test]
async fn a_secret_is_not_shown_though_it_was_logged() {
    let machine = secretive();
    put(&machine, "aaaa-1111", &[started(SECRET), prompted(&format!("use {SECRET} for the shed"))]).await;
    for args in [&["search", "shed"][..], &["search", "shed", "--json"], &["search", "hunter2"]] {
        let ran = machine.run(args).await;
        assert!(!ran.out.contains("hunter2") && !ran.err.contains("hunter2"), "{args:?}: {ran:?}");
    }
    assert!(machine.out(&["search", "shed"]).await.contains("use [redacted:known] for the shed"));
}

#[tokio::test]
async fn the_home_folder_is_no_workspace() {
    let machine = machine().await;
    let home = machine.folders.state.parent().unwrap().parent().unwrap().to_owned();
    std::fs::write(home.join("diary.md"), "# Giraffe\n\nThe giraffe was here.\n").unwrap();
    let home = home.display().to_string();
    let ran = machine.run(&["search", "giraffe", "-w", &home]).await;
    assert!(ran.exit != Exit::Done && !ran.out.contains("giraffe"), "{ran:?}");
    assert!(!machine.folders.state.join("index").join("code").exists());
}

#[tokio::test]
async fn code_of_a_subfolder_is_that_of_its_workspace() {
    let machine = machine().await;
    std::fs::create_dir_all(machine.workspace.join("src/deep")).unwrap();
    std::fs::write(machine.workspace.join("src/zoo.rs"), "/// Feeds it.\npub fn feed_giraffe() {}\n").unwrap();
    let deep = machine.workspace.join("src/deep");
    // Of a folder that was named only that one is meant, and no session has worked there.
    assert_eq!(machine.run(&["search", "giraffe", "-w", deep.to_str().unwrap()]).await.exit, Exit::NotFound);
    let found = lines(&machine.out(&["search", "giraffe", "--json"]).await);
    assert_eq!((&found[0]["path"], &found[0]["kind"]), (&json!("src/zoo.rs"), &json!("code")), "{found:?}");
    let below = Machine { workspace: deep, ..machine };
    let found = lines(&below.out(&["search", "giraffe", "--json"]).await);
    assert_eq!(found[0]["path"], "src/zoo.rs", "{found:?}");
}

#[tokio::test]
async fn the_state_of_the_indexes_is_shown() {
    let machine = machine().await;
    let before = lines(&machine.out(&["index", "status", "--json"]).await);
    assert_eq!(
        (&before[0]["index"], &before[0]["documents"], &before[0]["behind"]),
        (&json!("sessions"), &Value::Null, &json!(10))
    );
    let text = machine.out(&["index", "status"]).await;
    assert!(text.starts_with("sessions  nothing yet · 10 events behind\n"), "{text}");
    let updated = machine.out(&["index", "update"]).await;
    assert!(updated.contains(" · up to date\n") && updated.contains("in /"), "{updated}");
    let after = &lines(&machine.out(&["index", "status", "--json"]).await)[0];
    assert_eq!((&after["behind"], &after["position"]), (&json!(0), &after["log_end"]));
    assert!(after["documents"].as_u64() > Some(5) && after["problem"].is_null(), "{after}");
}

#[tokio::test]
async fn a_check_compares_with_a_clean_rebuild() {
    let machine = machine().await;
    let empty = machine.run(&["index", "verify"]).await;
    assert_eq!(empty.exit, Exit::Done, "{empty:?}");
    machine.out(&["index", "update"]).await;
    let text = machine.out(&["index", "verify"]).await;
    assert!(text.contains(" documents compared: 0 missing, 0 too many, 0 different\n"), "{text}");
    let found = &lines(&machine.out(&["index", "verify", "--json"]).await)[0];
    assert_eq!(
        (&found["missing"], &found["extra"], &found["different"], &found["named"]),
        (&json!(0), &json!(0), &json!(0), &json!([]))
    );
    machine.out(&["index", "rebuild"]).await;
    assert_eq!(machine.out(&["index", "verify"]).await, text);
}
