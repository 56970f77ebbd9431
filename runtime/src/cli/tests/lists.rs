//! `retrace sessions`, `log tail` and `log info`: lists over several sessions made by hand.

use super::Machine;
use super::made::{self, SECRET, answered, ended, prompted, put, secretive, started, stream};
use crate::cli::Exit;
use retrace_events::payload::session::SessionClosed;
use retrace_events::payload::turn::{TurnInterrupted, TurnOutcome};
use retrace_events::testing::EventMaker;
use retrace_events::{Class, Payload, StreamId};
use serde_json::Value;

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The events of a session that stands as `status` says.
fn standing(status: &str) -> Vec<Payload> {
    let mut events = vec![started(&format!("title of {status}"))];
    let over = |outcome| vec![prompted("x"), answered("y", 2_500_000), ended(outcome)];
    events.extend(match status {
        "new" => Vec::new(),
        "open" => vec![prompted("x")],
        "done" => over(TurnOutcome::Completed),
        "refused" => over(TurnOutcome::Refused),
        "limit" => over(TurnOutcome::BudgetReached),
        "failed" => over(TurnOutcome::RequestFailed),
        "interrupted" => {
            vec![prompted("x"), TurnInterrupted { by: "signal".to_owned(), during: "y".to_owned() }.into()]
        }
        "closed" => [over(TurnOutcome::Completed), vec![SessionClosed { why: "over".to_owned() }.into()]].concat(),
        other => panic!("{other}"),
    });
    events
}

const STANDINGS: [&str; 8] = ["new", "open", "done", "refused", "limit", "failed", "interrupted", "closed"];

#[tokio::test]
async fn every_standing_has_its_word() {
    let machine = Machine::alone();
    for status in STANDINGS {
        put(&machine, &format!("{status}-1"), &standing(status)).await;
    }
    let rows = lines(&machine.out(&["sessions", "--json"]).await);
    assert_eq!(rows.len(), STANDINGS.len());
    for row in &rows {
        let status = row["status"].as_str().unwrap();
        assert_eq!(row["session"], format!("{status}-1"), "{row}");
        assert_eq!(row["title"], format!("title of {status}"));
        assert_eq!(row["events"], standing(status).len());
        assert_eq!(row["workspace"], "/home/ada/project");
    }
    let table = machine.out(&["sessions"]).await;
    assert_eq!(table.lines().count(), 1 + STANDINGS.len(), "{table}");
    for status in STANDINGS {
        let line = table.lines().find(|line| line.starts_with(&format!("{status}-1 "))).unwrap();
        assert!(line.contains(&format!("  {status:<11}  ")), "{line}");
    }
    for outcome in [TurnOutcome::AnswerTooLong, TurnOutcome::ContextFull, TurnOutcome::RuntimeFailed] {
        let machine = Machine::alone();
        put(&machine, "a-1", &[started("t"), prompted("x"), ended(outcome)]).await;
        let word = if outcome == TurnOutcome::RuntimeFailed { "failed" } else { "limit" };
        assert_eq!(lines(&machine.out(&["sessions", "--json"]).await)[0]["status"], word, "{outcome:?}");
    }
}

#[tokio::test]
async fn the_columns_stand_below_their_heads() {
    let machine = Machine::alone();
    put(&machine, "00000000-11111111", &standing("done")).await;
    put(&machine, "a-1", &standing("interrupted")).await;
    let table = machine.out(&["sessions"]).await;
    let heads = table.lines().next().unwrap();
    for (head, value) in [("LAST EVENT", "20"), ("STATUS", "done"), ("TITLE", "title of done")] {
        let line = table.lines().find(|line| line.starts_with("00000000-11111111")).unwrap();
        assert_eq!(&line[heads.find(head).unwrap()..][..value.len()], value, "{table}");
    }
    // Figures end where their heads end.
    let end = heads.find("COST").unwrap() + "COST".len();
    assert!(table.contains("$2.50"));
    let cost = table.lines().find_map(|line| Some(line.find("$2.50")? + "$2.50".len())).unwrap();
    assert_eq!(cost, end, "{table}");
}

#[tokio::test]
async fn the_list_can_be_limited_to_a_number_and_a_workspace() {
    let mut machine = Machine::alone();
    for number in 0..5 {
        put(&machine, &format!("here-{number}"), &standing("done")).await;
    }
    let there = machine.workspace.with_file_name("elsewhere");
    std::fs::create_dir(&there).unwrap();
    let here = std::mem::replace(&mut machine.workspace, there);
    put(&machine, "there-0", &standing("done")).await;

    let ids = async |machine: &Machine, args: &[&str]| -> Vec<String> {
        let mut ids: Vec<String> =
            lines(&machine.out(args).await).iter().map(|row| row["session"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&machine, &["sessions", "--json", "--project"]).await, ["there-0"]);
    assert_eq!(ids(&machine, &["sessions", "--json"]).await.len(), 6);
    let folder = here.display().to_string();
    let five = ["here-0", "here-1", "here-2", "here-3", "here-4"];
    assert_eq!(ids(&machine, &["sessions", "--json", "--project", "--workspace", &folder]).await, five);

    let ran = machine.run(&["sessions", "-n", "2"]).await;
    assert_eq!((ran.out.lines().count(), ran.err.as_str()), (3, "4 more: --limit 6\n"), "{ran:?}");
    let all = machine.run(&["sessions", "--limit", "6"]).await;
    assert_eq!((all.out.lines().count(), all.err.as_str()), (7, ""), "{all:?}");
    let quiet = machine.run(&["sessions", "-n", "2", "-q"]).await;
    assert_eq!((quiet.out.lines().count(), quiet.err.as_str()), (3, ""), "{quiet:?}");
    let none = machine.run(&["sessions", "-n", "0", "--json"]).await;
    assert_eq!((none.out.as_str(), none.err.as_str()), ("", "6 more: --limit 6\n"));
}

#[tokio::test]
async fn no_sessions_are_no_lines() {
    let machine = Machine::alone();
    for args in [&["sessions"][..], &["sessions", "--json"], &["sessions", "--project"], &["log", "tail"]] {
        let ran = machine.run(args).await;
        assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (Exit::Done, "", ""), "{args:?}");
    }
}

#[tokio::test]
async fn titles_are_cleaned_cut_and_redacted() {
    let machine = secretive();
    put(&machine, "a-1", &[started(&format!("the key\u{1b}[2J {SECRET}\nis {}", "long ".repeat(100)))]).await;
    let table = machine.out(&["sessions"]).await;
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(!table.contains("hunter2") && table.contains("[redacted:known]⏎is long"), "{table}");
    assert!(!table.contains('\u{1b}') && table.ends_with("…\n"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 155), "{table}");
}

#[tokio::test]
async fn ambiguous_and_unknown_names_are_refused_by_every_command() {
    let machine = Machine::alone();
    for id in ["aaaa-1111", "aaab-2222", "cccc-1133"] {
        put(&machine, id, &standing("done")).await;
    }
    let copy = machine.workspace.with_file_name("copy").display().to_string();
    let commands: [&[&str]; 8] = [
        &["show"],
        &["show", "--outline"],
        &["replay"],
        &["replay", "--verify"],
        &["export"],
        &["log", "verify"],
        &["log", "tail"],
        &["log", "copy", "--to", &copy],
    ];
    for command in commands {
        for (name, said) in [
            ("aaa", "error: `aaa` means 2 sessions\nhint: write more of it: "),
            ("11", "error: `11` means 2 sessions\nhint: write more of it: "),
            ("zz", "error: there is no session `zz`\nhint: `retrace sessions` lists them\n"),
        ] {
            let ran = machine.run(&[command, &[name]].concat()).await;
            assert_eq!((ran.exit, ran.out.as_str()), (Exit::NotFound, ""), "{command:?} {name}: {ran:?}");
            assert!(ran.err.starts_with(said), "{command:?} {name}: {ran:?}");
        }
    }
    assert!(!std::path::Path::new(&copy).join("data").exists());
    // A unique beginning of either half is enough for each of them.
    for name in ["aaaa", "1111", "AAAA-1", "113"] {
        assert_eq!(machine.run(&["show", name]).await.exit, Exit::Done, "{name}");
    }
}

#[tokio::test]
async fn the_tail_is_in_order_of_time_over_all_sessions() {
    let machine = Machine::alone();
    let (mut one, mut other) =
        (EventMaker::new(stream(&machine, "one-1"), 1), EventMaker::new(stream(&machine, "two-2"), 2));
    made::append(&machine, &one.prompts(4)).await;
    made::append(&machine, &other.prompts(2)).await;
    let tail = async |args: &[&str]| -> Vec<String> {
        let args = [&["log", "tail", "--json"], args].concat();
        let named =
            |row: &Value| format!("{}#{}", row["stream"].as_str().unwrap().rsplit('.').next().unwrap(), row["seq"]);
        lines(&machine.out(&args).await).iter().map(named).collect()
    };
    // The makers' clocks tick alike: event n of each is at about the same time.
    assert_eq!(tail(&["-n", "2"]).await, ["one-1#2", "one-1#3"]);
    let all = tail(&[]).await;
    assert_eq!((all.len(), &all[4..]), (6, &["one-1#2".to_owned(), "one-1#3".to_owned()][..]));
    assert_eq!(tail(&["two", "-n", "1"]).await, ["two-2#1"]);
    assert_eq!(tail(&["two", "-n", "100"]).await, ["two-2#0", "two-2#1"]);
    assert_eq!(tail(&["-n", "0"]).await, Vec::<String>::new());
    let text = machine.out(&["log", "tail", "one", "-n", "1"]).await;
    assert!(text.contains(" one-1 #3 turn.prompted  {"), "{text}");
}

#[tokio::test]
async fn a_line_of_the_tail_is_short_and_has_no_secrets() {
    let machine = secretive();
    // The secret stands where a line would be cut: what is cut must be redacted already.
    for before in (0..150).step_by(10) {
        let id = format!("cut-{before}");
        put(&machine, &id, &[prompted(&format!("{}{SECRET}{}", "x".repeat(before), "y".repeat(500)))]).await;
        let line = machine.out(&["log", "tail", &id]).await;
        assert!(!line.contains("hunter2") && !line.contains("hunt"), "{line}");
        assert!(line.chars().count() < 250 && line.lines().count() == 1, "{line}");
    }
}

#[tokio::test]
async fn info_counts_all_streams_and_sessions_apart() {
    let machine = Machine::alone();
    put(&machine, "a-1", &standing("done")).await;
    put(&machine, "b-2", &standing("new")).await;
    let control: StreamId = stream(&machine, "a-1").sibling(Class::Control);
    made::append(&machine, &EventMaker::new(control, 9).prompts(3)).await;
    let text = machine.out(&["log", "info"]).await;
    assert!(text.contains("holds:    2 sessions, 3 streams, 8 events\n"), "{text}");
    assert!(text.starts_with(&format!("log:      embedded {}", machine.folders.state.display())), "{text}");
    let info = &lines(&machine.out(&["log", "info", "--json"]).await)[0];
    assert_eq!((&info["sessions"], &info["streams"], &info["events"]), (&2.into(), &3.into(), &8.into()));
    let newest = lines(&machine.out(&["log", "tail", "--json"]).await).pop().unwrap()["at"].clone();
    assert_eq!(info["newest_event_at"], newest, "{info}");
    // A session's export and copy have what was said to it, and nothing of the others.
    assert_eq!(machine.out(&["export", "a-1"]).await.lines().count(), 7);
    assert_eq!(machine.out(&["export", "b-2"]).await.lines().count(), 1);
    let verified = machine.out(&["log", "verify"]).await;
    assert_eq!(verified, "3 streams sound, 8 events\n");
    assert_eq!(machine.out(&["log", "verify", "a-1"]).await, "2 streams sound, 7 events\n");
}
