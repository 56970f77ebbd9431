//! Carries a session's calls out again, in order, and says of each how it stands to what the log has.
//!
//! Each call is judged by itself: after a divergence the files are brought to those that the log has. What was decided then
//! (approvals, denials, cancellations) is not decided anew.

use super::execute_error::ExecuteError;
use super::files::FilesLikeness;
use super::normaliser::Places;
use super::not_compared::NotCompared;
use super::outline::Outline;
use super::recorded_call::{CallReader, Came, RecordedCall};
use super::replayed_call::{CallVerdict, ReplayedCall};
use super::stage::{Stage, StageParts};
use super::summary::ExecutionSummary;
use crate::snapshots::{SnapshotPlan, fetch, on_store};
use crate::travelling::ShareError;
use retrace_events::payload::tool::ToolFinished;
use retrace_events::{CallId, Envelope, Event, EventLog, History, StreamId};
use retrace_sandbox::snapshot::TreeId;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many events are read at a time.
const PAGE: usize = 500;

/// While a command runs in the background calls come as far apart as they did then, but no further than this.
const MAX_GAP: Duration = Duration::from_secs(2);
/// What the model was told in the place of an image for which there was no room.
const IMAGE_LEFT_OUT: &str = "The image is not shown: ";

/// A session's calls under way.
pub struct Execution {
    pub(super) log: Arc<dyn EventLog>,
    pub(super) history: History,
    pub(super) outline: Outline,
    reader: CallReader,
    pub(super) stage: Stage,
    pub(super) places: Places,
    /// The place of the next event.
    next: u64,
    page: VecDeque<Envelope>,
    waiting: VecDeque<RecordedCall>,
    /// Calls that came to the same, whose outputs stand for those of then.
    alike: HashSet<CallId>,
    /// Calls that started a command in the background then.
    background: HashSet<CallId>,
    last_end_ms: u64,
    summary: ExecutionSummary,
}

impl Execution {
    /// Reads the session, restores its first files into a fresh folder, and starts a sandbox there. `sandbox` is another kind than
    /// the session's.
    ///
    /// # Errors
    /// When the session's calls cannot be carried out again at all.
    pub async fn begin(
        log: Arc<dyn EventLog>,
        stream: &StreamId,
        parts: StageParts,
        sandbox: Option<String>,
    ) -> Result<Self, ExecuteError> {
        let history = History::of(log.as_ref(), stream).await?;
        let outline = Outline::read(log.as_ref(), &history).await?;
        let Some(mut settings) = outline.settings.clone() else {
            return Err(ExecuteError::NoSuchSession(stream.clone()));
        };
        let Some((tree, _)) = outline.beginning else {
            let foreign = outline.foreign_calls > 0 && outline.foreign_calls == outline.calls;
            let stream = stream.clone();
            return Err(if foreign { ExecuteError::Foreign(stream) } else { ExecuteError::NoSnapshot(stream) });
        };
        match sandbox {
            Some(sandbox) => settings.sandbox = sandbox,
            None if settings.sandbox == "none" => return Err(ExecuteError::Unconfined(stream.clone())),
            None => {}
        }
        if !at_hand(log.as_ref(), &parts.snapshots, tree).await? {
            return Err(ExecuteError::SnapshotGone { stream: stream.clone(), tree: tree.to_string() });
        }
        let was_at = outline.workspaces.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
        let stage = Stage::set(parts, stream.clone(), settings, tree, name_of(was_at)).await?;
        let all = outline.workspaces.iter().chain([&stage.workspace]).map(PathBuf::as_path);
        let places = Places::new(&all.collect::<Vec<_>>());
        Ok(Self {
            log,
            history,
            reader: CallReader::new(tree),
            outline,
            stage,
            places,
            next: 0,
            page: VecDeque::new(),
            waiting: VecDeque::new(),
            alike: HashSet::new(),
            background: HashSet::new(),
            last_end_ms: 0,
            summary: ExecutionSummary::default(),
        })
    }

    /// How many calls the session has.
    #[must_use]
    pub const fn calls(&self) -> u64 {
        self.outline.calls
    }

    /// What the sandbox is, in words.
    #[must_use]
    pub fn sandbox(&self) -> String {
        self.stage.sandbox_words()
    }

    /// Carries out the next call; `None` behind the last.
    ///
    /// # Errors
    /// When log, sandbox or store fail, or the user stops it. Nothing is left behind either way.
    pub async fn next(&mut self) -> Result<Option<ReplayedCall>, ExecuteError> {
        if self.stage.is_cancelled() {
            return Err(ExecuteError::Interrupted);
        }
        let Some(recorded) = self.recorded().await? else { return Ok(None) };
        let replayed = self.replay(recorded).await?;
        self.summary.add(&replayed);
        Ok(Some(replayed))
    }

    /// Ends the sandbox, removes the folder, and says what it came to.
    pub async fn finish(self) -> ExecutionSummary {
        self.stage.strike().await;
        self.summary
    }

    /// The next call as the log has it; files that people changed before it are there by then.
    async fn recorded(&mut self) -> Result<Option<RecordedCall>, ExecuteError> {
        loop {
            if let Some(recorded) = self.waiting.pop_front() {
                return Ok(Some(recorded));
            }
            let Some(envelope) = self.page.pop_front() else {
                self.page = self.history.read(self.log.as_ref(), self.next, PAGE).await?.into();
                if self.page.is_empty() {
                    self.waiting = self.reader.unfinished(self.next.saturating_sub(1)).into();
                    match self.waiting.pop_front() {
                        Some(recorded) => return Ok(Some(recorded)),
                        None => return Ok(None),
                    }
                }
                continue;
            };
            if let Some(tree) = self.outline.by_hand.get(&self.next).copied() {
                self.bring(tree).await?;
                self.summary.by_hand += 1;
            }
            let event = Event::decode(envelope)?;
            let ended = self.reader.apply(self.next, &event);
            self.next += 1;
            if ended.is_some() {
                return Ok(ended);
            }
        }
    }

    async fn replay(&mut self, recorded: RecordedCall) -> Result<ReplayedCall, ExecuteError> {
        if is_in_background(&recorded) {
            self.background.insert(recorded.call.clone());
        }
        let (stream, seq) = self.history.at(recorded.place);
        let mut replayed = ReplayedCall {
            event: (stream.clone(), seq),
            call: recorded.call.clone(),
            tool: recorded.tool.clone(),
            input: recorded.input.clone(),
            verdict: CallVerdict::NotCompared(NotCompared::NoSuchTool),
            files: FilesLikeness::NotCompared,
            outcomes: None,
            difference: String::new(),
            duration_ms: (0, 0),
        };
        if let Some(why) = self.passed_over(&recorded) {
            replayed.verdict = CallVerdict::NotCompared(why);
            return self.catch_up(recorded, replayed).await;
        }
        let Came::Finished { finished, images } = &recorded.came else { return Ok(replayed) };
        replayed.duration_ms.0 = finished.duration_ms;
        self.keep_apart(&recorded).await;
        let lent = self.lend(&recorded).await?;
        let begun = Instant::now();
        let Some(result) = self.stage.carry_out(&recorded).await? else {
            return self.catch_up(recorded, replayed).await;
        };
        replayed.duration_ms.1 = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let why = lent.err().or_else(|| self.not_compared(&recorded, finished));
        replayed.verdict = match why {
            Some(why) => CallVerdict::NotCompared(why),
            None => self.judge(finished, images, result, &mut replayed).await?,
        };
        if matches!(&replayed.verdict, CallVerdict::Compared(likeness) if likeness.is_alike()) {
            self.alike.insert(recorded.call.clone());
        }
        replayed.files = self.judge_files(&recorded, &replayed).await?;
        Ok(replayed)
    }

    /// Why a call is not even carried out.
    fn passed_over(&self, recorded: &RecordedCall) -> Option<NotCompared> {
        if self.outline.beginning.is_some_and(|(_, from)| recorded.place < from) {
            return Some(NotCompared::FilesUnknown);
        }
        match &recorded.came {
            Came::Nothing(why) => Some(*why),
            Came::Finished { finished, .. } if finished.exit.is_some_and(|exit| exit.timed_out) => {
                Some(NotCompared::TimedOut)
            }
            Came::Finished { .. } => match recorded.tool.as_str() {
                "ask_user" => Some(NotCompared::Asked),
                "recall" => Some(NotCompared::Recalled),
                _ => None,
            },
        }
    }

    /// The files as they were behind a call that is passed over.
    async fn catch_up(&self, recorded: RecordedCall, replayed: ReplayedCall) -> Result<ReplayedCall, ExecuteError> {
        let known = self.outline.beginning.is_none_or(|(_, from)| recorded.place >= from);
        if let ([before, Some(after)], true) = (recorded.files, known)
            && before != Some(after)
        {
            self.bring(after).await?;
        }
        Ok(replayed)
    }

    /// Brings the files to a logged snapshot.
    pub(super) async fn bring(&self, tree: TreeId) -> Result<(), ExecuteError> {
        if !self.has(tree).await? {
            let (stream, tree) = (self.history.stream().clone(), tree.to_string());
            return Err(ExecuteError::SnapshotGone { stream, tree });
        }
        self.stage.bring(tree).await
    }

    /// Whether a logged snapshot is at hand, here or beside the log.
    pub(super) async fn has(&self, tree: TreeId) -> Result<bool, ExecuteError> {
        at_hand(self.log.as_ref(), self.stage.plan(), tree).await
    }

    /// Why the result of a call that is carried out is not compared.
    fn not_compared(&self, recorded: &RecordedCall, finished: &ToolFinished) -> Option<NotCompared> {
        let about = target_of(recorded);
        let of_background = self.background.contains(&recorded.call)
            || about.is_some_and(|call| self.background.contains(&call) || self.stage.runs_in_background(&call));
        if of_background {
            return Some(NotCompared::Background);
        }
        finished.content.starts_with(IMAGE_LEFT_OUT).then_some(NotCompared::ImageLeftOut)
    }

    /// While something runs in the background, time matters.
    async fn keep_apart(&mut self, recorded: &RecordedCall) {
        let gap = Duration::from_millis(recorded.began_at.0.saturating_sub(self.last_end_ms)).min(MAX_GAP);
        if self.stage.has_background() && self.last_end_ms > 0 {
            self.stage.pause(gap).await;
        }
        self.last_end_ms = recorded.ended_at.0;
    }

    /// Makes sure that an output which the call reads is there: this run's own where that call came to the same, the logged one
    /// otherwise.
    async fn lend(&self, recorded: &RecordedCall) -> Result<Result<(), NotCompared>, ExecuteError> {
        let Some(target) = target_of(recorded).filter(|_| recorded.tool == "read_output") else { return Ok(Ok(())) };
        let Some(output) = self.reader.outputs.get(&target).copied() else { return Ok(Ok(())) };
        if self.alike.contains(&target) || self.stage.runs_in_background(&target) {
            return Ok(Ok(()));
        }
        let lent = self.stage.lend(&target, output, self.log.as_ref()).await?;
        Ok(if lent { Ok(()) } else { Err(NotCompared::OutputGone) })
    }
}

/// Whether a snapshot is in the store here; where it is beside the log, it is fetched.
async fn at_hand(log: &dyn EventLog, plan: &SnapshotPlan, tree: TreeId) -> Result<bool, ExecuteError> {
    if on_store(plan, move |store, _| store.has(&tree)).await? {
        return Ok(true);
    }
    match fetch(log, plan, &tree.to_string()).await {
        Ok(()) => Ok(log.objects().is_some()),
        Err(ShareError::Missing { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The last part of where the workspace was, as far as a folder can be called so.
fn name_of(was_at: &Path) -> &str {
    let name = was_at.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let fits = !name.is_empty() && name.len() <= 200 && name != "outputs" && !name.contains(char::is_control);
    if fits { name } else { "workspace" }
}

/// Whether a call started a command in the background.
fn is_in_background(recorded: &RecordedCall) -> bool {
    recorded.tool == "bash" && field(recorded, "background") == Some(Value::Bool(true))
}

/// The call that a call is about.
fn target_of(recorded: &RecordedCall) -> Option<CallId> {
    match recorded.tool.as_str() {
        "read_output" | "kill" => match field(recorded, "call_id")? {
            Value::String(call) => Some(CallId(call)),
            _ => None,
        },
        _ => None,
    }
}

fn field(recorded: &RecordedCall, name: &str) -> Option<Value> {
    serde_json::from_str::<Value>(&recorded.input).ok()?.get(name).cloned()
}
