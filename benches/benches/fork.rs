//! How long a fork in the middle of a long session takes until its first request can be sent, and until its files are there, beside
//! `git worktree add` and `cp -a` of the same tree.
//!
//! `cargo bench -p retrace-benches --bench fork`. The session has `FORK_EVENTS` events (100,000) and is forked at nine tenths; its
//! workspace has `FORK_FILES` files (20,000) of 4 KB. With `RETRACE_EVAL_DATA` the session is made of recorded ones, otherwise of made
//! ones; either way it lies back so long that the prompt cache is cold and the fork's first request begins a fresh context, for which it
//! waits for the files. Every number is the median of `RUNS` runs on one machine and disk; caches are warm, and the disk has nothing left to write
//! when a run begins.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use retrace_benches::logged_session::LoggedSession;
use retrace_benches::made::made_sessions;
use retrace_benches::recorded::{RecordedSession, recorded_sessions};
use retrace_benches::{scale, stream};
use retrace_events::log::{Holder, SqliteLog};
use retrace_events::mint::SystemMint;
use retrace_events::payload::session::SessionForkReason;
use retrace_events::payload::settings::{Budget, Settings};
use retrace_events::payload::turn::PromptSource;
use retrace_events::payload::workspace::WorkspaceSnapshotted;
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, StreamId, Timestamp};
use retrace_runtime::agent::{Agent, AgentParts, Live, LiveSender, SandboxSetup};
use retrace_runtime::checkpoints::Checkpoints;
use retrace_runtime::claude::{Auth, ClaudeClient, Endpoint, ModelTable, Secret};
use retrace_runtime::forking::{ForkPoint, NewFork};
use retrace_runtime::permissions::Permissions;
use retrace_runtime::scripted::{Script, ScriptedServer, ServerOptions};
use retrace_runtime::snapshots::SnapshotPlan;
use retrace_runtime::tools::NoMemory;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const RUNS: usize = 7;
const FILE_BYTES: usize = 4_000;
const FILES_A_FOLDER: usize = 50;

struct Bench {
    root: PathBuf,
    log: Arc<dyn EventLog>,
    server: ScriptedServer,
    plan: SnapshotPlan,
}

/// What one fork took.
struct Took {
    point: Duration,
    first_request: Duration,
    files: Duration,
}

#[tokio::main]
async fn main() {
    let (events, files) = (number("FORK_EVENTS", 100_000), number("FORK_FILES", 20_000));
    let scratch = tempfile::tempdir().unwrap();
    let bench = Bench::new(scratch.path(), events, files).await;
    let at = events * 9 / 10;
    println!("fork at event {at} of {events}, {files} files\n");
    println!("| what | event found, ms | first request, ms | files there, ms |\n|---|---|---|---|");
    let cold = bench.runs(at, |run| bench.root.join(format!("cold-{run}"))).await;
    row("ours, without checkpoints", &cold);
    // The session itself was run with them: what an agent leaves behind as it works.
    let warm = bench.root.join("warm");
    Checkpoints::of_log(&warm, &bench.log.identity()).load(bench.log.as_ref(), &long()).await.unwrap();
    bench.one(at, 0, &warm).await;
    let warm = bench.runs(at, |_| warm.clone()).await;
    row("ours", &warm);
    for (name, peer) in [("git worktree add", worktree as fn(&Path, usize)), ("cp -a", copy)] {
        let took = (0..RUNS).map(|run| quiet(|| peer(&bench.root, run))).collect();
        println!("| {name} | | | {:.0} |", ms(median(took)));
    }
}

impl Bench {
    async fn new(root: &Path, events: u64, files: u64) -> Self {
        let work = root.join("work");
        for number in 0..files {
            let folder = work.join(format!("d{}", number as usize / FILES_A_FOLDER));
            std::fs::create_dir_all(&folder).unwrap();
            let text = format!("line of file {number}\n").repeat(FILE_BYTES / 20);
            std::fs::write(folder.join(format!("f{number}.txt")), text).unwrap();
        }
        for args in [
            &["init", "-q"][..],
            &["add", "-A"],
            &["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "all"],
        ] {
            assert!(Command::new("git").args(args).current_dir(&work).status().unwrap().success());
        }
        let log: Arc<dyn EventLog> = Arc::new(SqliteLog::open(&root.join("log")).unwrap());
        let mut plan = SnapshotPlan::new(&root.join("state"), log.identity(), &[], false);
        // The peers copy git's objects in one way or not at all: here it is the files that count.
        plan.options.secrets.clear();
        let git = root.join("git");
        std::fs::rename(work.join(".git"), &git).unwrap();
        let begun = Instant::now();
        let tree = plan.store().unwrap().take(&work, &plan.options, None).unwrap().tree.to_string();
        println!("first snapshot: {:.0} ms", ms(begun.elapsed()));
        std::fs::rename(&git, work.join(".git")).unwrap();
        fill(log.as_ref(), &sessions(), events, &tree).await;
        let script = "[[step]]\nname = 'end'\nnext = ['end']\nblock = [{ type = 'text', text = 'done' }]\n";
        let server = ScriptedServer::start(Script::parse(script).unwrap(), ServerOptions::default()).await.unwrap();
        Self { root: root.to_owned(), log, server, plan }
    }

    async fn runs(&self, at: u64, state: impl Fn(usize) -> PathBuf) -> Vec<Took> {
        let mut took = Vec::new();
        for run in 0..RUNS {
            took.push(self.one(at, run + 1, &state(run)).await);
        }
        took
    }

    async fn one(&self, at: u64, run: usize, state: &Path) -> Took {
        settle();
        let checkpoints = Checkpoints::of_log(state, &self.log.identity());
        let begun = Instant::now();
        let point = ForkPoint::find_with(&checkpoints, self.log.as_ref(), &long(), Some(at)).await.unwrap();
        let found = begun.elapsed();
        let name = format!("fork-{run}-{}", state.file_name().unwrap().display());
        let folder = self.root.join(&name);
        let fork = NewFork {
            stream: stream(&name),
            reason: SessionForkReason::Fork,
            title: name,
            workspace: folder.clone(),
            settings: self.settings(),
            leaves_turn: true,
            replaced: None,
        };
        let made = fork.stream.clone();
        fork.write(Arc::clone(&self.log), Arc::new(SystemMint), &point).await.unwrap();
        let parts = self.parts(checkpoints);
        let mut live = parts.live.listen();
        let cancel = parts.cancel.clone();
        let mut agent = Agent::resume(parts, made, None).await.unwrap();
        agent.prompt("try the other fix", PromptSource::Local, Vec::new()).await.unwrap();
        let is_request = |live: &Live| matches!(live, Live::Logged(event) if event.envelope.kind == "turn.requested");
        let requested = async { while !is_request(&live.recv().await.unwrap()) {} };
        tokio::select! {
            () = requested => {}
            end = agent.run() => panic!("no request: {end:?}"),
        }
        let first_request = begun.elapsed();
        let mut looks = tokio::time::interval(Duration::from_millis(2));
        while !folder.exists() {
            looks.tick().await;
        }
        let files = begun.elapsed();
        cancel.cancel();
        agent.close().await;
        // Nothing is deleted meanwhile: ext4 creates files slowly for a minute after that.
        Took { point: found, first_request, files }
    }

    fn settings(&self) -> Settings {
        Settings {
            model: "claude-opus-5-5".to_owned(),
            max_tokens: 32_000,
            thinking: None,
            effort: None,
            base_url: self.server.base_url(),
            sandbox: "auto".to_owned(),
            approvals: "allow".to_owned(),
            budget: Budget::default(),
            tree_budget: Budget::default(),
            command_timeout_ms: 60_000,
            max_attempts: 1,
        }
    }

    fn parts(&self, checkpoints: Checkpoints) -> AgentParts {
        let auth = Auth::ApiKey(Secret::new(ServerOptions::DEFAULT_API_KEY));
        AgentParts {
            log: Arc::clone(&self.log),
            mint: Arc::new(SystemMint),
            client: ClaudeClient::new(&Endpoint::new(self.server.base_url(), auth)).unwrap(),
            models: ModelTable::builtin().unwrap(),
            redactor: Arc::new(Redactor::new(Vec::new())),
            live: LiveSender::default(),
            cancel: CancellationToken::new(),
            memory: Arc::new(NoMemory),
            guest_dir: self.root.join("guest"),
            sandboxes: SandboxSetup::default(),
            permissions: Arc::new(Permissions::builtin(true)),
            attended: false,
            holder: Holder::this_process("bench", Timestamp(0)),
            context_tokens: Some(100_000),
            api_compaction: false,
            checkpoints,
            snapshots: Some(self.plan.clone()),
            user_instructions: self.root.join("config"),
        }
    }
}

fn long() -> StreamId {
    stream("long")
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn sessions() -> Vec<RecordedSession> {
    std::env::var_os("RETRACE_EVAL_DATA").map(PathBuf::from).map_or_else(
        || made_sessions(8, 2_000, 20_261_121),
        |data| recorded_sessions(&data.join("agent-sessions/events.jsonl.gz")).unwrap(),
    )
}

/// A session of `events` events whose workspace was `tree` all the time.
async fn fill(log: &dyn EventLog, sessions: &[RecordedSession], events: u64, tree: &str) {
    let mut session = LoggedSession::begin(long(), Timestamp(0)).unwrap();
    let taken = WorkspaceSnapshotted {
        tree: tree.to_owned(),
        previous: None,
        git_state: None,
        after: None,
        changed_files: 0,
        new_bytes: 0,
    };
    session.note(taken.into()).unwrap();
    let mut copy = 0;
    while session.len() < events {
        for line in sessions.iter().flat_map(|session| &session.lines) {
            if session.len() < events {
                session.add(line, &|text| scale::vary(text, copy)).unwrap();
            }
        }
        for batch in session.take().chunks(100) {
            log.append(batch).await.unwrap();
        }
        copy += 1;
    }
}

fn worktree(root: &Path, run: usize) {
    let into = root.join(format!("worktree-{run}"));
    let added = Command::new("git")
        .args(["worktree", "add", "-q", "--detach"])
        .arg(&into)
        .current_dir(root.join("work"))
        .status();
    assert!(added.unwrap().success());
}

fn copy(root: &Path, run: usize) {
    let into = root.join(format!("copy-{run}"));
    assert!(Command::new("cp").arg("-a").arg(root.join("work")).arg(&into).status().unwrap().success());
}

/// Waits until the disk has nothing left to write.
fn settle() {
    assert!(Command::new("sync").status().unwrap().success());
}

fn quiet(work: impl FnOnce()) -> Duration {
    settle();
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[took.len() / 2]
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}

fn row(name: &str, took: &[Took]) {
    let column = |part: fn(&Took) -> Duration| ms(median(took.iter().map(part).collect()));
    let columns = (column(|took| took.point), column(|took| took.first_request), column(|took| took.files));
    println!("| {name} | {:.0} | {:.0} | {:.0} |", columns.0, columns.1, columns.2);
}
