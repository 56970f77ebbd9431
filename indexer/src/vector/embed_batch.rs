//! One batch of the background's work: documents are read, shortened to gists, and embedded, in a thread of its own that
//! gives way to everything else on the machine.

use super::embed_error::EmbedError;
use super::embedder::Embedder;
use super::gist::gist;
use super::vector_error::VectorError;
use super::vector_row::VectorRow;
use super::vector_source::SourceError;
use crate::document::Document;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::oneshot;

/// After how many texts the thread looks whether somebody still waits for it.
const LOOK_UP_EVERY: usize = 64;
/// How far the thread steps back behind others, as `nice` counts it.
const NICENESS: i32 = 10;

/// A document and the version of its file.
pub(super) type Versioned = (Document, String);

/// What became of a batch.
#[derive(Debug, Default)]
pub(super) struct EmbeddedBatch {
    /// What goes into the table.
    pub(super) rows: Vec<VectorRow>,
    /// How many documents were read.
    pub(super) documents: usize,
    /// How many the model could not take.
    pub(super) refused: usize,
}

/// Reads documents and embeds their gists. When the future is dropped, the thread ends within some tens of texts.
pub(super) async fn embed_batch(
    embedder: &Arc<Embedder>,
    folder: &Path,
    read: impl FnOnce() -> Result<Vec<Versioned>, SourceError> + Send + 'static,
) -> Result<EmbeddedBatch, VectorError> {
    let (sender, receiver) = oneshot::channel();
    let embedder = Arc::clone(embedder);
    let thread = std::thread::Builder::new().name("retrace-embed".to_owned()).spawn(move || {
        step_back();
        let made = read().map_err(|error| VectorError::Source(super::embed_error::one_line(&error)));
        let made = made.and_then(|documents| embed(&embedder, documents, || sender.is_closed()));
        // Nobody may be waiting any more.
        drop(sender.send(made));
    });
    thread.map_err(|error| VectorError::io(folder, error))?;
    receiver.await.unwrap_or_else(|_| Err(VectorError::Embed(EmbedError::Embed("its thread broke off".to_owned()))))
}

fn embed(
    embedder: &Embedder,
    documents: Vec<Versioned>,
    is_unwanted: impl Fn() -> bool,
) -> Result<EmbeddedBatch, VectorError> {
    let mut batch = EmbeddedBatch { documents: documents.len(), ..EmbeddedBatch::default() };
    let with_gists: Vec<(Versioned, String)> =
        documents.into_iter().filter_map(|document| gist(&document.0).map(|gist| (document, gist))).collect();
    for part in with_gists.chunks(LOOK_UP_EVERY) {
        if is_unwanted() {
            return Ok(batch);
        }
        let gists: Vec<String> = part.iter().map(|(_, gist)| gist.clone()).collect();
        for ((document, revision), vector) in part.iter().map(|(document, _)| document).zip(vectors(embedder, &gists)?)
        {
            match vector {
                Some(vector) => batch.rows.push(VectorRow::of(document, revision, vector)),
                None => batch.refused += 1,
            }
        }
    }
    Ok(batch)
}

/// The vectors of gists. One that the model cannot take is left out: it must not keep all the others waiting.
///
/// # Errors
/// When the model takes none of them.
fn vectors(embedder: &Embedder, gists: &[String]) -> Result<Vec<Option<Vec<f32>>>, VectorError> {
    match embedder.embed(gists) {
        Ok(vectors) => Ok(vectors.into_iter().map(Some).collect()),
        Err(error) => {
            let one = |gist: &String| embedder.query(gist).ok();
            let singly: Vec<_> = gists.iter().map(one).collect();
            if singly.iter().all(Option::is_none) { Err(error.into()) } else { Ok(singly) }
        }
    }
}

/// Lets others have the processor first. On Linux this is the calling thread's own, and it ends with the batch.
fn step_back() {
    // Where that is not allowed, the work is done all the same.
    let _ = rustix::process::setpriority_process(None, NICENESS);
}
