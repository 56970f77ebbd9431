//! The ways to search that are compared, and the indexes they need, brought from task to task.

use super::bare::Bare;
use super::measured::{Measured, MeasuredTask};
use super::texts::{is_product, texts};
use retrace_benches::localisation::{Checkout, LocalisationTask, base_commits, git_folder};
use retrace_indexer::{
    CodeIndex, CodeSource, Embedder, Filter, HitSource, IndexedCode, KeywordIndex, Query, SearchRequest, Source,
    Sources, VectorTable, VectorWorker, Within, WorkerOptions, retrieve,
};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// How many files, or hits, are looked at.
const DEEP: usize = 200;

/// Measures the tasks of one repository, the oldest first: then little is checked out and indexed from one to the next.
pub(crate) async fn measure(
    repository: &str,
    clone: &Path,
    tasks: &[(usize, &LocalisationTask)],
    embedder: Option<Arc<Embedder>>,
    measured: &mut Measured,
) {
    let Some(folder) = git_folder(clone) else {
        println!("{repository}: left out, there is no clone at LOCALISE_CLONES/{repository}");
        return;
    };
    let begun = Instant::now();
    let all: Vec<&LocalisationTask> = tasks.iter().map(|(_, task)| *task).collect();
    let bases = base_commits(&folder, &all).unwrap();
    let lost: Vec<&str> = all.iter().map(|task| task.id.as_str()).filter(|id| !bases.contains_key(*id)).collect();
    println!("{repository}: {} of {} tasks; no commit makes the changes of {lost:?}", bases.len(), tasks.len());
    let mut placed: Vec<_> =
        tasks.iter().filter_map(|(place, task)| Some((bases.get(&task.id)?, *place, *task))).collect();
    placed.sort_by_key(|(base, place, _)| (base.settled_at_s, *place));

    let scratch = tempfile::tempdir().unwrap();
    let checkout = Checkout::new(&folder, &scratch.path().join("work")).unwrap();
    let code = Code::new(checkout.tree(), &scratch.path().join("index"), embedder);
    let mut searched = Vec::new();
    for (base, place, task) in placed {
        checkout.go_to(&base.commit).unwrap();
        code.update().await;
        let found = code.ask(&task.issue, &texts(checkout.tree()), &mut searched).await;
        let (repository, changed) = (repository.to_owned(), task.files().map(str::to_owned).collect());
        measured.tasks.push(MeasuredTask { place, repository, changed, found });
    }
    searched.sort_unstable();
    let median_us = searched.get(searched.len() / 2).copied().unwrap_or_default();
    println!(
        "{repository}: {:.0} s; a search by words took {:.1} ms (median)",
        begun.elapsed().as_secs_f64(),
        median_us as f64 / 1e3
    );
}

/// The index of the code, as it is made for people.
struct Code {
    index: Arc<CodeIndex>,
    vectors: PathBuf,
    embedder: Option<Arc<Embedder>>,
}

impl Code {
    fn new(tree: &Path, folder: &Path, embedder: Option<Arc<Embedder>>) -> Self {
        let index = Arc::new(CodeIndex::open(&folder.join("code"), tree).unwrap());
        Self { index, vectors: folder.join("vectors"), embedder }
    }

    async fn update(&self) {
        self.index.update(&mut |_| ControlFlow::Continue(())).unwrap();
        if let Some(embedder) = &self.embedder {
            let options = WorkerOptions { rest_percent: 0, ..WorkerOptions::default() };
            let mut worker = VectorWorker::open(&self.vectors, Arc::clone(embedder), options).await.unwrap().unwrap();
            let source: Arc<dyn CodeSource> = Arc::new(IndexedCode(Arc::clone(&self.index)));
            worker.fill_code(&source, &mut |_| {}).await.unwrap();
        }
    }

    /// The files that each way finds. The last ones are what a search in the code gives.
    async fn ask(
        &self,
        issue: &str,
        files: &[(String, String)],
        searched_us: &mut Vec<u128>,
    ) -> Vec<(&'static str, Vec<String>)> {
        let keyword = self.index.keyword().unwrap().unwrap();
        let bare = Bare::of(files.iter()).search(issue, DEEP);
        let product = Bare::of(files.iter().filter(|(path, _)| is_product(path))).search(issue, DEEP);
        let hits = keyword.search(&Query::plain(issue), &Filter::default(), DEEP).unwrap();
        let documents = keyword.documents(&hits.into_iter().map(|hit| hit.address).collect::<Vec<_>>()).unwrap();
        let chunks = distinct(documents.into_iter().flat_map(|document| document.paths));
        let begun = Instant::now();
        let words = self.retrieved(issue, keyword.clone(), None).await;
        searched_us.push(begun.elapsed().as_micros());
        let mut found = vec![
            ("bare BM25 (tantivy)", bare),
            ("the same, Python without tests", product),
            ("keyword over chunks", chunks),
            ("retrieval by words", words),
        ];
        if let Some(embedder) = &self.embedder {
            let table = VectorTable::open(&self.vectors, embedder.id(), embedder.dimensions()).await.unwrap().unwrap();
            found.push(("retrieval", self.retrieved(issue, keyword, Some(Arc::new(table))).await));
        }
        found
    }

    async fn retrieved(&self, issue: &str, keyword: KeywordIndex, vectors: Option<Arc<VectorTable>>) -> Vec<String> {
        let embedder = self.embedder.clone().filter(|_| vectors.is_some());
        let sources = Sources { code: vec![Source { keyword, vectors }], embedder, ..Sources::default() };
        let filter = Filter { within: vec![Within::Code], ..Filter::default() };
        let request = SearchRequest { query: Query::plain(issue), filter, limit: DEEP, ..SearchRequest::default() };
        let hits = retrieve(&sources, &request).await.hits;
        distinct(hits.into_iter().filter_map(|hit| match hit.source {
            HitSource::File { path, .. } => Some(path),
            HitSource::Event { .. } | HitSource::Summary { .. } => None,
        }))
    }
}

/// Each path where it stands first.
fn distinct(paths: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    paths.filter(|path| seen.insert(path.clone())).collect()
}
