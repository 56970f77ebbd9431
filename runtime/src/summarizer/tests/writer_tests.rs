//! The writer: what is missing is written once, by one process, within its limits.

use super::counting::{Counting, Fate};
use super::*;
use crate::summarizer::{KnownSummaries, WriteStop};
use retrace_events::log::Fault;
use retrace_indexer::{SummaryCursor, SummaryNode};

/// The nodes that 64 closed steps want words for.
fn nine() -> Vec<(u32, u64)> {
    (0..8).map(|index| (1, index)).chain([(2, 0)]).collect()
}

#[tokio::test]
async fn upper_levels_get_words_and_a_rebuild_pays_nothing() {
    let (log, _) = logged(65).await;
    let counting = willing();
    let mut first = writer(&log, &counting);
    let report = first.write_missing(all()).await;
    assert!(report.stopped.is_none(), "{report:?}");
    assert_eq!((report.written, report.cost_microusd, report.unknown_cost_microusd), (9, 90, 0));
    let words = written(&log).await;
    assert_eq!(places(&words), nine());
    assert_eq!((words[8].first_seq, words[8].last_seq, words[8].cost_microusd), (0, 63, 10));
    assert_eq!((words[8].text.as_str(), words[8].by.as_str()), ("words for 2.0", "counting"));

    for mut again in [first, writer(&log, &counting)] {
        let report = again.write_missing(all()).await;
        assert!(report.written == 0 && report.stopped.is_none(), "{report:?}");
    }
    assert_eq!(counting.count(), 9);
    assert_eq!(written(&log).await.len(), 9);
}

#[tokio::test]
async fn what_is_asked_rests_on_words_there_are_and_evidence_that_exists() {
    let (log, _) = logged(65).await;
    let counting = willing();
    writer(&log, &counting).write_missing(all()).await;
    let asked = counting.asked.lock().unwrap().clone();
    assert!(asked[0].2.contains("please mend part 0"), "{asked:?}");
    assert!(asked[8].2.contains("words for 1.0") && asked[8].2.contains("words for 1.7"), "{asked:?}");
    assert!(asked.iter().all(|(_, _, below)| !below.contains(SECRET)));
    let events = log.read(&session(), 0, 1_000).await.unwrap();
    for words in written(&log).await {
        assert!(!words.evidence.is_empty());
        let covered = &events[words.first_seq as usize..=words.last_seq as usize];
        assert!(words.evidence.iter().all(|id| covered.iter().any(|event| event.id == *id)), "{words:?}");
    }
}

#[tokio::test]
async fn little_by_little_comes_to_the_same_as_all_at_once() {
    let (log, _) = logged(65).await;
    let counting = willing();
    let mut writer = writer(&log, &counting);
    let limits = WriteLimits { max_nodes: 2, max_cost_microusd: None };
    let mut rounds = 0;
    while let Some(stop) = writer.write_missing(limits).await.stopped {
        assert!(matches!(stop, WriteStop::Limit), "{stop}");
        rounds += 1;
    }
    assert_eq!(rounds, 4);
    assert_eq!(places(&written(&log).await), nine());
}

#[tokio::test]
async fn no_request_is_begun_once_the_money_is_spent() {
    let (log, _) = logged(65).await;
    let mut writer = writer(&log, &willing());
    let report = writer.write_missing(WriteLimits { max_nodes: 99, max_cost_microusd: Some(25) }).await;
    assert!(matches!(report.stopped, Some(WriteStop::Limit)), "{report:?}");
    assert_eq!((report.written, report.cost_microusd), (3, 30), "the third began at 20");
    let report = writer.write_missing(WriteLimits { max_nodes: 99, max_cost_microusd: Some(0) }).await;
    assert_eq!(report.written, 0);
}

#[tokio::test]
async fn a_session_that_grows_gets_the_new_ones() {
    let (log, mut maker) = logged(9).await;
    let counting = willing();
    let mut writer = writer(&log, &counting);
    assert_eq!(writer.write_missing(all()).await.written, 1);
    grow(&log, &mut maker, 9..16).await;
    assert_eq!(writer.write_missing(all()).await.written, 0, "the sixteenth step is open");
    grow(&log, &mut maker, 16..65).await;
    assert_eq!(writer.write_missing(all()).await.written, 8);
    assert_eq!(places(&written(&log).await), nine());
    assert_eq!(counting.count(), 9);
}

#[tokio::test]
async fn what_may_come_later_is_asked_for_again_and_what_will_not_is_left() {
    let later = || Fate::Refused { is_transient: true };
    let never = || Fate::Refused { is_transient: false };
    let (log, _) = logged(65).await;
    let counting = Arc::new(Counting::meeting([later(), later(), later(), never(), never()]));
    let mut writer = writer(&log, &counting);
    for _ in 0..5 {
        let report = writer.write_missing(all()).await;
        assert!(matches!(&report.stopped, Some(WriteStop::Refused(why)) if why == "no words"), "{report:?}");
        assert_eq!((report.written, report.unknown_cost_microusd), (0, 7), "one attempt a time");
    }
    let report = writer.write_missing(all()).await;
    assert!(report.stopped.is_none(), "{report:?}");
    let mut expected = nine();
    assert_eq!(expected.remove(0), (1, 0));
    assert_eq!(places(&written(&log).await), expected);
    // The node without words is summarised by its digest.
    let asked = counting.asked.lock().unwrap();
    assert!(asked.last().unwrap().2.contains("please mend part 0"));
}

#[tokio::test]
async fn only_one_process_writes_at_a_time() {
    let (log, _) = logged(17).await;
    let counting = willing();
    let mut writer = writer(&log, &counting);
    let claim = log.claim(&session().sibling(Class::Summary), &holder()).await.unwrap();
    let report = writer.write_missing(all()).await;
    assert!(matches!(&report.stopped, Some(WriteStop::Held(_))), "{report:?}");
    assert_eq!(counting.count(), 0);
    drop(claim);
    assert_eq!(writer.write_missing(all()).await.written, 2);
    // The stream is free again.
    drop(log.claim(&session().sibling(Class::Summary), &holder()).await.unwrap());
}

/// An event of the stream of summaries, as another process makes it.
fn of_another(written: SummaryWritten) -> Envelope {
    EventMaker::new(session().sibling(Class::Summary), 99).payload(&written.into(), None)
}

#[tokio::test]
async fn words_that_came_first_stay_and_paid_ones_are_not_lost() {
    let (log, _) = logged(17).await;
    // What two processes write when neither knows of the other.
    let (other, _) = logged(17).await;
    writer(&other, &willing()).write_missing(all()).await;
    let [first, second] = &written(&other).await[..] else { panic!("two groups") };
    let overtaken = |written: &SummaryWritten| {
        let words = SummaryWritten { text: "somebody else's".to_owned(), ..written.clone() };
        Arc::new(Counting::meeting([Fate::Overtaken(log.clone(), Box::new(of_another(words)))]))
    };

    // The same node: theirs stay, ours are dropped.
    let report = writer(&log, &overtaken(first)).write_missing(WriteLimits { max_nodes: 1, ..all() }).await;
    assert_eq!((report.written, report.cost_microusd), (1, 10), "{report:?}");
    let words = written(&log).await;
    assert_eq!(words.iter().map(|words| words.text.as_str()).collect::<Vec<_>>(), ["somebody else's"]);

    // Another node: ours are appended behind it.
    let (log, _) = logged(17).await;
    let theirs = SummaryWritten { text: "somebody else's".to_owned(), ..second.clone() };
    let overtaken = Arc::new(Counting::meeting([Fate::Overtaken(log.clone(), Box::new(of_another(theirs)))]));
    let report = writer(&log, &overtaken).write_missing(all()).await;
    assert!(report.stopped.is_none(), "{report:?}");
    assert_eq!(places(&written(&log).await), [(1, 1), (1, 0)]);
    assert_eq!(overtaken.count(), 1, "theirs need not be asked for");
}

#[tokio::test]
async fn words_for_other_events_count_for_nothing() {
    let (log, _) = logged(9).await;
    let (other, _) = logged(9).await;
    writer(&other, &willing()).write_missing(all()).await;
    let foreign = SummaryWritten { last_seq: 3, text: "foreign".to_owned(), ..written(&other).await.remove(0) };
    log.append(&[of_another(foreign)]).await.unwrap();
    let counting = willing();
    assert_eq!(writer(&log, &counting).write_missing(all()).await.written, 1);
    let mut known = KnownSummaries::of(&session());
    known.refresh(&log).await.unwrap();
    let node = known.applied(first_parent(&log).await);
    assert_eq!(node.words.as_deref(), Some("words for 1.0"));
}

#[tokio::test]
async fn words_are_stored_without_secrets_and_bounded() {
    #[derive(Debug)]
    struct Chatty;
    #[async_trait::async_trait]
    impl Summarize for Chatty {
        async fn summarize(
            &self,
            _: retrace_indexer::SummaryGroup<'_>,
        ) -> Result<retrace_indexer::SummaryWords, retrace_indexer::SummarizeError> {
            let text = format!("the key is {SECRET}; {}", "ä".repeat(100_000));
            Ok(retrace_indexer::SummaryWords { text, by: "chatty".to_owned(), cost_microusd: 0 })
        }
    }
    let (log, _) = logged(9).await;
    writer(&log, &Arc::new(Chatty)).write_missing(all()).await;
    let text = written(&log).await.remove(0).text;
    assert!(text.starts_with("the key is [redacted:known]; ä"), "{text:.80}");
    assert!(text.len() <= retrace_indexer::MAX_WORDS_BYTES);
}

#[tokio::test]
async fn a_log_that_fails_is_reported_and_nothing_is_paid_for_twice() {
    let (log, _) = logged(17).await;
    let counting = willing();
    let mut writer = writer(&log, &counting);
    log.fail_next(Fault::LoseAck);
    let report = writer.write_missing(WriteLimits { max_nodes: 1, ..all() }).await;
    assert_eq!(report.written, 1, "a lost ack is repeated: {report:?}");
    log.fail_next(Fault::Full);
    let report = writer.write_missing(all()).await;
    assert!(matches!(&report.stopped, Some(WriteStop::Log(_))), "{report:?}");
    assert_eq!(report.cost_microusd, 10);
    let report = writer.write_missing(WriteLimits { max_nodes: 99, max_cost_microusd: Some(0) }).await;
    assert_eq!((report.written, report.cost_microusd), (1, 0), "the words were kept");
    assert_eq!(counting.count(), 2);
    assert_eq!(places(&written(&log).await), [(1, 0), (1, 1)]);
}

/// The first node of level 1.
async fn first_parent(log: &MemoryLog) -> SummaryNode {
    let (mut cursor, redactor) = (SummaryCursor::new(session()), redactor());
    let events = log.read(&session(), 0, 1_000).await.unwrap();
    let mut nodes = events.into_iter().flat_map(|event| cursor.apply(&Event::decode(event).unwrap(), &redactor));
    nodes.find(|node| node.level == 1).unwrap()
}
