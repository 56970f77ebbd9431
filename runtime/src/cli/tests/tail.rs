//! `retrace log tail` and `log info`.

use super::{LOOKS, Machine};
use crate::cli::CliError;
use crate::cli::log_tail::follow;
use retrace_events::log::{MemoryLog, StreamFilter};
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::{Envelope, EventLog, StreamId};

#[tokio::test]
async fn new_events_are_shown_once_and_old_ones_not_at_all() {
    let log = MemoryLog::new();
    let (one, other) = (example_stream("one"), example_stream("other"));
    let (mut first, mut second) = (EventMaker::new(one.clone(), 1), EventMaker::new(other.clone(), 2));
    log.append(&first.prompts(2)).await.unwrap();
    let end = log.end().await.unwrap();
    // It comes between the two questions, so both know it.
    log.append(&first.prompts(1)).await.unwrap();
    let streams = log.streams(&StreamFilter::default()).await.unwrap();
    log.append(&second.prompts(1)).await.unwrap();
    log.append(&first.prompts(2)).await.unwrap();

    let shown = async |only: Option<&StreamId>, enough: usize| {
        let mut shown = Vec::new();
        let show = |envelope: Envelope| {
            shown.push(format!("{}#{}", envelope.stream.id, envelope.seq));
            if shown.len() < enough { Ok(()) } else { Err(CliError::reader_gone()) }
        };
        assert_eq!(follow(&log, (&streams, end), only, show).await, Err(CliError::reader_gone()));
        shown
    };
    assert_eq!(shown(None, 3).await, ["other#0", "one#3", "one#4"]);
    assert_eq!(shown(Some(&one), 2).await, ["one#3", "one#4"]);
    assert_eq!(shown(Some(&other), 1).await, ["other#0"]);
}

#[tokio::test]
async fn the_newest_events_come_last() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "first"]).await;
    machine.run(&["run", "second"]).await;
    let tail = machine.out(&["log", "tail", "-n", "3"]).await;
    let lines: Vec<&str> = tail.lines().collect();
    assert_eq!(lines.len(), 3, "{tail}");
    assert!(lines[2].contains("turn.ended"), "{tail}");
    let sessions = machine.sessions().await;
    assert!(lines.iter().all(|line| line.contains(sessions[0].id.as_str())), "{tail}");
    let other = machine.out(&["log", "tail", sessions[1].id.as_str(), "-n", "1", "--json"]).await;
    assert!(other.contains(sessions[1].id.as_str()) && other.lines().count() == 1, "{other}");
}

#[tokio::test]
async fn info_counts() {
    let machine = Machine::with(LOOKS).await;
    let empty = machine.out(&["log", "info"]).await;
    assert!(empty.contains("0 sessions, 0 streams, 0 events\nwritten:  never\n"), "{empty}");
    machine.run(&["run", "x"]).await;
    let events = machine.out(&["show", &machine.session().await, "--json"]).await.lines().count();
    let info = machine.out(&["log", "info"]).await;
    assert!(info.contains(&format!("1 session, 1 stream, {events} events\n")), "{info}");
    let json: serde_json::Value = serde_json::from_str(&machine.out(&["log", "info", "--json"]).await).unwrap();
    assert_eq!((&json["events"], &json["durability"]), (&events.into(), &"PowerLoss".into()));
}
