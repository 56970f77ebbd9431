//! `run`, `resume`, `sessions`, `show`, `replay`: a session's life.

use super::{LOOKS, Machine};
use crate::cli::Exit;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn the_answer_is_data_and_the_rest_is_not() {
    let machine = Machine::with(LOOKS).await;
    let ran = machine.run(&["run", "have a look"]).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "All is well.\n"), "{}", ran.err);
    let id = machine.session().await;
    for expected in [
        &format!("session {id} · claude-opus-5-5 · {}\n", machine.workspace.display()),
        "NO SANDBOX: commands run as you, with your files and your network · log: embedded ",
        "[no sandbox] › have a look\n",
        "I'll look.\n",
        "● bash  echo found; exit 3\n└ exit 3 · 2 lines · ",
        "All is well.\n",
        "done · 2 steps · ",
        "NO SANDBOX: all commands of this session ran as you\n",
        &format!("go on:  retrace resume {id} "),
        &format!("verify: retrace replay {id} --verify\n"),
    ] {
        assert!(ran.err.contains(expected), "{expected:?} is missing in:\n{}", ran.err);
    }
    assert_eq!(ran.err.matches("All is well.").count(), 1, "{}", ran.err);
}

#[tokio::test]
async fn quiet_leaves_only_the_answer_and_the_warning() {
    let machine = Machine::with(LOOKS).await;
    let ran = machine.run(&["run", "--quiet", "x"]).await;
    let warning = "warning: no sandbox: all commands of this session ran as you\n";
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("All is well.\n", warning));
}

#[tokio::test]
async fn json_is_every_event_once_and_a_summary() {
    let machine = Machine::with(LOOKS).await;
    let ran = machine.run(&["--json", "run", "x"]).await;
    let lines = lines(&ran.out);
    let (summary, events) = lines.split_last().unwrap();
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    assert_eq!(events[0]["kind"], "session.started");
    assert_eq!(events.last().unwrap()["kind"], "turn.ended");
    assert_eq!(summary["summary"]["exit_code"], 0);
    assert_eq!(summary["summary"]["events"], events.len());
    assert_eq!(summary["summary"]["steps"], 2);
    let shown = machine.out(&["--json", "show", &machine.session().await]).await;
    assert_eq!(self::lines(&shown), events);
}

#[tokio::test]
async fn a_session_is_listed_shown_and_verified() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "have a look", "--title", "my title"]).await;
    let id = machine.session().await;
    let list = machine.out(&["sessions"]).await;
    assert!(
        list.starts_with("SESSION") && list.contains(&id) && list.contains(" done ") && list.contains("my title"),
        "{list}"
    );
    let row = &lines(&machine.out(&["sessions", "--json", "--project"]).await)[0];
    assert_eq!((&row["session"], &row["status"], &row["steps"]), (&id.as_str().into(), &"done".into(), &2.into()));

    let shown = machine.out(&["show", &id[..6]]).await;
    for expected in [
        "› have a look",
        "I'll look.",
        "● bash  echo found; exit 3",
        "└ exit 3",
        "    found\n",
        "All is well.",
        " · 2 steps · 1 call · ",
    ] {
        assert!(shown.contains(expected), "{expected:?} is missing in:\n{shown}");
    }
    assert_eq!(machine.out(&["replay", &id, "--speed", "0"]).await, shown);
    let full = machine.out(&["show", &id, "--full"]).await;
    assert!(full.contains("#0 session ") && full.contains("request to claude-opus-5-5: attempt 1"), "{full}");

    let verified = machine.out(&["replay", &id, "--verify"]).await;
    assert!(verified.contains("all 2 requests render to the bytes that were sent"), "{verified}");
    let report = &lines(&machine.out(&["replay", &id, "--verify", "--json"]).await)[0];
    assert_eq!(
        (&report["requests"], &report["agree"], &report["differ"]),
        (&2.into(), &2.into(), &serde_json::json!([]))
    );
}

#[tokio::test]
async fn one_event_is_shown_by_number_and_by_id() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "x"]).await;
    let id = machine.session().await;
    let event = &lines(&machine.out(&["show", &id, "--event", "2", "--json"]).await)[0];
    assert_eq!(event["seq"], 2);
    let same = machine.out(&["show", &id, "--event", event["id"].as_str().unwrap()]).await;
    assert_eq!(serde_json::from_str::<Value>(&same).unwrap(), *event);
    for name in ["999", "ffff", ""] {
        let ran = machine.run(&["show", &id, "--event", name]).await;
        assert_eq!(ran.exit, Exit::NotFound, "{name}");
        assert!(ran.err.starts_with(&format!("error: session {id} has no event `{name}`\nhint: ")), "{}", ran.err);
    }
}

#[tokio::test]
async fn a_session_goes_on_with_a_new_prompt_under_its_old_settings() {
    let mut machine = Machine::with(LOOKS).await;
    machine.run(&["run", "x", "--max-steps", "50"]).await;
    machine.set("MAX_TOKENS", "5");
    machine.set("MODEL", "another");
    let ran = machine.run(&["resume", "--last", "and again"]).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "And again.\n"), "{}", ran.err);
    assert!(!ran.err.contains("settings changed"), "{}", ran.err);
    let id = machine.session().await;
    let changed = machine.run(&["resume", &id, "more", "--max-steps", "3"]).await;
    assert_eq!(changed.exit, Exit::Budget, "{changed:?}");
    assert!(changed.err.contains("settings changed: budget: {\"max_steps\":50"), "{}", changed.err);
    assert!(machine.out(&["replay", &id, "--verify"]).await.contains("all 3 requests"), "{changed:?}");
}

#[tokio::test]
async fn resuming_what_is_over_says_so_and_changes_nothing() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "x"]).await;
    let id = machine.session().await;
    let before = machine.out(&["show", &id, "--json"]).await;
    let ran = machine.run(&["resume", &id]).await;
    assert_eq!(ran.exit, Exit::Done);
    assert!(
        ran.err.starts_with(&format!("nothing is open in session {id}: done\nhint: retrace resume {id} ")),
        "{}",
        ran.err
    );
    assert_eq!(machine.out(&["show", &id, "--json"]).await, before);
}

#[tokio::test]
async fn an_interruption_is_in_the_log_and_the_session_goes_on_later() {
    let mut machine = Machine::with(LOOKS).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    machine.cancel = Some(cancel);
    let ran = machine.run(&["run", "x"]).await;
    assert_eq!(ran.exit, Exit::Interrupted, "{ran:?}");
    machine.cancel = None;
    let id = machine.session().await;
    assert!(machine.out(&["show", &id]).await.contains("interrupted by signal: "));
    assert!(machine.out(&["sessions"]).await.contains(" interrupted "));
    let ran = machine.run(&["resume", &id, "go on"]).await;
    assert_eq!(ran.out, "All is well.\n", "{ran:?}");
}

#[tokio::test]
async fn secrets_do_not_reach_the_screen_the_log_or_the_lists() {
    let script =
        LOOKS.replace("echo found", "echo scripted-key").replace("All is well.", "The key is scripted-key, I think.");
    let machine = Machine::with(&script).await;
    let ran = machine.run(&["run", "use scripted-key", "--title", "scripted-key"]).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    let id = machine.session().await;
    let mut all = format!("{}{}", ran.out, ran.err);
    for args in [
        &["show", &id][..],
        &["show", &id, "--full"],
        &["show", &id, "--json"],
        &["sessions"],
        &["log", "tail"],
        &["export", &id, "--redact"],
    ] {
        all.push_str(&machine.out(args).await);
    }
    assert!(!all.contains("scripted-key"), "{all}");
    assert!(all.contains("The key is [redacted:known], I think."), "{all}");
}

#[tokio::test]
async fn hints_name_a_log_that_was_named_by_a_flag() {
    let machine = Machine::with(LOOKS).await;
    let log = machine.folders.cache.parent().unwrap().with_file_name("my-log").display().to_string();
    let ran = machine.run(&["run", "x", "--log", &log]).await;
    let line = ran.err.lines().find_map(|line| line.trim().strip_prefix("verify: retrace ")).unwrap();
    let verified = machine.out(&line.split(' ').collect::<Vec<_>>()).await;
    assert!(verified.contains("all 2 requests"), "{verified}");
    assert_eq!(machine.sessions().await, [], "the default log was used");
}

#[tokio::test]
async fn a_second_process_in_one_session_is_fenced_off() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "x"]).await;
    let id = machine.session().await;
    let stream = machine.sessions().await.remove(0);
    // Somebody else writes the session between this command's first look at it and its first append.
    let log = machine.log().await;
    let state = retrace_events::fold::load(log.as_ref(), &stream).await.unwrap();
    let (seq, hash, _) = state.head.unwrap();
    let mut other = retrace_events::testing::EventMaker::behind(stream.clone(), 7, (seq, hash));
    log.append(&[other.prompt("from elsewhere")]).await.unwrap();
    let mut late = retrace_events::testing::EventMaker::behind(stream, 8, (seq, hash));
    let fenced = log.append(&[late.prompt("too late")]).await.unwrap_err();
    assert_eq!(crate::cli::CliError::from(fenced).exit, Exit::Log);
    // The prompt from elsewhere opened a turn, which the next command carries out.
    let ran = machine.run(&["resume", &id]).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Done, "And again.\n"), "{ran:?}");
}

#[tokio::test]
async fn a_turn_that_hit_its_budget_goes_on_when_the_budget_is_raised() {
    let machine = Machine::with(LOOKS).await;
    assert_eq!(machine.run(&["run", "x", "--max-steps", "1"]).await.exit, Exit::Budget);
    let id = machine.session().await;
    let again = machine.run(&["resume", &id]).await;
    assert_eq!(again.exit, Exit::Budget, "{again:?}");
    let ran = machine.run(&["resume", &id, "go on", "--max-steps", "10"]).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    assert!(machine.out(&["replay", &id, "--verify"]).await.contains("all 2 requests render"));
}
