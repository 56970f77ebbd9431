//! Calls as they come out of the log: what came of each, and the files before and behind it.

use super::recorder::Recorder;
use crate::replaying::not_compared::NotCompared;
use crate::replaying::recorded_call::{CallReader, Came, RecordedCall};
use retrace_events::payload::session::SessionConfigured;
use retrace_events::payload::settings::Settings;
use retrace_events::payload::tool::ToolDenied;
use retrace_events::testing::example_settings;
use retrace_events::{CallId, Event, EventId, EventLog};
use retrace_sandbox::snapshot::TreeId;
use serde_json::json;

/// All calls of a session, and those that have no end.
async fn calls(session: &Recorder) -> (Vec<RecordedCall>, Vec<RecordedCall>) {
    let nothing: TreeId = "0".repeat(64).parse().unwrap();
    let mut reader = CallReader::new(nothing);
    let events = session.log.read(&session.stream(), 0, 1_000).await.unwrap();
    let mut place = 0;
    let mut ended = Vec::new();
    for envelope in events {
        ended.extend(reader.apply(place, &Event::decode(envelope).unwrap()));
        place += 1;
    }
    (ended, reader.unfinished(place))
}

fn why(call: &RecordedCall) -> Option<NotCompared> {
    match call.came {
        Came::Nothing(why) => Some(why),
        Came::Finished { .. } => None,
    }
}

#[tokio::test]
async fn each_call_has_the_files_before_it_and_behind_it() {
    let mut session = Recorder::new().await;
    session.bash("true").await;
    session.bash("echo x > x.txt").await;
    session.call("read_file", json!({ "path": "x.txt" })).await;
    let (calls, open) = calls(&session).await;
    assert!(open.is_empty());
    let [first, second, third] = &calls[..] else { panic!("{calls:#?}") };
    assert!(first.files[0].is_some() && first.files[0] == first.files[1], "it changed nothing");
    assert_eq!(second.files[0], first.files[1]);
    assert_ne!(second.files[1], second.files[0]);
    assert_eq!(third.files, [second.files[1]; 2]);
    assert_eq!(third.workspace, session.workspace());
    assert!(calls.iter().all(|call| call.ended_at >= call.began_at && why(call).is_none()));
}

#[tokio::test]
async fn behind_a_snapshot_that_failed_the_files_are_not_known() {
    let mut session = Recorder::new().await;
    session.bash("true").await;
    session.snapshot_fails().await;
    session.call("list_dir", json!({})).await;
    let (calls, _) = calls(&session).await;
    assert_eq!(calls[1].files, [None, None]);
}

#[tokio::test]
async fn what_has_no_result_says_why() {
    let mut session = Recorder::new().await;
    session.denied("a", "rule").await;
    session.denied("b", "interruption").await;
    // Denied before it was begun, as an answer that broke off settles its calls.
    let call = CallId("toolu_never".to_owned());
    session.append(ToolDenied { call, by: "refusal".to_owned(), content: "no".to_owned() }.into()).await;
    session.unknown("c", |_| {}).await;
    session.called("bash", &json!({ "command": "d" }), EventId(uuid::Uuid::nil())).await;
    let (ended, open) = calls(&session).await;
    let reasons: Vec<_> = ended.iter().map(|call| why(call).unwrap()).collect();
    assert_eq!(
        reasons,
        [NotCompared::Denied, NotCompared::Cancelled, NotCompared::Denied, NotCompared::OutcomeUnknown]
    );
    assert_eq!(ended[2].tool, "");
    assert_eq!(open.iter().map(why).collect::<Vec<_>>(), [Some(NotCompared::NeverEnded)]);
}

#[tokio::test]
async fn the_settings_of_then_count() {
    let mut session = Recorder::new().await;
    session.bash("true").await;
    let settings = Settings { command_timeout_ms: 1_234, ..example_settings() };
    session.append(SessionConfigured { settings, why: "test".to_owned() }.into()).await;
    session.bash("true").await;
    let (calls, _) = calls(&session).await;
    assert_eq!(calls.iter().map(|call| call.command_timeout_ms).collect::<Vec<_>>(), [60_000, 1_234]);
}

#[tokio::test]
async fn whole_outputs_are_remembered_for_those_who_read_them() {
    let mut session = Recorder::new().await;
    let long = session.bash("seq 9000").await;
    session.bash("seq 3").await;
    let mut reader = CallReader::new("0".repeat(64).parse().unwrap());
    for (place, envelope) in (0..).zip(session.log.read(&session.stream(), 0, 1_000).await.unwrap()) {
        reader.apply(place, &Event::decode(envelope).unwrap());
    }
    assert_eq!(reader.outputs.keys().collect::<Vec<_>>(), [&long]);
}
