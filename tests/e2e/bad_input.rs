//! Bad input of every sort: each gets the message, the exit code and the event a user would want, and nothing is lost.

use crate::scripts::{calls, runs, says, script};
use crate::world::{Backend, KEY, World, payloads};
use serde_json::Value;
use std::fs;

fn world(steps: &[String]) -> World {
    World::new(Backend::Embedded, &script(steps))
}

/// The only finished call of the only session.
#[track_caller]
fn the_result(world: &World) -> Value {
    let events = world.events();
    let results = payloads(&events, "tool.finished");
    assert_eq!(results.len(), 1, "{results:?}");
    results[0].clone()
}

/// Runs a session of one call and gives its result.
#[track_caller]
fn result_of(call: String) -> (World, Value) {
    let world = world(&[call, says("done")]);
    world.run(&["run", "go"]).expect(0);
    let result = the_result(&world);
    (world, result)
}

#[test]
fn without_a_key_the_user_is_told_how_to_give_one() {
    let world = world(&[says("hi")]);
    let mut command = world.command(&["run", "go"]);
    command.env_remove("ANTHROPIC_API_KEY");
    let ran = world.finish(command).expect(2);
    assert!(ran.stderr.contains("ANTHROPIC_API_KEY") && ran.stderr.contains("hint:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("retrace demo"), "{}", ran.stderr);
    assert_eq!(world.run(&["sessions", "--json"]).expect(0).stdout.trim(), "", "nothing was begun");
}

#[test]
fn a_wrong_key_is_said_and_never_shown_or_logged() {
    let world = world(&[says("hi")]);
    let wrong = "sk-ant-wrong-9876543210fedcba";
    let mut command = world.command(&["run", "go"]);
    command.env("ANTHROPIC_API_KEY", wrong);
    let ran = world.finish(command).expect(5);
    assert!(ran.stderr.contains("x-api-key"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(wrong), "the key is shown");
    let events = world.events();
    let failed = payloads(&events, "turn.failed");
    assert_eq!((failed.len(), &failed[0]["failure"], &failed[0]["status"]), (1, &"Authentication".into(), &401.into()));
    assert_eq!(failed[0]["billed_microusd"], 0);
    assert_eq!(payloads(&events, "turn.ended")[0]["outcome"], "RequestFailed");
    assert!(!format!("{events:?}").contains(wrong), "the key is in the log");
    // With the right key the same session goes on.
    world.run(&["resume", "--last", "again"]).expect(0);
}

#[test]
fn an_unknown_model_is_said() {
    let world = world(&[says("hi")]);
    let ran = world.run(&["run", "--model", "claude-nonesuch-9", "go"]).expect(5);
    assert!(ran.stderr.contains("claude-nonesuch-9") && ran.stderr.contains("hint:"), "{}", ran.stderr);
    assert_eq!(payloads(&world.events(), "turn.failed")[0]["failure"], "NotFound");
}

#[test]
fn a_refusal_has_its_own_exit_code() {
    let refusal = "[[step]]\nstop_reason = \"refusal\"\n[[step.block]]\ntype = \"text\"\ntext = \"No.\"\n";
    let world = world(&[refusal.to_owned(), says("fine")]);
    world.run(&["run", "go"]).expect(3);
    assert_eq!(payloads(&world.events(), "turn.ended")[0]["outcome"], "Refused");
    world.run(&["resume", "--last", "something else then"]).expect(0);
}

#[test]
fn an_unreachable_log_is_said() {
    let world = world(&[says("hi")]);
    let ran = world.run(&["run", "--log", "nats://127.0.0.1:1", "go"]).expect(6);
    assert!(ran.stderr.contains("127.0.0.1:1") && ran.stderr.contains("hint:"), "{}", ran.stderr);
}

#[test]
fn a_log_of_a_newer_version_is_read_and_not_written() {
    let world = world(&[says("hi"), says("again")]);
    world.run(&["run", "go"]).expect(0);
    let database = find(&world.path("state"), "log.db");
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    drop(connection);
    let ran = world.run(&["resume", "--last", "more"]).expect(6);
    assert!(ran.stderr.contains("newer version"), "{}", ran.stderr);
}

#[test]
fn a_damaged_log_is_refused_with_the_event_named() {
    let world = world(&[says("hi"), says("again")]);
    world.run(&["run", "go"]).expect(0);
    flip_a_byte_of_event(&world, 2);
    let session = world.run(&["log", "verify"]).expect(6);
    assert!(session.stderr.contains("event 2") || session.stdout.contains("event 2"), "{session:?}");
    let ran = world.run(&["resume", "--last", "more"]).expect(6);
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
}

#[test]
fn replay_fails_on_a_log_with_one_byte_changed() {
    let world = world(&[runs("echo hi"), says("done")]);
    world.run(&["run", "go"]).expect(0);
    let session = world.session();
    world.run(&["replay", "--verify", &session]).expect(0);
    flip_a_byte_of_event(&world, 4);
    let ran = world.run(&["replay", "--verify", &session]);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
}

/// Changes one byte of a stored event behind the log's back.
fn flip_a_byte_of_event(world: &World, seq: u64) {
    let connection = rusqlite::Connection::open(find(&world.path("state"), "log.db")).unwrap();
    let query = "SELECT rowid, envelope FROM events WHERE seq = ?1";
    let (row, mut bytes): (i64, Vec<u8>) =
        connection.query_row(query, [seq], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let middle = bytes.len() - 3;
    bytes[middle] ^= 1;
    let changed = connection.execute("UPDATE events SET envelope = ?1 WHERE rowid = ?2", (bytes, row)).unwrap();
    assert_eq!(changed, 1);
}

fn find(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name() == name {
                return entry.path();
            }
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    panic!("there is no {name}");
}

#[test]
fn a_workspace_that_is_not_there_is_said() {
    let world = world(&[says("hi")]);
    let ran = world.run(&["run", "--workspace", "/nowhere/at/all", "go"]).expect(2);
    assert!(ran.stderr.contains("/nowhere/at/all"), "{}", ran.stderr);
}

#[test]
fn an_empty_prompt_is_refused() {
    let world = world(&[says("hi")]);
    world.run(&["run", "  \n "]).expect(2);
    assert_eq!(world.run(&["sessions", "--json"]).expect(0).stdout.trim(), "");
}

#[test]
fn paths_out_of_the_workspace_are_refused_to_the_model() {
    for path in ["../outside.txt", "/etc/passwd", "link/outside.txt", "a/../../outside.txt"] {
        let world = world(&[calls("read_file", &format!("{{ path = \"{path}\" }}")), says("done")]);
        fs::write(world.path("outside.txt"), "a secret outside").unwrap();
        std::os::unix::fs::symlink(world.path(""), world.workspace().join("link")).unwrap();
        world.run(&["run", "go"]).expect(0);
        let result = the_result(&world);
        assert_eq!(result["is_error"], true, "{path}: {result}");
        let text = result["content"].as_str().unwrap();
        assert!(!text.contains("secret") && !text.contains("root:"), "{path}: {text}");
    }
}

#[test]
fn a_file_out_of_the_workspace_is_not_written() {
    for path in ["../planted.txt", "link/planted.txt"] {
        let world = world(&[calls("write_file", &format!("{{ path = \"{path}\", content = \"x\" }}")), says("done")]);
        std::os::unix::fs::symlink(world.path(""), world.workspace().join("link")).unwrap();
        world.run(&["run", "go"]).expect(0);
        assert_eq!(the_result(&world)["is_error"], true, "{path}");
        assert!(!world.path("planted.txt").exists(), "{path}");
    }
}

#[test]
fn binary_output_and_invalid_utf8_are_told_as_text() {
    let (world, result) = result_of(runs(r"printf '\377\376\000\001bin\033[31mred\n'; printf 'caf\351\n'"));
    assert_eq!(result["exit"]["code"], 0);
    assert!(result["content"].as_str().unwrap().contains("bin"), "{result}");
    let shown = world.run(&["show", &world.session(), "--full"]).expect(0);
    assert!(!shown.stdout.contains('\u{1b}'), "an escape got through: {:?}", shown.stdout);
}

#[test]
fn a_file_name_that_is_not_utf8_does_no_harm() {
    let (_, result) = result_of(runs(r"touch $(printf 'caf\351.txt'); ls"));
    assert_eq!(result["exit"]["code"], 0, "{result}");
}

#[test]
fn a_gigabyte_of_output_is_stopped_and_said() {
    let (world, result) = result_of(runs("yes 0123456789012345678901234567890123456789 | head -c 1000000000"));
    let text = result["content"].as_str().unwrap();
    assert!(text.len() < 64_000, "{} bytes went to the model", text.len());
    assert_eq!(payloads(&world.events(), "sandbox.limit_hit")[0]["limit"], "output");
    assert!(text.contains("output"), "{}", &text[text.len().saturating_sub(600)..]);
}

#[test]
fn a_long_output_is_cut_in_the_middle_and_kept_whole() {
    let (world, result) = result_of(runs("seq 1 200000"));
    let text = result["content"].as_str().unwrap();
    assert!(text.contains("\n200000") && text.contains("1\n2\n3"), "head and tail are shown");
    assert!(text.contains("read_output"), "the way to the rest is told");
    let size = result["output"]["size_bytes"].as_u64().unwrap();
    assert!(size >= 1_288_895, "the whole output is kept: {size}");
    drop(world);
}

#[test]
fn a_command_that_never_ends_is_ended() {
    let call = calls("bash", "{ command = \"setsid sleep 100000 & sleep 100000\", timeout_ms = 700 }");
    let (world, result) = result_of(call);
    assert_eq!(result["exit"]["timed_out"], true, "{result}");
    assert!(result["is_error"] == true && result["content"].as_str().unwrap().contains("time"), "{result}");
    drop(world);
}

#[test]
fn a_fork_bomb_stays_in_its_sandbox() {
    let call = calls("bash", "{ command = \":(){ :|:& };:; sleep 2; echo still here\", timeout_ms = 15000 }");
    let world = world(&[call, runs("echo the sandbox lives"), says("done")]);
    world.run(&["run", "go"]).expect(0);
    let events = world.events();
    let last = payloads(&events, "tool.finished").last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(last.contains("the sandbox lives"), "{last}");
}

#[test]
fn broken_json_in_a_call_is_told_and_nothing_runs() {
    let broken =
        "[[step]]\n[[step.block]]\ntype = \"tool_use\"\nname = \"bash\"\nraw_input = '{\"command\": \"touch planted'\n";
    let world = world(&[broken.to_owned(), says("done")]);
    world.run(&["run", "go"]).expect(0);
    assert_eq!(the_result(&world)["is_error"], true);
    assert!(!world.workspace().join("planted").exists());
    assert_eq!(payloads(&world.events(), "tool.called")[0]["input"], "{\"command\": \"touch planted");
}

#[test]
fn an_unknown_tool_and_a_wrong_input_are_told() {
    let (_, result) = result_of(calls("launch_missiles", "{}"));
    assert!(result["content"].as_str().unwrap().contains("launch_missiles"), "{result}");
    let (_, result) = result_of(calls("read_file", "{ pathh = \"x\" }"));
    assert!(result["content"].as_str().unwrap().contains("path"), "{result}");
}

#[test]
fn a_budget_ends_the_turn_and_can_be_raised() {
    let world = world(&[runs("echo 1"), runs("echo 2"), says("done")]);
    let ran = world.run(&["run", "--max-steps", "1", "go"]).expect(4);
    assert!(ran.stderr.contains("1 of 1 steps"), "{}", ran.stderr);
    assert_eq!(payloads(&world.events(), "turn.ended")[0]["outcome"], "BudgetReached");
    world.run(&["resume", "--last", "--max-steps", "10", "go on"]).expect(0);
}

#[test]
fn secrets_in_prompts_and_outputs_are_not_logged() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let world = world(&[runs(&format!("printf '%s%s\\n' {} {}", &token[..9], &token[9..])), says("done")]);
    world.run(&["run", &format!("use {token} and {KEY}")]).expect(0);
    let events = world.events();
    for event in events.iter().filter(|event| event["kind"] != "turn.answered" && event["kind"] != "tool.called") {
        let text = event["payload"].to_string();
        assert!(!text.contains(token) && !text.contains(KEY), "{}: {text}", event["kind"]);
    }
}

#[test]
fn the_key_is_not_in_the_sandbox() {
    let (world, result) = result_of(runs("env; cat .env 2>&1; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"));
    assert!(!result["content"].as_str().unwrap().contains("sk-ant"), "{result}");
    drop(world);
}

#[test]
fn that_there_is_no_sandbox_is_said_even_when_quiet() {
    let world = world(&[says("done")]);
    let ran = world.run(&["run", "--quiet", "--sandbox", "none", "go"]).expect(0);
    assert!(ran.stderr.contains("no sandbox"), "{:?}", ran.stderr);
    assert_eq!(world.run(&["run", "--quiet", "go"]).expect(0).stderr, "");
}
