//! LoCoMo: which of the turns that hold the answer are among the first so many. Each conversation is an index of its own, as its
//! authors mean it.

use super::arms::{Asked, FoundEvent, events};
use super::bare::Bare;
use super::figures::{Arm, PLACES, print};
use super::indexes::sources;
use retrace_benches::locomo::{LocomoConversation, locomo_conversations};
use retrace_benches::stream;
use retrace_indexer::{Document, DocumentKind, Embedder, Filter};
use std::path::Path;
use std::sync::Arc;

pub(crate) async fn measure(file: &Path, folder: &Path, embedder: Option<Arc<Embedder>>) {
    let names = ["recency", "bare BM25 (tantivy)", "keyword", "keyword and windows", "vector", "fusion"];
    let mut arms: Vec<Arm> = names.map(|name| Arm { name, rows: Vec::new() }).into();
    let mut clusters = Vec::new();
    for conversation in locomo_conversations(file).unwrap() {
        let documents = documents(&conversation);
        let sources = sources(&folder.join(&conversation.id), &documents, embedder.clone()).await;
        let bare = Bare::of(&documents);
        for question in &conversation.questions {
            let now_ms = documents.last().map_or(0, |document| document.at_ms);
            let asked = Asked {
                sources: &sources,
                bare: &bare,
                documents: &documents,
                words: &question.text,
                filter: Filter::default(),
                now_ms,
            };
            let (fused, windows) = asked.fusion().await;
            let vector = asked.vector().await;
            let lists = [
                Some(events(documents.iter().rev())),
                Some(asked.bare()),
                Some(asked.keyword()),
                Some(windows),
                vector,
                Some(fused),
            ];
            for (arm, list) in arms.iter_mut().zip(lists) {
                arm.rows.extend(list.map(|list| recall(&list, &question.evidence)));
            }
            clusters.push(clusters.len());
        }
    }
    arms.retain(|arm| !arm.rows.is_empty());
    print("LoCoMo, recall", &["@5", "@10", "@20", "@50"], &arms, &clusters);
}

fn documents(conversation: &LocomoConversation) -> Vec<Document> {
    let stream = stream(&conversation.id).subject();
    let document = |(place, turn): (u64, &retrace_benches::locomo::LocomoTurn)| Document {
        key: format!("{stream}/{place}.0"),
        kind: if turn.is_first_speaker { DocumentKind::Prompt } else { DocumentKind::Answer },
        stream: stream.clone(),
        seq: place,
        event: format!("{place}"),
        position: place + 1,
        ordinal: place,
        at_ms: turn.at_ms,
        text: turn.text.clone(),
        ..Document::default()
    };
    (0..).zip(&conversation.turns).map(document).collect()
}

fn recall(list: &[FoundEvent], evidence: &[usize]) -> Vec<f64> {
    let share = |place: usize| {
        let found = list.iter().take(place).filter(|event| evidence.iter().any(|turn| *turn as u64 == event.seq));
        found.count() as f64 / evidence.len() as f64
    };
    PLACES.map(share).into()
}
