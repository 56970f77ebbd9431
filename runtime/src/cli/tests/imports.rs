//! `import claude-code`: what a transcript becomes can be listed, shown, verified, exported, and gone on with.

use super::Machine;
use crate::cli::Exit;
use crate::context::render;
use retrace_events::fold;
use std::path::PathBuf;

const SESSION: &str = include_str!("../../import/tests/transcripts/session.jsonl");
const SESSION_ID: &str = "5e551011-0000-4000-8000-000000000001";
const WITH_SUBAGENTS: &str = include_str!("../../import/tests/transcripts/with-subagents.jsonl");
const PARENT_ID: &str = "5e551011-0000-4000-8000-000000000002";

/// A model that goes on: its first answer is that of the transcript.
const ANSWERS: &str = r#"
[[step]]
[[step.block]]
type = "text"
text = "never said"
[[step]]
[[step.block]]
type = "text"
text = "Going on."
"#;

/// Where the user keeps transcripts.
fn folder(machine: &Machine) -> PathBuf {
    machine.workspace.with_file_name("projects")
}

/// Writes a transcript whose session worked in the machine's workspace.
fn transcript(machine: &Machine, name: &str, text: &str) -> String {
    let path = folder(machine).join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text.replace("/home/ada/parser", machine.workspace.to_str().unwrap())).unwrap();
    path.display().to_string()
}

async fn imported(script: &str) -> Machine {
    let machine = Machine::with(script).await;
    let path = transcript(&machine, "p/session.jsonl", SESSION);
    machine.out(&["import", "claude-code", &path]).await;
    machine
}

#[tokio::test]
async fn an_import_says_what_it_took_and_what_it_left() {
    let machine = Machine::alone();
    let path = transcript(&machine, "p/session.jsonl", SESSION);
    let said = machine.out(&["import", "claude-code", &path]).await;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], format!("{SESSION_ID}         51 events  Parser: empty input"));
    assert_eq!(lines[1], "51 events imported into 1 session (0 already there) from 1 file");
    assert!(lines[2].starts_with("left out: 1 caveats, 1 file-history-snapshot, 1 local commands, "), "{said}");
    let said = machine.out(&["import", "claude-code", &path]).await;
    assert!(said.contains("already there  Parser") && said.contains("0 events imported"), "{said}");
}

#[tokio::test]
async fn the_session_is_listed_shown_verified_and_exported() {
    let machine = imported(ANSWERS).await;
    let list = machine.out(&["sessions"]).await;
    assert!(list.contains("5e551011-0000-400 ") && list.contains("Parser: empty input"), "{list}");
    let shown = machine.out(&["show", "5e551011"]).await;
    for said in [
        "imported from claude-code 2.1.30",
        "why does parse",
        "[redacted:aws_key_id]",
        "cargo test",
        "Fixed: the empty input",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let verified = machine.out(&["replay", SESSION_ID, "--verify"]).await;
    assert!(verified.starts_with("chain: 51 events sound, "), "{verified}");
    assert!(verified.contains("no requests of retrace's own\n14 requests made by another program"), "{verified}");
    assert!(verified.contains("not checked"), "{verified}");
    let json = machine.out(&["replay", SESSION_ID, "--verify", "--json"]).await;
    assert!(json.contains(r#""requests":0"#) && json.contains(r#""imported_requests":14"#), "{json}");
    assert!(machine.out(&["log", "verify"]).await.contains("51 events"));
    // It moves on as any session does.
    let lines = machine.out(&["export", SESSION_ID]).await;
    let other = Machine::alone();
    let file = transcript(&other, "export.jsonl", &lines);
    other.out(&["import", &file]).await;
    assert_eq!(other.out(&["export", SESSION_ID]).await, lines);
}

#[tokio::test]
async fn it_goes_on_with_what_was_said_since_the_summary_and_without_its_thinking() {
    let machine = imported(ANSWERS).await;
    let ran = machine.run(&["resume", SESSION_ID, "and now?"]).await;
    assert!(ran.exit == Exit::Usage && ran.err.contains("was imported and wants to work in"), "{ran:?}");
    let workspace = machine.workspace.display().to_string();
    let ran = machine.run(&["resume", SESSION_ID, "and now?", "--workspace", &workspace]).await;
    assert!(ran.exit == Exit::Done && ran.out.contains("Going on."), "{ran:?}");
    // What the next request would be; that the last one was rendered just so is verified below.
    let state = fold::load(machine.log().await.as_ref(), &machine.sessions().await[0]).await.unwrap();
    let body = String::from_utf8(render(&state).unwrap()).unwrap();
    for there in ["the parser was fixed", "what is left?", "Nothing: all tests pass.", "and now?"] {
        assert!(body.contains(there), "{there}: {body}");
    }
    for gone in ["why does parse", "signature", "toolu_01"] {
        assert!(!body.contains(gone), "{gone}: {body}");
    }
    let verified = machine.out(&["replay", SESSION_ID, "--verify"]).await;
    assert!(
        verified.contains("all 1 request render to the bytes that were sent\n14 requests made by another"),
        "{verified}"
    );
    // From here on it is retrace's: the transcript may grow, and nothing is mixed in.
    let more = SESSION
        .replace("a0000000-", "f0000000-")
        .replace("msg_", "msg_x")
        .replace("T09:", "T10:")
        .replace("T10:00:0", "T10:30:0");
    let path = transcript(&machine, "p/session.jsonl", &format!("{SESSION}{more}"));
    let before = machine.out(&["export", SESSION_ID]).await;
    let ran = machine.run(&["import", "claude-code", &path]).await;
    assert!(ran.exit == Exit::Failed && ran.err.contains("has gone on here from event 51"), "{ran:?}");
    assert_eq!(machine.out(&["export", SESSION_ID]).await, before);
}

#[tokio::test]
async fn a_session_that_broke_off_in_a_call_goes_on_too() {
    let machine = Machine::with(ANSWERS).await;
    let part: String = SESSION.split_inclusive('\n').take(6).collect();
    let path = transcript(&machine, "p/session.jsonl", &part);
    machine.out(&["import", "claude-code", &path]).await;
    let workspace = machine.workspace.display().to_string();
    let ran = machine.run(&["resume", SESSION_ID, "--workspace", &workspace]).await;
    assert!(ran.exit == Exit::Done && ran.out.contains("Going on."), "{ran:?}");
    let verified = machine.out(&["replay", SESSION_ID, "--verify"]).await;
    assert!(verified.contains("all 1 request render"), "{verified}");
}

#[tokio::test]
async fn a_folder_is_taken_whole_and_its_bad_files_are_told() {
    let machine = Machine::alone();
    transcript(&machine, "p/session.jsonl", SESSION);
    transcript(&machine, "p/broken.jsonl", &format!("{WITH_SUBAGENTS}not JSON\n"));
    transcript(&machine, "p/history.jsonl", "{\"display\":\"x\"}\n");
    let folder = folder(&machine).display().to_string();
    let ran = machine.run(&["import", "claude-code", &folder]).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    assert!(ran.err.contains("broken.jsonl:12: not a JSON object: left out"), "{ran:?}");
    assert!(
        ran.out.contains(
            "into 4 sessions (0 already there) from 2 files\n1 file in the folder are no transcripts\n1 line could"
        ),
        "{ran:?}"
    );
    assert_eq!(machine.sessions().await.len(), 4);
    std::fs::write(machine.workspace.with_file_name("projects/p/cut.jsonl.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    let ran = machine.run(&["import", "claude-code", &folder, "--json"]).await;
    assert_eq!(ran.exit, Exit::Failed, "{ran:?}");
    let lines: Vec<serde_json::Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5, "four sessions and the sums");
    assert_eq!((&lines[0]["state"], &lines[0]["session"]), (&"same".into(), &SESSION_ID.into()));
    assert_eq!(lines[4]["stored"], 0);
    assert_eq!(
        (&lines[4]["files"], &lines[4]["other_files"], &lines[4]["broken_lines"]),
        (&4.into(), &1.into(), &1.into())
    );
    let fatal = lines[4]["problems"].as_array().unwrap().iter().filter(|problem| problem["fatal"] == true).count();
    assert_eq!(fatal, 1);
}

#[tokio::test]
async fn without_a_path_the_users_own_transcripts_are_taken() {
    let mut machine = Machine::alone();
    let folder = folder(&machine);
    machine.set("CLAUDE_CONFIG_DIR", folder.to_str().unwrap());
    let ran = machine.run(&["import", "claude-code"]).await;
    assert!(ran.exit == Exit::Usage && ran.err.contains("there is no ") && ran.err.contains("hint: "), "{ran:?}");
    transcript(&machine, &format!("projects/p/{PARENT_ID}.jsonl"), WITH_SUBAGENTS);
    let said = machine.out(&["import", "claude-code", "--without-subagents"]).await;
    assert!(said.contains("into 1 session ") && said.contains("5 lines of subagents"), "{said}");
    assert_eq!(machine.session().await, PARENT_ID);
}

#[tokio::test]
async fn nothing_to_take_is_said() {
    let machine = Machine::alone();
    let path = transcript(&machine, "p/notes.jsonl", "{}\n");
    let ran = machine.run(&["import", "claude-code", &path]).await;
    assert!(ran.exit == Exit::Failed && ran.err.contains("is no transcript of Claude Code's\nhint: "), "{ran:?}");
    let folder = folder(&machine).display().to_string();
    let ran = machine.run(&["import", "claude-code", &folder]).await;
    assert!(
        ran.exit == Exit::Usage && ran.err.contains("no transcript in ") && ran.err.contains("(1 file looked at)"),
        "{ran:?}"
    );
    // The other format still is what a bare name means.
    let ran = machine.run(&["import", &path]).await;
    assert!(ran.exit == Exit::Failed && ran.err.contains(":1: "), "{ran:?}");
}

#[tokio::test]
async fn what_a_transcript_names_itself_cannot_reach_the_terminal() {
    let machine = Machine::alone();
    let text = SESSION.replace("Parser: empty input", "\\u001b[31mred\\u0007\\u202e");
    let path = transcript(&machine, "p/session.jsonl", &text);
    let ran = machine.run(&["import", "claude-code", &path]).await;
    assert!(ran.exit == Exit::Done && ran.out.contains("red"), "{ran:?}");
    for outputs in [ran.out, machine.out(&["sessions"]).await, machine.out(&["show", SESSION_ID]).await] {
        assert!(!outputs.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{outputs:?}");
    }
}
