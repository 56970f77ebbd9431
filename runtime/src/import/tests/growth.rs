//! The same source gives the same events; one that has grown gives more.

use super::*;
use crate::import::claude_code::SessionState as Became;
use retrace_events::log::Fault;

fn names(drafts: &[Draft]) -> Vec<(String, u64)> {
    drafts.iter().map(|draft| (draft.name.clone(), draft.at_ms)).collect()
}

#[test]
fn what_was_given_is_never_taken_back() {
    let lines: Vec<&str> = SESSION.lines().collect();
    let all = names(&convert(lines.iter().copied(), true));
    for count in 0..=lines.len() {
        let so_far = names(&convert(lines[..count].iter().copied(), false));
        assert!(all.starts_with(&so_far), "after {count} lines: {so_far:?}\n{all:?}");
    }
}

/// Where nothing was in the middle of an answer, a transcript that seemed complete goes on too.
#[test]
fn a_transcript_that_seemed_complete_may_go_on() {
    let lines: Vec<&str> = SESSION.lines().collect();
    let all = names(&convert(lines.iter().copied(), true));
    let mut whole = 0;
    for count in 0..=lines.len() {
        let id = |line: &&str| Some(line.split_once(r#""id":"msg_"#)?.1[..2].to_owned());
        let before: Vec<String> = lines[..count].iter().filter_map(id).collect();
        let within = lines[count..].iter().filter_map(id).any(|id| before.contains(&id));
        if !within {
            let so_far = names(&convert(lines[..count].iter().copied(), true));
            assert!(all.starts_with(&so_far), "after {count} lines: {so_far:?}\n{all:?}");
            whole += 1;
        }
    }
    assert!(whole > 30, "{whole}");
}

#[tokio::test]
async fn again_changes_nothing_and_more_is_added() {
    let desk = Desk::new();
    let half: String = SESSION.split_inclusive('\n').take(18).collect();
    let path = desk.write("a.jsonl", &half);
    let first = desk.import(&path).await;
    assert_eq!(first.sessions[0].state, Became::New);
    let events = desk.events(SESSION_ID).await;
    assert_eq!(first.stored(), events.len() as u64);

    let again = desk.import(&path).await;
    assert_eq!((again.stored(), again.present()), (0, first.stored()));
    assert_eq!(again.sessions[0].state, Became::Same);
    assert_eq!(desk.events(SESSION_ID).await, events);

    let grown = desk.import(&desk.write("a.jsonl", SESSION)).await;
    assert_eq!((grown.present(), &grown.sessions[0].state), (first.stored(), &Became::Grown));
    let all = desk.events(SESSION_ID).await;
    assert_eq!(all[..events.len()], events);

    // In one go it comes to the very same but for the title, which the first half did not know.
    let other = Desk::new();
    other.import(&other.write("b.jsonl", SESSION)).await;
    let ids = |events: &[Envelope]| events.iter().map(|event| (event.id, event.payload.clone())).collect::<Vec<_>>();
    assert_eq!(ids(&other.events(SESSION_ID).await)[1..], ids(&all)[1..]);
    // An older copy of the transcript finds all of its own there.
    let old = desk.import(&desk.write("a.jsonl", &half)).await;
    assert_eq!((old.stored(), old.present(), old.failed()), (0, first.stored(), false));
}

#[tokio::test]
async fn what_may_be_in_the_making_is_held_back() {
    let desk = Desk::new();
    // The newest line of the first six is a call; a minute later nobody knows whether that is all of the answer.
    let six: String = SESSION.split_inclusive('\n').take(6).collect();
    let path = desk.write("a.jsonl", &six);
    let now_ms = 1_772_355_602_000 + 60_000;
    let report = desk.import_at(&path, now_ms).await;
    assert!(report.sessions[0].held_back);
    assert_eq!(desk.kinds(SESSION_ID).await, ["session.started", "session.imported", "turn.prompted"]);
    let report = desk.import_at(&path, now_ms + 600_000).await;
    assert!(!report.sessions[0].held_back);
    assert_eq!(desk.kinds(SESSION_ID).await[3..], ["turn.answered", "tool.called"]);
    assert!(!desk.import_at(&desk.write("a.jsonl", SESSION), LATER_MS).await.failed());
}

#[tokio::test]
async fn an_import_that_was_broken_off_is_completed() {
    let reference = Desk::new();
    reference.import(&reference.write("a.jsonl", many_turns(300))).await;
    let expected = reference.events(SESSION_ID).await;
    assert!(expected.len() > 600, "several batches: {}", expected.len());
    for appends in 0..4 {
        let desk = Desk::new();
        let path = desk.write("a.jsonl", many_turns(300));
        let shop = desk.shop(LATER_MS);
        let mut reads = 0;
        // The log fails at the append after so many.
        if appends == 0 {
            desk.log.fail_next(Fault::Full);
            assert!(Importer::new(&shop).run(&path, &mut |_, _| reads += 1).await.is_err());
            assert!(desk.events(SESSION_ID).await.is_empty());
        } else {
            let part: Vec<Envelope> = expected[..200 * appends].to_vec();
            desk.log.append(&part).await.unwrap();
        }
        let report = desk.import(&path).await;
        assert_eq!((report.failed(), report.present()), (false, 200 * appends as u64));
        assert_eq!(desk.events(SESSION_ID).await, expected);
    }
}

fn many_turns(count: usize) -> String {
    let turn = |n: usize| {
        let text = format!(r#"{{"type":"text","text":"answer {n}"}}"#);
        format!(
            "{}\n{}\n",
            user(&format!("p{n}"), &format!(r#""prompt {n}""#)),
            answer(&format!("a{n}"), &format!("m{n}"), &text)
        )
    };
    (0..count).map(turn).collect()
}
