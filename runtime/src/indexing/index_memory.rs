//! What the agent remembers: its tool `recall` asks the index here.
//!
//! A session sees the sessions of its own workspace, itself, those it was forked from wherever they worked, and the code of its
//! workspace. Whoever keeps the index up to date is somebody else: a question waits a moment for it, and how far it lags then is said.

use crate::tools::{Memories, Memory, MemoryError, MemoryQuestion};
use async_trait::async_trait;
use retrace_events::log::{Position, StreamFilter};
use retrace_events::mint::{Mint as _, SystemMint};
use retrace_events::payload::{Payload, Session};
use retrace_events::{Class, Event, EventLog, LogError, StreamId};
use retrace_indexer::{
    Filter, Hit, IndexFolder, IndexModel, Notice, Query, SearchIndex, SearchRequest, WriterLock, lineage,
};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a question waits for an index that somebody is bringing up to date.
const CATCH_UP_WAIT: Duration = Duration::from_secs(1);

/// How often it looks.
const CATCH_UP_POLL: Duration = Duration::from_millis(25);

/// Answers from the index over a log.
pub(crate) struct IndexMemory {
    log: Arc<dyn EventLog>,
    /// The folder that all indexes lie beneath.
    state: PathBuf,
    model: Arc<IndexModel>,
    /// Names of files that a session may not read, so it is not told what is in them either.
    mask: Vec<String>,
    /// What was opened before, by workspace.
    opened: Mutex<HashMap<String, Arc<SearchIndex>>>,
}

/// What a session may be told of.
struct Past {
    /// Its workspace.
    workspace: String,
    /// The sessions it was forked from, the nearest first.
    parents: Vec<StreamId>,
    /// Those of them that worked elsewhere.
    elsewhere: Vec<StreamId>,
}

impl IndexMemory {
    /// A memory of what is in `log`, indexed beneath `state`, without files of the names in `mask`.
    pub(crate) fn new(log: Arc<dyn EventLog>, state: PathBuf, model: Arc<IndexModel>, mask: Vec<String>) -> Self {
        Self { log, state, model, mask, opened: Mutex::default() }
    }

    async fn past(&self, own: &StreamId) -> Result<Past, LogError> {
        let workspace = self.workspace(own).await?;
        let (mut parents, mut elsewhere) = (Vec::new(), Vec::new());
        for (parent, _) in lineage(self.log.as_ref(), own).await? {
            if self.workspace(&parent).await? != workspace {
                elsewhere.push(parent.clone());
            }
            parents.push(parent);
        }
        Ok(Past { workspace, parents, elsewhere })
    }

    /// Where a session works, as its first event has it.
    async fn workspace(&self, stream: &StreamId) -> Result<String, LogError> {
        let Some(first) = self.log.read(stream, 0, 1).await?.into_iter().next() else { return Ok(String::new()) };
        let event = Event::decode(first)?;
        Ok(match event.payload.known() {
            Some(Payload::Session(Session::Started(started))) => started.workspace.clone(),
            Some(Payload::Session(Session::Forked(forked))) => forked.workspace.clone(),
            _ => String::new(),
        })
    }

    /// The session that `name` begins, among those that may be asked about.
    async fn named(&self, own: &StreamId, past: &Past, name: &str) -> Result<StreamId, MemoryError> {
        let filter = StreamFilter {
            tenant: Some(own.tenant.clone()),
            project: Some(own.project.clone()),
            class: Some(Class::Session),
            id: None,
        };
        let streams = self.log.streams(&filter).await.map_err(failed)?;
        let mut known: Vec<StreamId> = streams.into_iter().map(|info| info.stream).collect();
        known.extend(past.parents.iter().cloned());
        known.sort();
        known.dedup();
        let name = name.to_lowercase();
        let begins = |stream: &&StreamId| {
            let id = stream.id.as_str();
            id.starts_with(&name) || id.split_once('-').is_some_and(|(_, random)| random.starts_with(&name))
        };
        let found: Vec<&StreamId> = known.iter().filter(begins).collect();
        match found[..] {
            [only] => Ok(only.clone()),
            [] => Err(MemoryError::NoSuchSession(name)),
            _ => Err(MemoryError::Ambiguous(name, found.len())),
        }
    }

    fn index(&self, workspace: &str) -> Arc<SearchIndex> {
        let open = || {
            let sessions = IndexFolder::of_log(&self.state, &self.log.location());
            let code = IndexFolder::of_code(&self.state, Path::new(workspace));
            Arc::new(SearchIndex::new(sessions, vec![code], Arc::clone(&self.model)))
        };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(opened.entry(workspace.to_owned()).or_insert_with(open))
    }

    /// Waits a moment for the index to have the events up to `end`, when somebody is at it: what was said just now is what is
    /// asked for most, and a short session may be over before its first commit.
    async fn wait_for(&self, index: &SearchIndex, end: Position) {
        let lock = IndexFolder::of_log(&self.state, &self.log.location()).lock_file();
        let until = Instant::now() + CATCH_UP_WAIT;
        while index.position().await < end && Instant::now() < until && WriterLock::holder(&lock).is_some() {
            tokio::time::sleep(CATCH_UP_POLL).await;
        }
    }
}

#[async_trait]
impl Memory for IndexMemory {
    async fn search(&self, own: &StreamId, question: MemoryQuestion) -> Result<Memories, MemoryError> {
        let past = self.past(own).await.map_err(failed)?;
        let session = match &question.session {
            Some(name) => Some(self.named(own, &past, name).await?),
            None => None,
        };
        let index = self.index(&past.workspace);
        let end = self.log.end().await.map_err(failed)?;
        if question.patient {
            self.wait_for(&index, end).await;
        }
        let now = SystemMint.now();
        let request = SearchRequest {
            query: Query::parse(&question.query, now),
            own: Some(own.subject()),
            lineage: past.parents.iter().map(StreamId::subject).collect(),
            limit: question.limit,
            budget_tokens: Some(question.budget_tokens),
            now_ms: i64::try_from(now.0).unwrap_or(i64::MAX),
            ..SearchRequest::default()
        };
        let mut memories = Memories::default();
        let mut absent = false;
        let scopes = past.scopes(session.as_ref());
        for scope in &scopes {
            let mut filter = question.filter.clone().merge(scope);
            filter.not_paths.extend(self.mask.iter().cloned());
            let found = index.search(&SearchRequest { filter, ..request.clone() }).await;
            absent |= found.notices.contains(&Notice::NoSessions);
            memories.hits.extend(found.hits);
            memories.hear(&found.notices);
        }
        if absent && memories.hits.is_empty() && memories.notices.is_empty() {
            return Err(MemoryError::Absent);
        }
        if scopes.len() > 1 {
            best(&mut memories.hits, question.limit);
        }
        memories.behind = end.0.saturating_sub(index.position().await.0);
        Ok(memories)
    }
}

impl Past {
    /// What may be seen: this workspace, and what the session was forked from elsewhere; or one session of them.
    fn scopes(&self, session: Option<&StreamId>) -> Vec<Filter> {
        if let Some(session) = session {
            return vec![Filter { sessions: vec![session.subject()], ..Filter::default() }];
        }
        let mut scopes = vec![Filter { workspace: Some(self.workspace.clone()), ..Filter::default() }];
        if !self.elsewhere.is_empty() {
            let sessions = self.elsewhere.iter().map(StreamId::subject).collect();
            scopes.push(Filter { sessions, ..Filter::default() });
        }
        scopes
    }
}

impl Memories {
    /// Takes in what the model should hear of: that there is no model or no code is nothing it could change.
    fn hear(&mut self, notices: &[Notice]) {
        for notice in notices {
            match notice {
                Notice::Query(_) | Notice::Rebuild { .. } | Notice::Failed { .. } => {
                    let words = notice.to_string();
                    if !self.notices.contains(&words) {
                        self.notices.push(words);
                    }
                }
                Notice::NoSessions | Notice::NoCode | Notice::WordsOnly | Notice::Trace(_) => {}
            }
        }
    }
}

/// The best of what several scopes gave, each once.
fn best(hits: &mut Vec<Hit>, limit: usize) {
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
    let mut seen = HashSet::new();
    hits.retain(|hit| seen.insert(hit.key.clone()));
    hits.truncate(limit);
}

fn failed(error: LogError) -> MemoryError {
    MemoryError::Failed(error.to_string())
}
