//! The tasks behind a link: one writes, one reads and, at the end, finds out what happened and cleans up.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use retrace_guest::PROTOCOL_VERSION;
use retrace_guest::frame::Frame;
use retrace_guest::message::{CHUNK_COST_BYTES, Envelope, Hello, Response};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, BufReader};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::frames::{self, Outgoing};
use super::heartbeat::{self, Pulse};
use super::{Calls, Connected, Keeper, Link, OUTGOING_FRAMES, Shared};
use crate::error::{GoneReport, SandboxError};
use crate::limits::LimitHit;

/// How long a guest may take to say hello, in seconds; a microVM boots before it does.
const HELLO_SECONDS: u64 = 60;
/// Another number of seconds for that, for slow machines.
const HELLO_VARIABLE: &str = "RETRACE_SANDBOX_START_TIMEOUT_S";
/// How long a guest may take to end when it should.
const END_TIME: Duration = Duration::from_secs(6);
/// How much of stderr is kept, in bytes.
const STDERR_TAIL_BYTES: usize = 8 * 1024;

type Pipe = Box<dyn AsyncRead + Send + Unpin>;

/// Waits for the guest's hello and starts the tasks. On failure everything is gone again.
pub(crate) async fn connect(
    stdin: Box<dyn AsyncWrite + Send + Unpin>,
    stdout: Pipe,
    stderr: Pipe,
    mut keeper: Keeper,
    explain: impl FnOnce(&str, String) -> SandboxError,
) -> Result<Connected, SandboxError> {
    let stderr = tokio::spawn(tail(stderr));
    let mut stdout: Pipe = Box::new(BufReader::with_capacity(128 * 1024, stdout));
    let hello = match timeout(hello_time(), read_hello(&mut stdout)).await {
        Ok(Ok(hello)) => hello,
        failed => {
            // Where one connection carries both, stderr ends with this.
            drop(stdout);
            let detail = failed.map_or_else(|_| "no hello in time".to_owned(), |said| said.err().unwrap_or_default());
            return Err(give_up(keeper, stderr, detail, explain).await);
        }
    };
    let (outgoing, waiting) = mpsc::channel(OUTGOING_FRAMES);
    let shared = Arc::new(Shared {
        calls: std::sync::Mutex::new(Calls::default()),
        kill: Notify::new(),
        hung_up: Notify::new(),
        pulse: Pulse::default(),
        told_memory_kills: AtomicU64::new(keeper.meter.read().memory_kills),
        cleaned_up: watch::Sender::new(false),
    });
    tokio::spawn(write_all(stdin, waiting, Arc::clone(&shared)));
    let for_reader = Arc::clone(&shared);
    let for_pings = outgoing.downgrade();
    tokio::spawn(async move {
        let reason = read_all(stdout, &for_reader, for_pings).await;
        bury(&for_reader, &mut keeper, stderr, reason).await;
    });
    let link = Link { outgoing, shared, next_id: AtomicU64::new(1), runtime: Handle::current() };
    Ok(Connected { link: Arc::new(link), hello })
}

fn hello_time() -> Duration {
    let wanted = std::env::var(HELLO_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    Duration::from_secs(wanted.unwrap_or(HELLO_SECONDS))
}

async fn read_hello(stdout: &mut Pipe) -> Result<Hello, String> {
    let frame = frames::read(stdout).await.map_err(|error| error.to_string())?;
    let frame = frame.ok_or("it ended without a word")?;
    let Envelope { id: 0, message: Response::Hello(hello) } = frame.message().map_err(|error| error.to_string())?
    else {
        return Err("its first word is not hello".to_owned());
    };
    if hello.protocol != PROTOCOL_VERSION {
        return Err(format!("it speaks protocol {}, not {PROTOCOL_VERSION}", hello.protocol));
    }
    Ok(hello)
}

async fn give_up(
    mut keeper: Keeper,
    stderr: JoinHandle<String>,
    detail: String,
    explain: impl FnOnce(&str, String) -> SandboxError,
) -> SandboxError {
    keeper.lifeline.kill();
    let end = keeper.lifeline.wait().await;
    keeper.lifeline.clean_up().await;
    let stderr = timeout(END_TIME, stderr).await.ok().and_then(Result::ok).unwrap_or_default();
    explain(&stderr, format!("{detail} ({end})"))
}

async fn write_all(
    mut stdin: Box<dyn AsyncWrite + Send + Unpin>,
    mut waiting: mpsc::Receiver<Outgoing>,
    shared: Arc<Shared>,
) {
    while let Some(frame) = waiting.recv().await {
        if frame.write(&mut *stdin).await.is_err() {
            // The guest is gone; the reader finds out how.
            break;
        }
        shared.pulse.sent();
    }
    // Closing stdin is what tells the guest to go.
    drop(stdin);
    shared.hung_up.notify_one();
}

/// Reads until the guest ends, is killed, or has to be; says why.
async fn read_all(stdout: Pipe, shared: &Shared, for_pings: mpsc::WeakSender<Outgoing>) -> Option<String> {
    let overdue = async {
        shared.hung_up.notified().await;
        tokio::time::sleep(END_TIME).await;
    };
    tokio::select! {
        reason = dispatch_all(stdout, shared) => reason,
        () = shared.kill.notified() => Some("it was stopped".to_owned()),
        reason = heartbeat::watch(&shared.pulse, for_pings) => Some(reason),
        () = overdue => Some("it did not end by itself and was killed".to_owned()),
    }
}

async fn dispatch_all(mut stdout: Pipe, shared: &Shared) -> Option<String> {
    loop {
        let frame = match frames::read(&mut stdout).await {
            Ok(Some(frame)) => {
                shared.pulse.heard();
                frame
            }
            Ok(None) => return None,
            Err(error) => return Some(format!("the guest broke the protocol: {error}")),
        };
        if let Err(reason) = dispatch(frame, shared) {
            return Some(format!("the guest broke the protocol: {reason}"));
        }
    }
}

fn dispatch(frame: Frame, shared: &Shared) -> Result<(), String> {
    let Envelope { id, message } = frame.message::<Envelope<Response>>().map_err(|error| error.to_string())?;
    let is_chunk = matches!(
        message,
        Response::Stdout | Response::Stderr | Response::Received | Response::ReceivedAll | Response::Credit { .. }
    );
    let cost = frame.body.len() as u64 + if is_chunk { CHUNK_COST_BYTES } else { frame.header.len() as u64 };
    let is_final = message.is_final();
    let mut calls = shared.lock();
    // Answers to what was forgotten meanwhile are dropped.
    let Some(pending) = calls.pending.get_mut(&id) else { return Ok(()) };
    pending.budget_bytes = pending.budget_bytes.checked_sub(cost).ok_or("it sent more than it was allowed to")?;
    // The caller may have gone away; it has sent a kill then.
    let _ = pending.events.send((message, Bytes::from(frame.body)));
    if is_final {
        calls.pending.remove(&id);
    }
    Ok(())
}

/// Finds out how the guest ended, tells everyone who waits, and removes what is left.
async fn bury(shared: &Shared, keeper: &mut Keeper, stderr: JoinHandle<String>, reason: Option<String>) {
    // First of all: with a container that has ended an engine removes what counts in it.
    let memory_kills = keeper.meter.read().memory_kills;
    if reason.is_some() {
        keeper.lifeline.kill();
    }
    let end = match timeout(END_TIME, keeper.lifeline.wait()).await {
        Ok(end) => end,
        Err(_) => {
            keeper.lifeline.kill();
            keeper.lifeline.wait().await
        }
    };
    let stderr_tail = timeout(END_TIME, stderr).await.ok().and_then(Result::ok).unwrap_or_default();
    let memory_ran_out = memory_kills > shared.told_memory_kills.load(Ordering::Relaxed);
    let report = {
        let mut calls = shared.lock();
        let detail = if calls.closing { "it was shut down".to_owned() } else { reason.unwrap_or(end) };
        let limit = (memory_ran_out && !calls.closing).then_some(LimitHit::Memory);
        let report = GoneReport { detail, limit, stderr_tail: stderr_tail.trim().to_owned() };
        calls.gone = Some(report.clone());
        // Dropping the senders wakes every caller.
        calls.pending.clear();
        report
    };
    tracing::debug!(%report, "guest gone");
    keeper.lifeline.clean_up().await;
    shared.cleaned_up.send_replace(true);
}

/// Reads a stream to its end and keeps the last part as text.
async fn tail(mut pipe: Pipe) -> String {
    let mut kept = VecDeque::new();
    let mut buffer = [0; 2048];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        kept.extend(buffer.iter().take(count));
        let surplus = kept.len().saturating_sub(STDERR_TAIL_BYTES);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(kept.make_contiguous()).into_owned()
}
