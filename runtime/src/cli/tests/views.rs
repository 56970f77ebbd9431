//! `show --event`, `show --full` and `replay`: views of a session made by hand.

use super::Machine;
use super::made::{
    self, SECRET, answered, called, code, ended, finished, prompted, put, sandboxed, secretive, started,
};
use crate::cli::Exit;
use retrace_events::payload::turn::TurnOutcome;
use retrace_events::testing::{EventMaker, example_payloads};
use retrace_events::{Envelope, Payload};
use serde_json::{Value, json};
use std::time::Duration;

fn story() -> Vec<Payload> {
    vec![
        started("a title"),
        sandboxed(),
        prompted("look"),
        called("1", "bash", &json!({ "command": "ls" })),
        finished("1", code(0), &[]),
        answered("It is all there.", 12_345),
        ended(TurnOutcome::Completed),
    ]
}

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_event_is_shown_with_all_it_holds() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let pretty = machine.out(&["show", "aaaa", "--event", "2"]).await;
    assert!(pretty.lines().count() > 5, "not one line, but laid out:\n{pretty}");
    let event: Value = serde_json::from_str(&pretty).unwrap();
    assert_eq!((&event["seq"], &event["kind"]), (&2.into(), &"turn.prompted".into()));
    assert!(pretty.contains("\"look\""), "{pretty}");
    // Every event by its number and by its whole id, in either case, is the line of `show --json`.
    for (seq, line) in lines(&machine.out(&["show", "aaaa", "--json"]).await).iter().enumerate() {
        let id = line["id"].as_str().unwrap();
        for name in [&seq.to_string(), id, &id.to_uppercase()] {
            let found = machine.out(&["show", "aaaa", "--json", "--event", name]).await;
            assert_eq!(lines(&found), std::slice::from_ref(line), "{name}");
        }
    }
}

#[tokio::test]
async fn an_event_must_be_named_unmistakably() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let all = lines(&machine.out(&["show", "aaaa", "--json"]).await);
    let ids: Vec<&str> = all.iter().map(|line| line["id"].as_str().unwrap()).collect();
    let shared: usize = (1..36).take_while(|length| ids[0][..*length] == ids[1][..*length]).count();
    // Something that is no number, or it would be taken for one.
    let prefix = &ids[0][..shared];
    assert!(prefix.parse::<u64>().is_err(), "{prefix}");
    let ran = machine.run(&["show", "aaaa", "--event", prefix]).await;
    assert_eq!(ran.exit, Exit::NotFound, "{ran:?}");
    let expected = format!(
        "error: session aaaa-bbbb has more than one event `{prefix}`\nhint: `retrace show aaaa-bbbb --full` numbers them\n"
    );
    assert_eq!(ran.err, expected);
    for name in ["7", "-1", "18446744073709551615", "99999999999999999999", "2.0", "x", " ", "\u{1b}[2J"] {
        let ran = machine.run(&["show", "aaaa", &format!("--event={name}")]).await;
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::NotFound, ""), "{name:?}: {ran:?}");
        assert!(ran.err.contains("has no event") && !ran.err.contains('\u{1b}'), "{name:?}: {ran:?}");
    }
}

#[tokio::test]
async fn an_event_is_shown_without_secrets() {
    let machine = secretive();
    put(&machine, "aaaa-bbbb", &[started(SECRET), prompted(&format!("use {SECRET} now"))]).await;
    for number in ["0", "1"] {
        for args in [&["show", "aaaa", "--event", number][..], &["show", "aaaa", "--json", "--event", number]] {
            let out = machine.out(args).await;
            assert!(!out.contains("hunter2") && out.contains("[redacted:known]"), "{out}");
        }
    }
}

#[tokio::test]
async fn the_full_view_numbers_what_it_shows() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &example_payloads()).await;
    let full = machine.out(&["show", "aaaa", "--full"]).await;
    let numbers: Vec<u64> =
        full.lines().filter_map(|line| line.strip_prefix('#')?.split_once(' ')?.0.parse().ok()).collect();
    assert!(numbers.is_sorted() && numbers.len() > 20, "{numbers:?}");
    assert!(numbers.iter().all(|number| *number < example_payloads().len() as u64), "{numbers:?}");
    let footer = full.lines().last().unwrap();
    assert!(footer.starts_with(&format!("{} events · 1 step · 1 call · ", example_payloads().len())), "{footer}");
    assert!(footer.contains("$0.0920 (and up to $0.0001 for lost answers)"), "{footer}");
}

#[tokio::test]
async fn every_kind_of_event_is_harmless_in_every_view() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &example_payloads()).await;
    let last = (example_payloads().len() - 1).to_string();
    let views: [&[&str]; 8] = [
        &["show", "aaaa"],
        &["show", "aaaa", "--full"],
        &["show", "aaaa", "--json"],
        &["show", "aaaa", "--outline"],
        &["show", "aaaa", "--event", &last],
        &["replay", "aaaa", "--speed", "0", "--json"],
        &["log", "tail", "aaaa", "-n", "100"],
        &["sessions"],
    ];
    for args in views {
        let out = machine.out(args).await;
        assert!(!out.is_empty() && out.len() < 200_000, "{args:?}: {} bytes", out.len());
        assert_eq!(out.chars().find(|c| c.is_control() && *c != '\n'), None, "{args:?}: {out}");
    }
    let tail = machine.out(&["log", "tail", "aaaa", "-n", "100"]).await;
    let kinds: Vec<&str> = tail.lines().map(|line| line.split(' ').nth(3).unwrap()).collect();
    assert_eq!(kinds, example_payloads().iter().map(Payload::kind).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_session_of_a_newer_version_can_still_be_looked_at() {
    let machine = Machine::alone();
    let mut maker = EventMaker::new(made::stream(&machine, "aaaa-bbbb"), 3);
    let events: Vec<Envelope> =
        vec![maker.payload(&started("t"), None), maker.opaque("future.thing", 50), maker.prompt("after it")];
    made::append(&machine, &events).await;
    let shown = machine.out(&["show", "aaaa"]).await;
    assert!(shown.contains("? future.thing (only a newer version can read it)\n") && shown.contains("› after it\n"));
    assert!(machine.out(&["log", "tail"]).await.contains(" #1 future.thing"));
    assert!(machine.out(&["sessions"]).await.contains("  newer  "));
    let event = machine.out(&["show", "aaaa", "--event", "1"]).await;
    assert!(event.contains("\"future.thing\""), "{event}");
    let exported = machine.out(&["export", "aaaa"]).await;
    assert_eq!(exported.lines().count(), 3, "{exported}");
}

#[tokio::test(start_paused = true)]
async fn a_replay_keeps_the_rhythm_but_not_long_pauses() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let shown = machine.out(&["show", "aaaa"]).await;
    let timed = async |args: &[&str]| {
        let begun = tokio::time::Instant::now();
        assert_eq!(machine.out(args).await, shown, "{args:?}");
        begun.elapsed()
    };
    let pauses = u32::try_from(story().len()).unwrap() - 1;
    let near = |found: Duration, wanted: Duration| found >= wanted && found < wanted + Duration::from_millis(500);
    // The events are about 1,000 seconds apart, and no pause is longer than two.
    let usual = timed(&["replay", "aaaa"]).await;
    assert!(near(usual, Duration::from_secs(2) * pauses), "{usual:?}");
    let slow = timed(&["replay", "aaaa", "--speed", "0.001"]).await;
    assert!(near(slow, Duration::from_secs(2) * pauses), "{slow:?}");
    let fast = timed(&["replay", "aaaa", "--speed", "10000"]).await;
    assert!(near(fast, Duration::from_millis(100) * pauses), "{fast:?}");
    let none = timed(&["replay", "aaaa", "--speed", "0"]).await;
    assert!(near(none, Duration::ZERO), "{none:?}");
}

#[tokio::test]
async fn a_replay_as_json_is_the_events() {
    let machine = Machine::alone();
    put(&machine, "aaaa-bbbb", &story()).await;
    let shown = machine.out(&["show", "aaaa", "--json"]).await;
    assert_eq!(machine.out(&["replay", "aaaa", "--speed", "0", "--json"]).await, shown);
    assert_eq!(lines(&shown).len(), story().len());
}

#[test]
fn odd_speeds_are_refused() {
    let parse =
        |args: &[&str]| crate::cli::command().try_get_matches_from(["retrace", "replay", "x"].iter().chain(args));
    for speed in ["-1", "nan", "inf", "-inf", "", "fast", "1e400", "-0.1"] {
        let error = parse(&[&format!("--speed={speed}")]).unwrap_err();
        assert_eq!(error.kind(), clap::error::ErrorKind::ValueValidation, "{speed}");
        assert!(error.to_string().contains("a number from 0 on, like 2 or 0.5"), "{error}");
    }
    for speed in ["0", "0.5", "2", "1e3", "-0"] {
        assert!(parse(&[&format!("--speed={speed}")]).is_ok(), "{speed}");
    }
    assert_eq!(parse(&["--verify", "--speed=2"]).unwrap_err().kind(), clap::error::ErrorKind::ArgumentConflict);
}
