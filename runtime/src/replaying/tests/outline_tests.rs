//! What is known of a session before its first call.

use super::recorder::Recorder;
use crate::replaying::outline::Outline;
use retrace_events::History;
use serde_json::json;

async fn outline(session: &Recorder) -> Outline {
    let history = History::of(&session.log, &session.stream()).await.unwrap();
    Outline::read(&session.log, &history).await.unwrap()
}

#[tokio::test]
async fn a_session_without_calls_that_write_has_no_beginning() {
    let mut session = Recorder::new().await;
    session.call("read_file", json!({ "path": "a.txt" })).await;
    let outline = outline(&session).await;
    assert!(outline.beginning.is_none() && outline.by_hand.is_empty());
    assert_eq!((outline.calls, outline.foreign_calls, outline.workspaces.len()), (1, 0, 1));
}

#[tokio::test]
async fn it_begins_with_the_first_snapshot_from_the_first_call_on() {
    let mut session = Recorder::new().await;
    session.call("read_file", json!({ "path": "a.txt" })).await;
    session.bash("echo x > x").await;
    let outline = outline(&session).await;
    let (tree, from) = outline.beginning.unwrap();
    assert_eq!(from, 0, "what only looked before it found the same files");
    let restored = tempfile::tempdir().unwrap();
    session.store().restore(&tree, &restored.path().join("r"), &Default::default()).unwrap();
    assert!(restored.path().join("r/a.txt").exists() && !restored.path().join("r/x").exists());
    assert_eq!(outline.results.len(), 2);
}

#[tokio::test]
async fn changes_by_hand_belong_to_the_turns_beginning() {
    let mut session = Recorder::new().await;
    session.bash("true").await;
    let outline_before = outline(&session).await;
    session.prompt().await;
    let prompted_at = outline_before.events;
    session.file("hand.txt", "x");
    session.call("list_dir", json!({})).await;
    session.bash("true").await;
    let outline = outline(&session).await;
    assert_eq!(outline.by_hand.keys().copied().collect::<Vec<_>>(), [prompted_at]);
}
