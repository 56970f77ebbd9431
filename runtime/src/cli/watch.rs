//! Shows what an agent does while it does it: text for people on stderr, events for programs on stdout.
//!
//! A terminal may be slower than the agent, which never waits for it. So what is shown comes through a channel that drops
//! what is too much, and events that were dropped are read from the log again: no event is left out or shown twice.

use super::events;
use super::exit::CliError;
use super::output::Output;
use super::render::{AnswerText, LivePrinter};
use crate::agent::Live;
use retrace_events::payload::{Payload, Turn};
use retrace_events::redact::Redactor;
use retrace_events::{Event, EventLog, StreamId};
use std::sync::Arc;
use tokio::sync::broadcast::{Receiver, error::RecvError, error::TryRecvError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What was seen.
pub(crate) struct Seen {
    /// The text of the last answer.
    pub(crate) last_text: String,
    /// Whether the session ran without a sandbox.
    pub(crate) exposed: bool,
    /// The failure of the last request, when it was not tried again.
    pub(crate) gave_up: Option<retrace_events::payload::turn::TurnFailed>,
    /// Why the rest could not be shown.
    pub(crate) failed: Option<CliError>,
}

/// Somebody who looks at each event, in order and once, as it is shown.
pub(crate) trait Onlooker: Send {
    /// Sees an event that is about to be shown.
    fn see(&mut self, event: &Event) -> Remark;

    /// The event and the remark are shown.
    fn shown(&mut self) {}
}

/// What an onlooker has to say to an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Remark {
    /// Whole lines above it.
    pub(crate) above: String,
    /// The event's own text is not shown.
    pub(crate) hide: bool,
    /// Whole lines below it.
    pub(crate) below: String,
}

/// A task that shows.
pub(crate) struct Watch {
    task: JoinHandle<Seen>,
    stop: oneshot::Sender<()>,
}

struct Watcher {
    printer: LivePrinter,
    output: Output,
    redactor: Arc<Redactor>,
    log: Arc<dyn EventLog>,
    stream: StreamId,
    next_seq: u64,
    seen: Seen,
    onlooker: Option<Box<dyn Onlooker>>,
}

impl Watch {
    /// Begins to show what comes through `live` of `stream`, from event `next_seq` on. An onlooker sees each event.
    pub(crate) fn begin(
        live: Receiver<Live>,
        printer: LivePrinter,
        output: Output,
        redactor: Arc<Redactor>,
        (log, stream, next_seq): (Arc<dyn EventLog>, StreamId, u64),
        onlooker: Option<Box<dyn Onlooker>>,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let seen = Seen { last_text: String::new(), exposed: false, gave_up: None, failed: None };
        let watcher = Watcher { printer, output, redactor, log, stream, next_seq, seen, onlooker };
        Self { task: tokio::spawn(watcher.run(live, stopped)), stop }
    }

    /// Shows what is left and ends.
    pub(crate) async fn end(self) -> Seen {
        // The receiver is only gone when the task is over, which the next line sees.
        let _ = self.stop.send(());
        match self.task.await {
            Ok(seen) => seen,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

impl Watcher {
    async fn run(mut self, mut live: Receiver<Live>, mut stopped: oneshot::Receiver<()>) -> Seen {
        loop {
            tokio::select! {
                biased;
                next = live.recv() => match next {
                    Ok(item) => self.show(item).await,
                    Err(RecvError::Lagged(_)) => self.printer.missed(),
                    Err(RecvError::Closed) => break,
                },
                _ = &mut stopped => break,
            }
        }
        loop {
            match live.try_recv() {
                Ok(item) => self.show(item).await,
                Err(TryRecvError::Lagged(_)) => self.printer.missed(),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.output.end_pieces();
        self.seen.exposed = self.printer.exposed();
        self.seen
    }

    async fn show(&mut self, live: Live) {
        self.output.ready().await;
        let Live::Logged(event) = &live else {
            let text = self.printer.live(&live);
            return self.output.piece(&text);
        };
        if event.envelope.seq > self.next_seq {
            self.catch_up(event.envelope.seq).await;
        }
        if event.envelope.seq == self.next_seq {
            self.event(event);
        }
    }

    /// Reads what the channel dropped, up to the event `until`, which is not read.
    async fn catch_up(&mut self, until: u64) {
        while self.next_seq < until {
            let want = usize::try_from(until - self.next_seq).unwrap_or(events::PAGE).min(events::PAGE);
            let page = match self.log.read(&self.stream, self.next_seq, want).await {
                Ok(page) if page.is_empty() => return,
                Ok(page) => page,
                Err(error) => return self.fail(error.into()),
            };
            for envelope in page {
                self.output.ready().await;
                match Event::decode(envelope) {
                    Ok(event) => self.event(&event),
                    Err(error) => return self.fail(retrace_events::LogError::from(error).into()),
                }
            }
        }
    }

    fn event(&mut self, event: &Event) {
        self.next_seq = event.envelope.seq + 1;
        match event.payload.known() {
            Some(Payload::Turn(Turn::Answered(answered))) => {
                self.seen.last_text = AnswerText::read(&answered.content, &self.redactor).text;
                self.seen.gave_up = None;
            }
            Some(Payload::Turn(Turn::Failed(failed))) if failed.retry_in_ms.is_none() => {
                self.seen.gave_up = Some(failed.clone());
            }
            _ => {}
        }
        let text = self.printer.event(event);
        let remark = self.onlooker.as_mut().map(|onlooker| onlooker.see(event)).unwrap_or_default();
        self.output.piece(&remark.above);
        self.output.piece(if remark.hide { "" } else { &text });
        self.output.piece(&remark.below);
        if let Some(onlooker) = &mut self.onlooker {
            onlooker.shown();
        }
        if self.output.json && self.seen.failed.is_none() {
            let shown = events::json_line(event, &self.redactor).and_then(|line| self.output.data(&line));
            if let Err(error) = shown {
                self.fail(error);
            }
        }
    }

    /// Keeps the first reason; the agent goes on all the same.
    fn fail(&mut self, error: CliError) {
        self.seen.failed.get_or_insert(error);
    }
}
