//! The model, documents, and a source that holds them.

use crate::document::{Document, DocumentKind};
use crate::vector::vector_row::VectorRow;
use crate::vector::{ChangedCode, CodeSource, Embedder, EmbedderOptions, ModelChoice, SessionSource, SourceError};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The folder of the model that `.ci/setup model` puts there.
pub(super) fn model_folder() -> PathBuf {
    let named = std::env::var_os("RETRACE_EMBED_MODEL").map(PathBuf::from);
    let cached = std::env::var_os("RETRACE_CACHE").map(|cache| PathBuf::from(cache).join("model"));
    let home = || std::env::home_dir().expect("a home folder").join(".cache/retrace/model");
    let folder = named.or(cached).unwrap_or_else(home);
    assert!(folder.join("model.onnx").is_file(), "no model in {}; hint: run .ci/setup model", folder.display());
    folder
}

/// The real model, loaded once.
pub(super) fn embedder() -> Arc<Embedder> {
    static EMBEDDER: OnceLock<Arc<Embedder>> = OnceLock::new();
    let open = || {
        let choice = ModelChoice::Folder(model_folder());
        Arc::new(Embedder::open(&choice, &EmbedderOptions::default()).unwrap().unwrap())
    };
    Arc::clone(EMBEDDER.get_or_init(open))
}

/// A prompt of a session.
pub(super) fn prompt(stream: &str, position: u64, text: &str) -> Document {
    Document {
        key: format!("{stream}/{position}.0"),
        kind: DocumentKind::Prompt,
        stream: stream.to_owned(),
        workspace: "/work".to_owned(),
        seq: position,
        position,
        at_ms: 1_000 + i64::try_from(position).unwrap(),
        ordinal: position,
        text: text.to_owned(),
        ..Document::default()
    }
}

/// A row whose vector is given: no model needed.
pub(super) fn row(document: &Document, vector: Vec<f32>) -> VectorRow {
    VectorRow::of(document, "", vector)
}

/// A repeatable vector of length one.
pub(super) fn unit(seed: u64, dimensions: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
    };
    let vector: Vec<f32> = (0..dimensions).map(|_| next()).collect();
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.into_iter().map(|value| value / length).collect()
}

/// Documents of sessions in memory; counts how often it was asked.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) documents: Mutex<Vec<Document>>,
    pub(super) deletions: Mutex<Vec<(String, u64)>>,
    pub(super) asked: AtomicUsize,
}

impl Sessions {
    pub(super) fn of(documents: Vec<Document>) -> Arc<dyn SessionSource> {
        Arc::new(Self { documents: Mutex::new(documents), ..Self::default() })
    }
}

impl SessionSource for Sessions {
    fn documents_between(&self, first: u64, last: u64) -> Result<Vec<Document>, SourceError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let documents = self.documents.lock().unwrap();
        Ok(documents.iter().filter(|document| (first..=last).contains(&document.position)).cloned().collect())
    }

    fn deletions(&self) -> Result<Vec<(String, u64)>, SourceError> {
        Ok(self.deletions.lock().unwrap().clone())
    }
}

/// A workspace's code in memory: the lines of each file, and the generation that brought them.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) files: Mutex<BTreeMap<String, (u64, Vec<String>)>>,
    pub(super) gone: Mutex<Vec<(u64, String)>>,
    pub(super) generation: Mutex<u64>,
    /// Changes before this one are forgotten.
    pub(super) horizon: Mutex<u64>,
    pub(super) read: Mutex<Vec<String>>,
}

impl Code {
    pub(super) fn write(&self, path: &str, lines: &[&str]) {
        let mut generation = self.generation.lock().unwrap();
        *generation += 1;
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        self.files.lock().unwrap().insert(path.to_owned(), (*generation, lines));
    }

    pub(super) fn remove(&self, path: &str) {
        let mut generation = self.generation.lock().unwrap();
        *generation += 1;
        self.files.lock().unwrap().remove(path);
        self.gone.lock().unwrap().push((*generation, path.to_owned()));
    }
}

impl CodeSource for Code {
    fn changes_since(&self, generation: u64) -> Result<ChangedCode, SourceError> {
        let now = *self.generation.lock().unwrap();
        let is_complete = generation >= *self.horizon.lock().unwrap() && generation <= now;
        let since = if is_complete { generation } else { 0 };
        let files = self.files.lock().unwrap();
        let changed = files.iter().filter(|(_, (at, _))| *at > since).map(|(path, _)| path.clone()).collect();
        let gone = self.gone.lock().unwrap();
        let gone = gone.iter().filter(|(at, path)| *at > since && !files.contains_key(path));
        Ok(ChangedCode { generation: now, changed, gone: gone.map(|(_, path)| path.clone()).collect(), is_complete })
    }

    fn documents_of(&self, path: &str) -> Result<Vec<Document>, SourceError> {
        self.read.lock().unwrap().push(path.to_owned());
        let files = self.files.lock().unwrap();
        let lines = files.get(path).map(|(_, lines)| lines.clone()).unwrap_or_default();
        let document = |(index, text): (usize, String)| Document {
            key: format!("code/{path}#{}", index + 1),
            kind: DocumentKind::Code,
            workspace: "/work".to_owned(),
            paths: vec![path.to_owned()],
            first_line: u32::try_from(index + 1).unwrap(),
            text,
            ..Document::default()
        };
        Ok(lines.into_iter().enumerate().map(document).collect())
    }
}
