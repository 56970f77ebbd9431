//! Where hits stand.

use super::{code, document, stream};
use crate::document::{Document, DocumentKind};
use crate::retrieve::{HitSource, ScoreParts};
use crate::summary::SummaryCursor;
use retrace_events::Event;
use retrace_events::redact::Redactor;
use retrace_events::testing::{EventMaker, example_stream};

#[test]
fn events_and_files_say_where_they_are() {
    let event = HitSource::of(&document("one", 7, DocumentKind::Answer, "yes"));
    assert_eq!(event, HitSource::Event { stream: stream("one"), seq: 7, event: "event-7".to_owned() });
    let file = HitSource::of(&code("src/lib.rs", 10, "fn main() {}"));
    assert_eq!(file, HitSource::File { path: "src/lib.rs".to_owned(), first_line: 10, last_line: 19 });
}

#[test]
fn a_summary_says_which_events_it_covers() {
    let summary = Document {
        kind: DocumentKind::Summary,
        stream: stream("one"),
        seq: 3,
        ordinal: 2 << 32 | 5,
        step: 1,
        text: "steps 1–8, events #3–#57, 12:00\nuser: the caret".to_owned(),
        ..Document::default()
    };
    let source = HitSource::of(&summary);
    assert_eq!(source, HitSource::Summary { stream: stream("one"), level: 1, index: 5, first_seq: 3, last_seq: 57 });
    // A heading that is not one of ours cannot say anything that is not so.
    for text in ["", "events #3–#2", "events #3–#x", "steps", "events #3–#99999999999999999999999"] {
        let source = HitSource::of(&Document { text: text.to_owned(), ..summary.clone() });
        let HitSource::Summary { last_seq, .. } = source else { panic!("{source:?}") };
        assert_eq!(last_seq, 3, "{text}");
    }
}

#[test]
fn the_summaries_that_are_written_say_it_in_these_words() {
    let (stream, redactor) = (example_stream("summed-up"), Redactor::new(Vec::new()));
    let mut cursor = SummaryCursor::new(stream.clone());
    let events = EventMaker::new(stream, 7).prompts(100).into_iter().map(|envelope| Event::decode(envelope).unwrap());
    let nodes: Vec<_> = events.flat_map(|event| cursor.apply(&event, &redactor)).collect();
    assert!(nodes.iter().any(|node| node.level > 0 && node.last_seq > node.first_seq));
    for node in nodes {
        let source = HitSource::of(&node.to_document(1, "/work"));
        let HitSource::Summary { level, index, first_seq, last_seq, .. } = source else { panic!("{source:?}") };
        assert_eq!((level, index), (u64::from(node.level), node.index));
        assert_eq!((first_seq, last_seq), (node.first_seq, node.last_seq));
    }
}

#[test]
fn the_parts_make_the_score() {
    let parts = ScoreParts { keyword: 1.0, window: 0.5, substance: -0.25, lineage: 0.5, ..ScoreParts::default() };
    assert_eq!(parts.total(), 1.75);
    assert_eq!(parts.named().len() * size_of::<f32>(), size_of::<ScoreParts>(), "each part has a name");
}
