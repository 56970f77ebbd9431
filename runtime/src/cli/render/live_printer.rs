//! What happens while an agent works, as text: events as they are logged, and the answer as it comes in.

use super::streamed::Streamed;
use super::transcript::Transcript;
use super::{clean, units};
use crate::agent::Live;
use retrace_events::Event;
use retrace_events::payload::{Payload, Turn};

/// Makes text of what an agent shows.
pub(crate) struct LivePrinter {
    transcript: Transcript,
    streamed: Streamed,
    /// Some of what was shown got lost on the way, so what streamed may have holes.
    lossy: bool,
    /// The last event was a failure, which has told already that it will be tried again.
    after_failure: bool,
}

impl LivePrinter {
    /// A printer that shows events as `transcript` does.
    #[must_use]
    pub(crate) fn new(transcript: Transcript) -> Self {
        let streamed = Streamed::new(transcript.style());
        Self { transcript, streamed, lossy: false, after_failure: false }
    }

    /// Whether the session runs without a sandbox.
    #[must_use]
    pub(crate) const fn exposed(&self) -> bool {
        self.transcript.exposed()
    }

    /// The next thing that was shown, apart from events.
    #[must_use]
    pub(crate) fn live(&mut self, live: &Live) -> String {
        match live {
            Live::Logged(event) => self.event(event),
            Live::Text(text) => self.streamed.push(text, self.transcript.redactor()),
            // Another block of the answer begins. The call itself is an event a moment later.
            Live::Thinking(_) | Live::ToolStarted { .. } => self.streamed.end_block(self.transcript.redactor()),
            // Shown in short when the call is done.
            Live::ToolOutput { .. } => String::new(),
            Live::Waiting { .. } if self.after_failure => String::new(),
            Live::Waiting { why, wait_ms } => {
                let why = clean::short(&self.transcript.redactor().redact(why), 300);
                self.line(&format!("waiting {}: {why}", units::duration(*wait_ms)))
            }
            Live::Notice(notice) => {
                let notice = clean::short(&self.transcript.redactor().redact(notice), 500);
                self.line(&format!("{} {notice}", self.transcript.style().yellow("!")))
            }
        }
    }

    /// Something was missed.
    pub(crate) const fn missed(&mut self) {
        self.lossy = true;
    }

    /// The next event.
    #[must_use]
    pub(crate) fn event(&mut self, event: &Event) -> String {
        let known = event.payload.known();
        self.after_failure = matches!(known, Some(Payload::Turn(Turn::Failed(_))));
        if let Some(Payload::Turn(Turn::Answered(answered))) = known {
            self.transcript.answered(answered);
            let (begun, lossy) = (self.streamed.begun(), std::mem::take(&mut self.lossy));
            let rest = self.streamed.finish(self.transcript.redactor());
            let text = match (begun, lossy) {
                (true, false) => rest,
                // What streamed has holes, so all of it follows.
                (true, true) => format!("{rest}\n{}", self.transcript.answer_text(answered)),
                (false, _) => self.transcript.answer_text(answered),
            };
            return format!("{text}{}", self.transcript.answer_figures(answered));
        }
        let text = self.transcript.event(event);
        if text.is_empty() { text } else { format!("{}{text}", self.streamed.finish(self.transcript.redactor())) }
    }

    fn line(&mut self, line: &str) -> String {
        format!("{}{line}\n", self.streamed.finish(self.transcript.redactor()))
    }
}
