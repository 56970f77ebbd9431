//! Sessions to which nothing may be added.

use super::*;
use crate::config::TrustList;
use crate::import::Refusal;
use crate::import::claude_code::SessionState as Became;
use retrace_events::mint::SeededMint;
use retrace_events::payload::turn::{PromptSource, TurnPrompted};
use retrace_events::{EventId, Mint, Writer};

async fn half(desk: &Desk) -> PathBuf {
    let half: String = SESSION.split_inclusive('\n').take(18).collect();
    let path = desk.write("a.jsonl", half);
    desk.import(&path).await;
    path
}

/// A clock that is past all transcripts.
#[derive(Debug)]
struct After(SeededMint);

impl Mint for After {
    fn now(&self) -> Timestamp {
        Timestamp(LATER_MS + self.0.now().0)
    }

    fn event_id(&self) -> EventId {
        self.0.event_id()
    }
}

/// Goes on with the session as a user does.
async fn go_on(desk: &Desk, cause: Option<EventId>) {
    let head = desk.log.head(&stream(SESSION_ID)).await.unwrap().unwrap();
    let log = Arc::clone(&desk.log) as Arc<dyn EventLog>;
    let mint = Arc::new(After(SeededMint::new(7)));
    let mut writer = Writer::resume(log, mint, stream(SESSION_ID), (head.seq, head.hash));
    let prompt = TurnPrompted { text: "go on".to_owned(), source: PromptSource::Local, attachments: Vec::new() };
    writer.append(vec![(prompt.into(), cause)]).await.unwrap();
}

#[tokio::test]
async fn a_session_that_went_on_here_keeps_what_was_done_here() {
    let desk = Desk::new();
    let path = half(&desk).await;
    let seq = desk.events(SESSION_ID).await.len() as u64;
    go_on(&desk, None).await;
    let events = desk.events(SESSION_ID).await;
    // The same transcript has nothing new: all is well.
    assert!(!desk.import(&path).await.failed());
    // A longer one has.
    let report = desk.import(&desk.write("a.jsonl", SESSION)).await;
    assert_eq!(report.sessions[0].state, Became::Refused(Refusal::GoneOn { seq }));
    assert!(report.failed() && report.sessions[0].left > 20, "{report:?}");
    assert_eq!(desk.events(SESSION_ID).await, events);
}

#[tokio::test]
async fn what_was_deleted_does_not_come_back_and_keeps_nobody_else_out() {
    let desk = Desk::new();
    let path = half(&desk).await;
    let mint = SeededMint::new(9);
    let deletion =
        retrace_events::log::Deletion { stream: stream(SESSION_ID), id: mint.event_id(), at: Timestamp(LATER_MS) };
    desk.log.delete(&deletion).await.unwrap();
    for _ in 0..2 {
        let report = desk.import(&path).await;
        assert_eq!(report.sessions[0].state, Became::Refused(Refusal::Deleted));
        assert!(report.sessions[0].left > 5 && report.stored() == 0, "{report:?}");
    }
    assert!(desk.events(SESSION_ID).await.is_empty());
}

#[tokio::test]
async fn other_events_of_the_same_session_are_not_mixed_in() {
    let desk = Desk::new();
    desk.import(&desk.write("a.jsonl", SESSION)).await;
    let events = desk.events(SESSION_ID).await;
    let without: String =
        SESSION.split_inclusive('\n').enumerate().filter(|(n, _)| *n != 9).map(|(_, line)| line).collect();
    let report = desk.import(&desk.write("b.jsonl", without)).await;
    assert!(matches!(report.sessions[0].state, Became::Refused(Refusal::Differs { seq: 5.. })), "{report:?}");
    assert_eq!(desk.events(SESSION_ID).await, events);
}

#[tokio::test]
async fn a_session_that_somebody_runs_is_left_alone() {
    let desk = Desk::new();
    half(&desk).await;
    let holder = Holder::this_process("retrace chat", Timestamp(1));
    let claim = desk.log.claim(&stream(SESSION_ID), &holder).await.unwrap();
    let path = desk.write("a.jsonl", SESSION);
    let report = desk.import(&path).await;
    let Became::Refused(Refusal::InUse { by }) = &report.sessions[0].state else { panic!("{report:?}") };
    assert!(by.contains("retrace chat"), "{by}");
    drop(claim);
    assert!(!desk.import(&path).await.failed());
}

#[tokio::test]
async fn an_imported_session_is_noted_before_its_first_event() {
    let desk = Desk::new();
    half(&desk).await;
    let list = TrustList::load(desk.root.path().join("imported.json")).unwrap();
    assert!(list.contains(&stream(SESSION_ID).subject()));
    // Where that cannot be noted, nothing is stored.
    let other = Desk::new();
    std::fs::create_dir_all(other.root.path().join("imported.json/in-the-way")).unwrap();
    let path = other.write("a.jsonl", SESSION);
    assert!(Importer::new(&other.shop(LATER_MS)).run(&path, &mut |_, _| {}).await.is_err());
    assert!(other.events(SESSION_ID).await.is_empty());
}
