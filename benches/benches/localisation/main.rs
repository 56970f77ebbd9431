//! Which files must be changed to settle an issue: issues of SWE-bench Lite's django, flask, requests and pytest are asked as they
//! were written, of the code as it was before they were settled. A task counts at k when all changed files are among the
//! first k.
//!
//! `LOCALISE_TASKS=<swebench_lite_classifications.csv of OpenAutoCoder/Agentless> LOCALISE_CLONES=<folder with clones named django,
//! flask, requests and pytest; bare ones will do> cargo bench -p retrace-benches --bench localisation`; left out without them, and so
//! is each repository without a clone. `RETRACE_EMBED_MODEL=<folder>` adds vectors, for the repositories named by
//! `LOCALISE_VECTORS` (`flask,requests,pytest`; all of django takes hours). Clones are only read.
//!
//! Weights were chosen by the even tasks, in the order of their names, with the figures of the odd ones in sight. Both are printed.
//! Intervals are 95%, of the difference to the last way, bootstrapped over tasks, the same ones for both.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

mod bare;
#[path = "../retrieval/figures.rs"]
#[allow(dead_code, reason = "shared with the benchmark of retrieval, which counts at other places")]
mod figures;
mod measured;
mod texts;
mod ways;

use measured::Measured;
use retrace_benches::localisation::{LocalisationTask, localisation_tasks};
use retrace_indexer::{Embedder, EmbedderOptions, ModelChoice};
use std::path::PathBuf;
use std::sync::Arc;

/// The repositories that are asked.
const REPOSITORIES: [&str; 4] = ["flask", "requests", "pytest", "django"];

#[tokio::main]
async fn main() {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(table), Some(clones)) = (path("LOCALISE_TASKS"), path("LOCALISE_CLONES")) else {
        println!("localisation: skipped: LOCALISE_TASKS=<table> and LOCALISE_CLONES=<folder> name no tasks and clones");
        return;
    };
    let mut tasks = localisation_tasks(&table).unwrap();
    tasks.retain(|task| REPOSITORIES.contains(&task.repository.as_str()));
    let embedder = embedder();
    let with_vectors = std::env::var("LOCALISE_VECTORS").unwrap_or_else(|_| "flask,requests,pytest".to_owned());
    let mut measured = Measured::default();
    for repository in REPOSITORIES {
        let own: Vec<(usize, &LocalisationTask)> =
            tasks.iter().enumerate().filter(|(_, task)| task.repository == repository).collect();
        let embedder = embedder.clone().filter(|_| with_vectors.split(',').any(|name| name == repository));
        ways::measure(repository, &clones.join(repository), &own, embedder, &mut measured).await;
    }
    measured.print();
}

fn embedder() -> Option<Arc<Embedder>> {
    let choice = ModelChoice::from_setting(std::env::var("RETRACE_EMBED_MODEL").ok().as_deref());
    let options = EmbedderOptions { threads: 2, ..EmbedderOptions::default() };
    let embedder = Embedder::open(&choice, &options).unwrap();
    if embedder.is_none() {
        println!("vectors: left out, RETRACE_EMBED_MODEL names no model");
    }
    embedder.map(Arc::new)
}
