//! Names of sessions.

use crate::cli::Exit;
use crate::cli::session_name::{find, last, new_session, project};
use proptest::prelude::*;
use retrace_events::log::MemoryLog;
use retrace_events::testing::EventMaker;
use retrace_events::{Class, EventId, EventLog, StreamId, Token};
use std::path::Path;
use uuid::Uuid;

fn id_at(ms: u64, random: [u8; 10]) -> EventId {
    EventId(uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid())
}

fn named(ms: u64, random: [u8; 10]) -> String {
    new_session(Path::new("/w/p"), id_at(ms, random)).id.as_str().to_owned()
}

#[test]
fn a_new_name_is_short_and_local() {
    let stream = new_session(Path::new("/home/me/My Project"), EventId(Uuid::nil()));
    assert_eq!(
        (stream.tenant.as_str(), stream.class, stream.id.as_str()),
        ("local", Class::Session, "00000000-00000000")
    );
    assert!(stream.project.as_str().starts_with("my-project-"), "{stream}");
    assert_eq!(stream.project.as_str().len(), "my-project-".len() + 6);
}

#[test]
fn projects_of_one_name_are_told_apart() {
    assert_ne!(project(Path::new("/a/p")), project(Path::new("/b/p")));
    assert_eq!(project(Path::new("/a/p")), project(Path::new("/a/p")));
    for odd in ["/", "/…", "/a b/…ü", &format!("/{}", "x".repeat(200))] {
        let token = project(Path::new(odd));
        assert!(Token::new(token.as_str()).is_ok(), "{odd}: {token}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_sort_by_time(one in 0_u64..1 << 47, later in 1_024_u64..1 << 40, a in any::<[u8; 10]>(), b in any::<[u8; 10]>()) {
        prop_assert!(named(one, a) < named(one + later, b));
    }

    #[test]
    fn names_differ_by_their_random_half(ms in 0_u64..1 << 47, a in any::<[u8; 10]>(), b in any::<[u8; 10]>()) {
        prop_assume!(a[5..] != b[5..]);
        prop_assert_ne!(named(ms, a), named(ms, b));
    }

    #[test]
    fn names_are_tokens(bytes in any::<[u8; 16]>()) {
        let stream = new_session(Path::new("/w"), EventId(Uuid::from_bytes(bytes)));
        prop_assert_eq!(stream.subject().parse::<StreamId>(), Ok(stream));
    }
}

async fn log_with(ids: &[&str]) -> MemoryLog {
    let log = MemoryLog::new();
    for (seed, id) in ids.iter().enumerate() {
        let stream = StreamId {
            tenant: Token::slug("local"),
            project: Token::slug("p"),
            class: Class::Session,
            id: Token::new(id).unwrap(),
        };
        log.append(&[EventMaker::new(stream.clone(), seed as u64).prompt("x")]).await.unwrap();
        // Other streams of the same session are no sessions.
        log.append(&[EventMaker::new(stream.sibling(Class::Control), 99 + seed as u64).prompt("x")]).await.unwrap();
    }
    log
}

#[tokio::test]
async fn a_unique_beginning_of_either_half_is_enough() {
    let log = log_with(&["01aaaaaa-xyzxyzxy", "01aaaaab-qqqqqqqq", "01b"]).await;
    let found = async |name: &str| find(&log, name).await.map(|stream| stream.id.as_str().to_owned());
    for name in ["01aaaaaa-xyzxyzxy", "01aaaaaa", "xy", "xyzxyzxy", " XY ", "ev.local.p.session.01aaaaaa-xyzxyzxy"] {
        assert_eq!(found(name).await.as_deref(), Ok("01aaaaaa-xyzxyzxy"), "{name}");
    }
    assert_eq!(found("q").await.as_deref(), Ok("01aaaaab-qqqqqqqq"));
    assert_eq!(found("01b").await.as_deref(), Ok("01b"));
}

#[tokio::test]
async fn what_is_not_unique_lists_the_candidates() {
    let log = log_with(&["01aaaaaa-xyzxyzxy", "01aaaaab-qqqqqqqq"]).await;
    let error = find(&log, "01a").await.unwrap_err();
    assert_eq!((error.exit, error.message.as_str()), (Exit::NotFound, "`01a` means 2 sessions"));
    assert_eq!(error.hint.as_deref(), Some("write more of it: 01aaaaab-qqqqqqqq, 01aaaaaa-xyzxyzxy"));
    let many = log_with(&["0a", "0b", "0c", "0d", "0e", "0f", "0g"]).await;
    assert!(find(&many, "0").await.unwrap_err().hint.unwrap().ends_with(", …"));
}

#[tokio::test]
async fn what_is_not_there_suggests_what_is_close() {
    let log = log_with(&["01aaaaaa-xyzxyzxy"]).await;
    let error = find(&log, "01aaaaaa-xyzxyzzz").await.unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("did you mean `01aaaaaa-xyzxyzxy`?"));
    for name in ["", "zzz", "\u{1b}[2J"] {
        let error = find(&log, name).await.unwrap_err();
        assert_eq!((error.exit, error.hint.as_deref()), (Exit::NotFound, Some("`retrace sessions` lists them")));
        assert!(!error.message.contains('\u{1b}'));
    }
}

#[tokio::test]
async fn the_last_is_the_one_written_last() {
    let log = log_with(&["02", "01"]).await;
    assert_eq!(last(&log, None).await.unwrap().id.as_str(), "01");
    assert_eq!(last(&log, Some(Token::slug("other"))).await.unwrap_err().exit, Exit::NotFound);
}
