//! Nodes as documents, and words that a model wrote for them.

use super::super::{EXTRACTIVE, Extractive, MAX_WORDS_BYTES, Summarize, SummaryGroup, SummaryNode};
use super::made::{events, long, prompt, tree};
use crate::DocumentKind;
use retrace_events::payload::summary::SummaryWritten;
use retrace_events::testing::EventMaker;
use retrace_events::{Class, Event};

/// The first parent of a session, and its children.
fn group() -> (SummaryNode, Vec<SummaryNode>) {
    let (nodes, _) = tree(&events(&long(8)));
    let (leaves, parents): (Vec<SummaryNode>, Vec<SummaryNode>) = nodes.into_iter().partition(|node| node.level == 0);
    (parents[0].clone(), leaves[..8].to_vec())
}

fn written(node: &SummaryNode, text: &str) -> SummaryWritten {
    SummaryWritten {
        session: node.stream.clone(),
        level: node.level,
        index: node.index,
        first_seq: node.first_seq,
        last_seq: node.last_seq,
        text: text.to_owned(),
        evidence: node.digest.evidence(),
        by: "claude-example-1".to_owned(),
        cost_microusd: 12,
    }
}

#[test]
fn a_document_names_its_events_files_and_words() {
    let (node, _) = group();
    let document = node.to_document(77, "/w");
    assert_eq!(document.key, format!("summary/{}/1.0", node.stream));
    assert_eq!((document.kind, document.position, document.workspace.as_str()), (DocumentKind::Summary, 77, "/w"));
    assert_eq!((document.seq, document.step, document.at_ms), (0, 1, node.last_at_ms));
    assert_eq!(document.event, node.first_event.to_string());
    assert!(document.text.contains("please mend part 0 of the parser"), "{}", document.text);
    assert_eq!(document.ordinal, 2 << 32, "beside its neighbours, and never in place of a part of the session");
}

#[test]
fn words_of_a_model_stand_before_what_they_rest_on() {
    let (node, _) = group();
    let words = written(&node, " The parser was mended part by part. ");
    let told = node.clone().with_words(&words);
    assert_eq!(
        (told.by.as_str(), told.words.as_deref()),
        ("claude-example-1", Some("The parser was mended part by part."))
    );
    assert_eq!((&told.digest, &told.key()), (&node.digest, &node.key()), "the same node");
    let text = told.text(1_000);
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    assert!(place("part by part") < place("the user's words"));
    for max_chars in [0, 1, 60, 61, 100, 200, 10_000] {
        assert!(told.text(max_chars).chars().count() <= max_chars);
    }
    assert_eq!(told.text(usize::MAX), text);
}

#[test]
fn words_for_another_place_are_not_taken() {
    let (node, _) = group();
    let right = written(&node, "words");
    let wrong = [
        SummaryWritten { level: 2, ..right.clone() },
        SummaryWritten { index: 1, ..right.clone() },
        SummaryWritten { last_seq: right.last_seq + 1, ..right.clone() },
        SummaryWritten { session: node.stream.sibling(Class::Summary), ..right.clone() },
        SummaryWritten { text: " \n".to_owned(), ..right.clone() },
    ];
    for words in wrong {
        assert_eq!(node.clone().with_words(&words), node, "{words:?}");
    }
    let long =
        node.clone().with_words(&SummaryWritten { text: "wörter ".repeat(10_000), by: "m".repeat(9_000), ..right });
    assert!(long.words.unwrap().len() <= MAX_WORDS_BYTES && long.by.len() <= 200);
}

#[test]
fn an_event_with_words_is_a_document_of_its_own() {
    let (node, _) = group();
    let mut maker = EventMaker::new(node.stream.sibling(Class::Summary), 3);
    let mut event = |payload| Event::decode(maker.payload(&payload, None)).unwrap();
    let told = SummaryNode::of_written(&event(written(&node, "part by part").into())).unwrap();
    let document = told.to_document(99, "/w");
    assert_eq!(document.key, format!("{}/claude-example-1", node.key()));
    assert_eq!(document.stream, node.stream.to_string(), "it is found with its session");
    assert!(document.text.contains("part by part"));
    assert!(SummaryNode::of_written(&event(written(&node, "  ").into())).is_none());
    assert!(SummaryNode::of_written(&event(prompt("no summary"))).is_none());
}

#[tokio::test]
async fn the_extractive_summarizer_says_what_the_digest_says() {
    let (node, children) = group();
    let words = Extractive.summarize(SummaryGroup { node: &node, children: &children }).await.unwrap();
    assert_eq!((words.by.as_str(), words.cost_microusd), (EXTRACTIVE, 0));
    assert_eq!(words.text, node.text(4_000));
}
