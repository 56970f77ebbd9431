//! What a session may be told of the past, against a real index: its own workspace and line of forks, and nothing else.

use crate::indexing::IndexMemory;
use crate::tools::{Memories, Memory as _, MemoryError, MemoryQuestion};
use retrace_events::log::{Holder, MemoryLog};
use retrace_events::payload::session::{SessionForkReason, SessionForked, SessionStarted};
use retrace_events::payload::turn::{PromptSource, TurnPrompted};
use retrace_events::redact::Redactor;
use retrace_events::testing::{EventMaker, example_settings};
use retrace_events::{Envelope, EventLog, Hash, Payload, StreamId, Timestamp};
use retrace_indexer::{CodeIndex, Filter, Follower, HitSource, IndexFolder, IndexModel};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

const HERE: &str = "ev.local.work-aaaaaa.session.01here00-aaaa1111";
const HERE_TOO: &str = "ev.local.work-aaaaaa.session.01here11-bbbb2222";
const THERE: &str = "ev.local.other-bbbbbb.session.01there0-cccc3333";
const FORK: &str = "ev.local.work-aaaaaa.session.01fork00-dddd4444";

/// A log with its index, on a machine of its own.
struct World {
    folder: tempfile::TempDir,
    log: Arc<dyn EventLog>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "other", "state"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, log: Arc::new(MemoryLog::new()) }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn state(&self) -> std::path::PathBuf {
        self.folder.path().join("state")
    }

    fn memory(&self) -> IndexMemory {
        self.masking(&[])
    }

    fn masking(&self, names: &[&str]) -> IndexMemory {
        let mask = names.iter().map(|name| (*name).to_owned()).collect();
        IndexMemory::new(Arc::clone(&self.log), self.state(), Arc::new(IndexModel::default()), mask)
    }

    /// Indexes the code of the folder `name`.
    fn index_code(&self, name: &str) {
        let folder = IndexFolder::of_code(&self.state(), Path::new(&self.path(name)));
        let index = CodeIndex::open(folder.path(), &self.folder.path().join(name)).unwrap();
        index.update(&mut |_| ControlFlow::Continue(())).unwrap();
    }

    /// Stores a session that began in the folder `workspace` and was told `prompts`.
    async fn session(&self, stream: &str, workspace: &str, prompts: &[&str]) -> Vec<Envelope> {
        let (title, workspace) = ("a session".to_owned(), self.path(workspace));
        let retrace_version = "0.1.0".to_owned();
        let started = SessionStarted { title, workspace, retrace_version, settings: example_settings() };
        self.events(stream, started.into(), prompts).await
    }

    /// Stores a session that works in `work` and goes on from `parent`.
    async fn fork(&self, stream: &str, parent: &str, prompts: &[&str]) -> Vec<Envelope> {
        let forked = SessionForked {
            parent: parent.parse().unwrap(),
            parent_seq: 1,
            parent_hash: Hash::GENESIS,
            reason: SessionForkReason::Fork,
            title: "a fork".to_owned(),
            workspace: self.path("work"),
            retrace_version: "0.1.0".to_owned(),
            settings: example_settings(),
        };
        self.events(stream, forked.into(), prompts).await
    }

    async fn events(&self, stream: &str, first: Payload, prompts: &[&str]) -> Vec<Envelope> {
        let seed = stream.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut maker = EventMaker::new(stream.parse().unwrap(), seed);
        let mut events = vec![maker.payload(&first, None)];
        for words in prompts {
            let text = (*words).to_owned();
            let prompted = TurnPrompted { text, source: PromptSource::Local, attachments: Vec::new() };
            events.push(maker.payload(&prompted.into(), None));
        }
        self.log.append(&events).await.unwrap();
        events
    }

    /// Brings the index over sessions up to date.
    async fn follow(&self) {
        let folder = IndexFolder::of_log(&self.state(), &self.log.location());
        let holder = Holder::this_process("a test", Timestamp(0));
        let redactor = Arc::new(Redactor::new(Vec::new()));
        let mut follower = Follower::open(Arc::clone(&self.log), &folder, redactor, &holder).await.unwrap();
        follower.catch_up(&mut |_| {}).await.unwrap();
    }

    /// Three sessions in two workspaces, indexed.
    async fn indexed() -> Self {
        let world = Self::new();
        world.session(HERE, "work", &["paint the umbrella red"]).await;
        world.session(HERE_TOO, "work", &["paint the umbrella blue"]).await;
        world.session(THERE, "other", &["paint the umbrella green"]).await;
        world.follow().await;
        world
    }
}

fn stream(name: &str) -> StreamId {
    name.parse().unwrap()
}

fn asks(query: &str) -> MemoryQuestion {
    MemoryQuestion {
        query: query.to_owned(),
        limit: 10,
        budget_tokens: 2_000,
        patient: true,
        ..MemoryQuestion::default()
    }
}

/// The texts of all hits, in order of the alphabet.
fn texts(memories: &Memories) -> Vec<&str> {
    let mut texts: Vec<&str> = memories.hits.iter().map(|hit| hit.text.as_str()).collect();
    texts.sort_unstable();
    texts
}

#[tokio::test]
async fn a_session_is_told_of_its_workspace_and_of_no_other() {
    let world = World::indexed().await;
    let memory = world.memory();
    let here = memory.search(&stream(HERE), asks("umbrella")).await.unwrap();
    assert_eq!(texts(&here), ["paint the umbrella blue", "paint the umbrella red"]);
    // Its own words come first.
    assert_eq!(here.hits[0].text, "paint the umbrella red");
    let there = memory.search(&stream(THERE), asks("umbrella")).await.unwrap();
    assert_eq!(texts(&there), ["paint the umbrella green"]);
    assert_eq!((here.behind, here.notices.as_slice()), (0, &[][..]));
}

#[tokio::test]
async fn no_filter_and_no_word_of_a_query_reaches_further() {
    let world = World::indexed().await;
    let memory = world.memory();
    let other = world.path("other");
    for query in [
        "umbrella green session:01there0",
        "umbrella -session:01here00 -session:01here11",
        &format!("green workspace:{other}"),
        "green in:events kind:prompt since:1970",
    ] {
        let found = memory.search(&stream(HERE), asks(query)).await.unwrap();
        assert!(texts(&found).iter().all(|text| !text.contains("green")), "{query}: {found:?}");
    }
    let widened = MemoryQuestion {
        filter: Filter { workspace: Some(other), sessions: vec![THERE.to_owned()], ..Filter::default() },
        ..asks("green")
    };
    assert_eq!(texts(&memory.search(&stream(HERE), widened).await.unwrap()), Vec::<&str>::new());
    let named = MemoryQuestion { session: Some("01there0".to_owned()), ..asks("green") };
    let refused = memory.search(&stream(HERE), named).await.unwrap_err();
    assert_eq!(refused, MemoryError::NoSuchSession("01there0".to_owned()));
}

#[tokio::test]
async fn a_fork_remembers_its_parents_wherever_they_worked() {
    let world = World::indexed().await;
    world.fork(FORK, THERE, &["varnish the umbrella"]).await;
    world.follow().await;
    let memory = world.memory();
    let found = memory.search(&stream(FORK), asks("umbrella")).await.unwrap();
    let all = ["paint the umbrella blue", "paint the umbrella green", "paint the umbrella red", "varnish the umbrella"];
    assert_eq!(texts(&found), all);
    let named = MemoryQuestion { session: Some("cccc".to_owned()), ..asks("umbrella") };
    assert_eq!(texts(&memory.search(&stream(FORK), named).await.unwrap()), ["paint the umbrella green"]);
    let few = MemoryQuestion { limit: 2, ..asks("umbrella") };
    assert_eq!(memory.search(&stream(FORK), few).await.unwrap().hits.len(), 2);
    // The parent does not learn of its fork's workspace.
    assert_eq!(texts(&memory.search(&stream(THERE), asks("umbrella")).await.unwrap()), ["paint the umbrella green"]);
}

#[tokio::test]
async fn a_session_can_be_named_by_either_half_of_its_id() {
    let world = World::indexed().await;
    let memory = world.memory();
    for (name, expected) in [("01here11", "blue"), ("BBBB", "blue"), ("01here00-aaaa1111", "red")] {
        let named = MemoryQuestion { session: Some(name.to_owned()), ..asks("umbrella") };
        let found = memory.search(&stream(HERE), named).await.unwrap();
        assert_eq!(texts(&found), [format!("paint the umbrella {expected}")], "{name}");
    }
    let unclear = MemoryQuestion { session: Some("01here".to_owned()), ..asks("umbrella") };
    let refused = memory.search(&stream(HERE), unclear).await.unwrap_err();
    assert_eq!(refused, MemoryError::Ambiguous("01here".to_owned(), 2));
}

#[tokio::test]
async fn what_is_not_indexed_yet_is_counted() {
    let world = World::indexed().await;
    let memory = world.memory();
    memory.search(&stream(HERE), asks("umbrella")).await.unwrap();
    world.session("ev.local.work-aaaaaa.session.01late00-eeee5555", "work", &["fold the umbrella"]).await;
    let lags = memory.search(&stream(HERE), asks("fold")).await.unwrap();
    assert_eq!((lags.hits.len(), lags.behind), (0, 2));
    // What another process commits is seen without opening anything again.
    world.follow().await;
    let found = memory.search(&stream(HERE), asks("fold")).await.unwrap();
    assert_eq!((texts(&found), found.behind), (vec!["fold the umbrella"], 0));
}

#[tokio::test]
async fn the_workspaces_code_is_remembered_too() {
    let world = World::indexed().await;
    for name in ["work", "other"] {
        let code = format!("/// Opens the shed of {name}.\npub fn open_shed() {{}}\n");
        std::fs::write(world.folder.path().join(name).join("shed.rs"), code).unwrap();
        world.index_code(name);
    }
    let found = world.memory().search(&stream(HERE), asks("open shed")).await.unwrap();
    let code: Vec<&str> = found.hits.iter().map(|hit| hit.text.as_str()).collect();
    assert!(code.len() == 1 && code[0].contains("shed of work"), "{code:?}");
    assert!(matches!(&found.hits[0].source, HitSource::File { path, first_line: 1, .. } if path == "shed.rs"));
}

#[tokio::test]
async fn what_a_session_may_not_read_it_is_not_told() {
    let world = World::indexed().await;
    let work = world.folder.path().join("work");
    std::fs::create_dir(work.join("deep")).unwrap();
    for path in ["vault.yaml", "deep/vault.yaml", "shed.yaml"] {
        std::fs::write(work.join(path), "tools:\n  - the trowel of the gardener\n").unwrap();
    }
    world.index_code("work");
    let paths = async |memory: IndexMemory| -> Vec<String> {
        let found = memory.search(&stream(HERE), asks("trowel gardener")).await.unwrap();
        let mut paths: Vec<String> = found.hits.iter().flat_map(|hit| hit.paths.clone()).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(world.memory()).await, ["deep/vault.yaml", "shed.yaml", "vault.yaml"]);
    assert_eq!(paths(world.masking(&["vault.yaml"])).await, ["shed.yaml"]);
}

#[tokio::test]
async fn without_an_index_there_is_nothing_to_remember() {
    let world = World::new();
    world.session(HERE, "work", &["paint the umbrella"]).await;
    let error = world.memory().search(&stream(HERE), asks("umbrella")).await.unwrap_err();
    assert_eq!(error, MemoryError::Absent);
}

#[tokio::test]
async fn a_damaged_index_is_said_in_words() {
    let world = World::indexed().await;
    let keyword = IndexFolder::of_log(&world.state(), &world.log.location()).keyword();
    std::fs::write(keyword.join("meta.json"), "{").unwrap();
    let told = world.memory().search(&stream(HERE), asks("umbrella")).await;
    let words = match told {
        Ok(memories) => memories.notices.join("\n"),
        Err(error) => error.to_string(),
    };
    assert!(words.contains("damaged"), "{words}");
}
