//! The index of one workspace's code: kept up to date, and asked what has changed.

use super::code_error::CodeError;
use super::code_report::{CodeProgress, CodeReport};
use super::manifest::{CodeChanges, Manifest};
use super::output::{Batches, Output};
use super::reading::{Reader, key};
use super::root::WorkspaceRoot;
use super::run;
use crate::document::Document;
use crate::keyword::{KeywordError, KeywordIndex, KeywordWriter};
use retrace_events::redact::Redactor;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError};
use std::thread;

/// What the engine may use for each of its threads, in bytes.
const THREAD_MEMORY_BYTES: usize = 48 * 1024 * 1024;
/// The most threads of the engine.
const MAX_WRITERS: usize = 4;
/// More paths than this are not remembered one by one; the whole workspace is looked at instead.
const MAX_TOUCHED: usize = 4_096;
/// A file has no more chunks than lines of 1 MiB.
const MAX_CHUNKS: usize = 1024 * 1024;

/// Takes secrets out of what is indexed; building it is dear.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(Vec::new()));

/// The index of one workspace's code. One process at a time writes it; others get [`CodeError::Busy`] and search.
#[derive(Debug)]
pub struct CodeIndex {
    folder: PathBuf,
    workspace: String,
    root: WorkspaceRoot,
    batches: Batches,
    /// Held by whoever updates.
    state: Mutex<State>,
    /// What an update that is running should look at soon.
    touched: Mutex<BTreeSet<String>>,
}

/// What an update begins with.
type Begun = (KeywordWriter, RwLock<Manifest>);

#[derive(Debug, Default)]
struct State {
    /// The files as of the last commit that was seen.
    manifest: Option<RwLock<Manifest>>,
    walks: u32,
}

impl CodeIndex {
    /// The index of the workspace at `root`, kept in `folder`, which need not exist. Nothing is read yet.
    ///
    /// # Errors
    /// [`CodeError::Workspace`] when there is no such folder.
    pub fn open(folder: &Path, root: &Path) -> Result<Self, CodeError> {
        let workspace = |source| CodeError::Workspace { path: root.to_owned(), source };
        // An index inside its own workspace would never be up to date.
        let left_out = [folder.to_owned()];
        Ok(Self {
            folder: folder.to_owned(),
            workspace: root.to_string_lossy().into_owned(),
            root: WorkspaceRoot::open(root).map_err(workspace)?.leaving_out(&left_out),
            batches: Batches::default(),
            state: Mutex::default(),
            touched: Mutex::default(),
        })
    }

    /// Leaves out these folders, too: where retrace keeps its own state, should that be inside the workspace.
    #[must_use]
    pub fn leaving_out(self, folders: &[PathBuf]) -> Self {
        Self { root: self.root.leaving_out(folders), ..self }
    }

    /// Commits as often as this says.
    #[cfg(test)]
    pub(super) fn with_batches(mut self, batches: Batches) -> Self {
        self.batches = batches;
        self
    }

    /// The folder with its keyword index.
    #[must_use]
    pub fn keyword_folder(&self) -> PathBuf {
        self.folder.join("keyword")
    }

    /// The workspace, as it was named.
    #[must_use]
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    pub(super) const fn root(&self) -> &WorkspaceRoot {
        &self.root
    }

    /// Its keyword index, to be searched; `None` before the first commit.
    ///
    /// # Errors
    /// The index is damaged; the next update builds it again.
    pub fn keyword(&self) -> Result<Option<KeywordIndex>, CodeError> {
        Ok(KeywordIndex::open(&self.keyword_folder())?)
    }

    /// Brings the index up to date with the workspace: only changed files are read, in parallel, and committed in batches,
    /// so that what is done can be searched meanwhile. Blocks until it is done, or until `listen` returns `Break`; it is
    /// called often.
    ///
    /// # Errors
    /// [`CodeError::Busy`] when another process is at it, and the index's and the disk's errors; what was committed stays.
    pub fn update(&self, listen: &mut dyn FnMut(&CodeProgress) -> ControlFlow<()>) -> Result<CodeReport, CodeError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.touched().clear();
        let report = self.run(&mut state, &[String::new()], listen)?;
        drop(state);
        self.settle()?;
        Ok(report)
    }

    /// Brings some files or folders up to date at once, whether they were written, renamed or deleted. Paths are relative
    /// to the workspace, or absolute; one that leads through links stands for what it leads to as well. While an update is
    /// running, it takes them in before anything else.
    ///
    /// # Errors
    /// As for [`CodeIndex::update`].
    pub fn touch<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) -> Result<CodeReport, CodeError> {
        let mut scopes: Vec<String> = paths.into_iter().filter_map(|path| self.relative(path.as_ref())).collect();
        if scopes.is_empty() {
            return Ok(CodeReport::default());
        }
        // What is written through a link is another file that has changed.
        let written: Vec<String> = scopes.iter().filter_map(|scope| self.root.behind_links(scope)).collect();
        scopes.extend(written);
        {
            let mut touched = self.touched();
            touched.extend(scopes);
            if touched.len() > MAX_TOUCHED {
                *touched = BTreeSet::from([String::new()]);
            }
        }
        let report = self.settle()?;
        Ok(report.unwrap_or_else(|| CodeReport { deferred: true, ..CodeReport::default() }))
    }

    /// Takes in what was touched, unless an update is running that will. Looks again afterwards: something may have been
    /// touched between its last look and its end.
    fn settle(&self) -> Result<Option<CodeReport>, CodeError> {
        let mut last = None;
        while !self.touched().is_empty() {
            let mut state = match self.state.try_lock() {
                Ok(state) => state,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return Ok(last),
            };
            let scopes: Vec<String> = std::mem::take(&mut *self.touched()).into_iter().collect();
            if !scopes.is_empty() {
                last = Some(self.run(&mut state, &scopes, &mut |_| ControlFlow::Continue(()))?);
            }
        }
        Ok(last)
    }

    fn run(
        &self,
        state: &mut State,
        scopes: &[String],
        listen: &mut dyn FnMut(&CodeProgress) -> ControlFlow<()>,
    ) -> Result<CodeReport, CodeError> {
        let is_all = scopes.iter().any(String::is_empty);
        let writers = if is_all { thread::available_parallelism().map_or(1, usize::from).min(MAX_WRITERS) } else { 1 };
        // If something fails, what is remembered is read again the next time.
        let (writer, manifest) = self.begin(state.manifest.take(), writers)?;
        state.walks = state.walks.wrapping_add(1).max(1);
        let mut output = Output::new(writer, &manifest, self.batches, state.walks);
        let reader = Reader { root: &self.root, workspace: &self.workspace, redactor: &REDACTOR };
        let urgent = || std::mem::take(&mut *self.touched()).into_iter().collect();
        run::update(&reader, &manifest, &mut output, scopes, &urgent, listen)?;
        let report = output.close()?;
        state.manifest = Some(manifest);
        Ok(report)
    }

    /// The writer and the files, of an empty index where the old one is of no use.
    fn begin(&self, known: Option<RwLock<Manifest>>, threads: usize) -> Result<Begun, CodeError> {
        match self.try_begin(known, threads) {
            Ok(Some(begun)) => return Ok(begun),
            Ok(None) => {
                tracing::warn!(folder = %self.folder.display(), "building the code index again: it is not ours")
            }
            Err(error) if error.needs_rebuild() => tracing::warn!(%error, "building the code index again"),
            Err(error) => return Err(error.into()),
        }
        let folder = self.keyword_folder();
        std::fs::remove_dir_all(&folder).map_err(|source| CodeError::Clear { path: folder.clone(), source })?;
        let damaged = || KeywordError::Damaged { folder, what: "it cannot be read after it was made".to_owned() };
        Ok(self.try_begin(None, threads)?.ok_or_else(damaged)?)
    }

    fn try_begin(&self, known: Option<RwLock<Manifest>>, threads: usize) -> Result<Option<Begun>, KeywordError> {
        let folder = self.keyword_folder();
        let writer = KeywordWriter::open_or_create(&folder, threads * THREAD_MEMORY_BYTES, threads)?;
        let Some(index) = KeywordIndex::open(&folder)? else {
            return Ok(Some((writer, RwLock::new(Manifest::new(&self.workspace)))));
        };
        // Another process may have written since.
        let known = known.filter(|known| read(known).is_of(&index));
        let manifest = match known {
            Some(known) => Some(known),
            None => Manifest::load(&index, &self.workspace)?.map(RwLock::new),
        };
        Ok(manifest.map(|manifest| (writer, manifest)))
    }

    /// What has changed since a generation, which an earlier call or report told; 0 asks for everything.
    ///
    /// # Errors
    /// The index is damaged; the next update builds it again.
    pub fn changed_since(&self, generation: u64) -> Result<CodeChanges, CodeError> {
        let Some(index) = self.keyword()? else { return Ok(CodeChanges::default()) };
        if let Some(nothing) = Manifest::nothing_since(generation, &index, &self.workspace) {
            return Ok(nothing);
        }
        let manifest = Manifest::load(&index, &self.workspace)?.unwrap_or_default();
        Ok(manifest.changes_since(generation))
    }

    /// The documents of a file, in its order, as `index` sees them.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn documents(index: &KeywordIndex, path: &str) -> Result<Vec<Document>, CodeError> {
        let mut documents: Vec<Document> = Vec::new();
        let mut line = 1;
        // Each chunk begins in the line behind the one before it.
        while documents.len() < MAX_CHUNKS
            && let Some(document) = index.by_key(&key(path, line))?
        {
            line = document.last_line.saturating_add(1).max(line.saturating_add(1));
            documents.push(document);
        }
        Ok(documents)
    }

    /// A path as the index names it; `None` when it is not in the workspace.
    pub(super) fn relative(&self, path: &Path) -> Option<String> {
        let relative = if path.is_absolute() {
            path.strip_prefix(self.root.path()).or_else(|_| path.strip_prefix(&self.workspace)).ok()?
        } else {
            path
        };
        let mut parts = Vec::new();
        for part in relative.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => parts.push(name.to_str()?),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(parts.join("/"))
    }

    fn touched(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(manifest: &RwLock<Manifest>) -> RwLockReadGuard<'_, Manifest> {
    manifest.read().unwrap_or_else(PoisonError::into_inner)
}
