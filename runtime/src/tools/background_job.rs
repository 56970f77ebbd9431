//! One command in the background: its output as it comes, who waits for news of it, and how it ended.
//!
//! A job is *told* once the model has been answered that it runs; only then is its end worth an event. A task moves its
//! output; dropping the task ends the command.

use super::background::{BackgroundEnd, BackgroundLimits};
use super::capture::{Capture, Source};
use super::ending::Ending;
use super::kept_output::KeptOutput;
use retrace_events::payload::tool::ToolExit;
use retrace_events::redact::Redactor;
use retrace_events::{BlobRef, CallId, EventLog};
use retrace_sandbox::{Chunk, Failure, Limits, Running, SandboxError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, watch};

/// A command that was started in the background, running or over.
pub(super) struct Job {
    /// The call that started it.
    pub(super) call: CallId,
    /// The command, redacted.
    pub(super) command: String,
    /// When it began.
    pub(super) since: Instant,
    state: Mutex<State>,
    /// Changes with every piece of news.
    news: watch::Sender<()>,
    stop: Notify,
}

struct State {
    output: KeptOutput,
    /// How much had come when somebody last looked, in bytes.
    seen_bytes: u64,
    told: bool,
    /// Who ends it, and why.
    stopped: Option<String>,
    over: Option<Over>,
}

/// How a job ended.
#[derive(Debug, Clone)]
pub(super) struct Over {
    /// How the command ended.
    pub(super) outcome: Outcome,
    /// All that was kept of its output, in the blob store.
    pub(super) output: Option<BlobRef>,
    /// How it ended and why, in words.
    pub(super) why: String,
    /// Whether some of its output was no text.
    pub(super) lossy: bool,
}

/// How a command ended.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// It ran, and nothing of it is left.
    Ended(Ending),
    /// It could not be started.
    Refused(Failure),
    /// The sandbox went away under it.
    Gone(String),
}

impl Outcome {
    fn of(result: Result<retrace_sandbox::ExecResult, SandboxError>, timeout_ms: u64, limits: &Limits) -> Self {
        match result {
            Ok(result) => Self::Ended(Ending::of(&result, timeout_ms, limits)),
            Err(SandboxError::Guest(failure)) => Self::Refused(failure),
            Err(error) => Self::Gone(error.to_string()),
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Ended(ending) => ending.line.clone(),
            Self::Refused(failure) => failure.message.clone(),
            Self::Gone(why) => format!("the sandbox ended: {why}"),
        }
    }

    /// As programs see it; `None` when nobody saw the end.
    pub(super) fn exit(&self) -> Option<ToolExit> {
        match self {
            Self::Ended(ending) => Some(ending.exit),
            Self::Refused(_) | Self::Gone(_) => None,
        }
    }
}

impl Job {
    pub(super) fn new(call: CallId, command: String, redactor: Arc<Redactor>, keep_bytes: usize) -> Self {
        let output = KeptOutput::new(redactor, keep_bytes);
        let state = Mutex::new(State { output, seen_bytes: 0, told: false, stopped: None, over: None });
        Self { call, command, since: Instant::now(), state, news: watch::Sender::new(()), stop: Notify::new() }
    }

    /// Says that the model is told of it from here on. When it is over already it gives how, and nobody hears of its
    /// end but who asked.
    pub(super) fn tell(&self) -> Option<Over> {
        let mut state = self.lock();
        state.told = state.over.is_none();
        state.over.clone()
    }

    /// Nobody carries it any more: whoever waits for its end need not.
    pub(super) fn abandon(&self) {
        let outcome = Outcome::Gone("it was given up".to_owned());
        let over = Over { why: outcome.in_words(), outcome, output: None, lossy: false };
        self.lock().over.get_or_insert(over);
        self.news.send_replace(());
    }

    /// Ends it; the first reason counts.
    pub(super) fn stop(&self, why: &str) {
        self.lock().stopped.get_or_insert_with(|| why.to_owned());
        self.stop.notify_one();
    }

    /// How it ended, if it did.
    pub(super) fn over(&self) -> Option<Over> {
        self.lock().over.clone()
    }

    /// Whether the model was told of it.
    pub(super) fn told(&self) -> bool {
        self.lock().told
    }

    /// What is kept of its output so far, whole lines and redacted, and how it ended, if it did. The output counts as
    /// seen; of one that is over and was told of, it is in the blob store only.
    pub(super) fn look(&self) -> (String, Option<Over>) {
        let mut state = self.lock();
        state.seen_bytes = state.output.pushed_bytes();
        (state.output.text(), state.over.clone())
    }

    /// Waits for its end.
    pub(super) async fn ended(&self) -> Over {
        let mut news = self.news.subscribe();
        loop {
            if let Some(over) = self.over() {
                return over;
            }
            // The sender lives as long as `self`.
            let _ = news.changed().await;
        }
    }

    /// Waits until there is output that nobody has seen (with `line`: until there is that line), or it is over, for
    /// at most `at_most`.
    pub(super) async fn news(&self, line: Option<u64>, at_most: Duration) {
        let mut news = self.news.subscribe();
        let there = || {
            let state = self.lock();
            let new = line.map_or(state.output.pushed_bytes() > state.seen_bytes, |line| state.output.lines() >= line);
            new || state.over.is_some()
        };
        let wait = async {
            while !there() {
                // The sender lives as long as `self`.
                let _ = news.changed().await;
            }
        };
        // Having waited in vain is no failure.
        let _ = tokio::time::timeout(at_most, wait).await;
    }

    fn push(&self, lines: Option<String>) {
        if let Some(lines) = lines {
            self.lock().output.push(&lines);
            self.news.send_replace(());
        }
    }

    /// Moves the command's output until it is over, and tells of its end.
    pub(super) async fn carry(
        self: Arc<Self>,
        mut running: Running,
        timeout_ms: Option<u64>,
        limits: Limits,
        log: Arc<dyn EventLog>,
        ends: UnboundedSender<BackgroundEnd>,
    ) {
        // The lines are kept elsewhere.
        let mut capture = Capture::new(0);
        let mut stopping = false;
        loop {
            let chunk = tokio::select! {
                biased;
                () = self.stop.notified(), if !stopping => {
                    stopping = true;
                    running.terminate();
                    continue;
                }
                chunk = running.next() => chunk,
            };
            let lines = match chunk {
                Some(Chunk::Stdout(bytes)) => capture.push(Source::Stdout, &bytes),
                Some(Chunk::Stderr(bytes)) => capture.push(Source::Stderr, &bytes),
                None => break,
            };
            self.push(lines);
        }
        let outcome = Outcome::of(running.wait().await, timeout_ms.unwrap_or(u64::MAX), &limits);
        let (lines, captured) = capture.finish();
        self.push(lines);
        let mut why = outcome.in_words();
        if let Some(reason) = self.lock().stopped.as_ref() {
            why = format!("{reason}: {why}");
        }
        let text = self.lock().output.text();
        let output = match text.is_empty() {
            true => None,
            false => match log.blobs().put(text.as_bytes()).await {
                Ok(output) => Some(output),
                Err(error) => {
                    why.push_str(&format!("; its output could not be kept: {error}"));
                    None
                }
            },
        };
        self.finish(Over { outcome, output, why, lossy: captured.lossy }, &ends);
    }

    fn finish(&self, over: Over, ends: &UnboundedSender<BackgroundEnd>) {
        let mut state = self.lock();
        if state.told {
            // From here on it is read from the blob store.
            let redactor = state.output.redactor();
            state.output = KeptOutput::new(redactor, 0);
            let limit_hit = match &over.outcome {
                Outcome::Ended(ending) => ending.limit_hit.clone(),
                Outcome::Refused(_) | Outcome::Gone(_) => None,
            };
            let end = BackgroundEnd {
                call: self.call.clone(),
                exit: over.outcome.exit(),
                output: over.output,
                limit_hit,
                why: over.why.clone(),
            };
            // Nobody is there to hear it only when the whole registry is being dropped.
            let _ = ends.send(end);
        }
        state.over = Some(over);
        drop(state);
        self.news.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BackgroundLimits {
    /// The sandbox's limits as they are for a command in the background.
    pub(super) fn over(&self, limits: &Limits) -> Limits {
        Limits { output_bytes: self.written_bytes, ..limits.clone() }
    }
}
