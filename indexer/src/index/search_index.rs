//! The indexes, opened as they are needed and read at their newest commit with each search. What is missing or damaged is
//! said in the answer's notices; the rest answers.

use super::index_model::IndexModel;
use crate::follow::{IndexFolder, IndexNote};
use crate::keyword::{KeywordError, KeywordIndex};
use crate::retrieve::{Found, Notice, SearchRequest, Source, Sources, retrieve};
use crate::vector::{Embedder, VectorTable};
use retrace_events::log::Position;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;

/// What can be searched.
#[derive(Debug)]
pub struct SearchIndex {
    sessions: IndexFolder,
    code: Vec<IndexFolder>,
    model: Arc<IndexModel>,
    opened: Mutex<Opened>,
}

/// What was opened before.
#[derive(Default)]
struct Opened {
    keyword: HashMap<PathBuf, KeywordIndex>,
    vectors: HashMap<PathBuf, Arc<VectorTable>>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("keyword", &self.keyword.keys()).field("vectors", &self.vectors.keys()).finish()
    }
}

impl SearchIndex {
    /// The index over `sessions` and those over the code of workspaces. Nothing is opened yet.
    #[must_use]
    pub fn new(sessions: IndexFolder, code: Vec<IndexFolder>, model: Arc<IndexModel>) -> Self {
        Self { sessions, code, model, opened: Mutex::default() }
    }

    /// What fits `request` best, of what the indexes hold now. Never fails: what is missing is in the notices.
    pub async fn search(&self, request: &SearchRequest) -> Found {
        let (sources, notices) = self.sources().await;
        let mut found = retrieve(&sources, request).await;
        found.notices.extend(notices);
        found
    }

    /// The position that the index over sessions reflects; 0 without one.
    pub async fn position(&self) -> Position {
        let mut opened = self.opened.lock().await;
        let keyword = opened.keyword(&self.sessions.keyword()).ok().flatten();
        keyword.and_then(|index| IndexNote::parse(&index.note())).map_or(Position(0), |note| note.position)
    }

    /// Everything that can be asked now, and what is to be said of the rest.
    pub async fn sources(&self) -> (Sources, Vec<Notice>) {
        let mut notices = Vec::new();
        let embedder = match self.model.embedder().await {
            Ok(embedder) => embedder,
            Err(problem) => {
                if self.model.tells_now() {
                    notices.push(Notice::Failed { part: "the embedding model", problem });
                }
                None
            }
        };
        let mut opened = self.opened.lock().await;
        let sessions = opened.source(&self.sessions, embedder.as_deref(), &mut notices).await;
        let mut code = Vec::new();
        for folder in &self.code {
            code.extend(opened.source(folder, embedder.as_deref(), &mut notices).await);
        }
        (Sources { sessions, code, embedder }, notices)
    }
}

impl Opened {
    async fn source(
        &mut self,
        folder: &IndexFolder,
        embedder: Option<&Embedder>,
        notices: &mut Vec<Notice>,
    ) -> Option<Source> {
        let keyword = match self.keyword(&folder.keyword()) {
            Ok(keyword) => keyword?,
            Err(error) => {
                let (folder, problem) = (folder.keyword(), error.to_string());
                notices.push(if error.needs_rebuild() {
                    Notice::Rebuild { folder, problem }
                } else {
                    Notice::Failed { part: "one of the keyword indexes", problem }
                });
                return None;
            }
        };
        let vectors = match embedder {
            Some(embedder) => self.vectors(&folder.vectors(), embedder, notices).await,
            None => None,
        };
        Some(Source { keyword, vectors })
    }

    /// The keyword index in `folder`, at its newest commit; `None` when there is none.
    fn keyword(&mut self, folder: &Path) -> Result<Option<KeywordIndex>, KeywordError> {
        if let Some(index) = self.keyword.get(folder) {
            if index.reload().is_ok() {
                return Ok(Some(index.clone()));
            }
            // Made again under our hands, or damaged: opening it tells which.
            self.keyword.remove(folder);
        }
        let index = KeywordIndex::open(folder)?;
        if let Some(index) = &index {
            self.keyword.insert(folder.to_path_buf(), index.clone());
        }
        Ok(index)
    }

    async fn vectors(
        &mut self,
        folder: &Path,
        embedder: &Embedder,
        notices: &mut Vec<Notice>,
    ) -> Option<Arc<VectorTable>> {
        if let Some(table) = self.vectors.get(folder).filter(|table| table.folder().exists()) {
            return Some(Arc::clone(table));
        }
        match VectorTable::open(folder, embedder.id(), embedder.dimensions()).await {
            Ok(Some(table)) => {
                let table = Arc::new(table);
                self.vectors.insert(folder.to_path_buf(), Arc::clone(&table));
                Some(table)
            }
            Ok(None) => None,
            Err(error) => {
                notices.push(Notice::Failed { part: "the vectors", problem: error.to_string() });
                None
            }
        }
    }
}
