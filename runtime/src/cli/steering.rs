//! What `send`, `approve`, `answer` and `cancel` have in common: they find a session, say something to it through its
//! control stream, and can wait until whoever runs it has taken that in.

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::clean;
use super::setup::Setup;
use super::{following, session_name};
use futures::StreamExt;
use retrace_events::control::ControlSender;
use retrace_events::mint::SystemMint;
use retrace_events::payload::session::SessionControlHandled;
use retrace_events::payload::{Payload, Session};
use retrace_events::{CallId, Event, EventLog, SessionState, StreamId};
use serde_json::json;
use std::sync::Arc;

/// A session that something is said to.
pub(super) struct Steered {
    setup: Setup,
    log: Arc<dyn EventLog>,
    stream: StreamId,
    /// How it stood when it was looked at.
    pub(super) state: SessionState,
}

impl Steered {
    /// Finds the session that `name` means.
    ///
    /// # Errors
    /// When there is none, or the log cannot be used.
    pub(super) async fn find(invocation: &Invocation, name: &str) -> Result<Self, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let stream = session_name::find(log.as_ref(), name).await?;
        let state = setup.checkpoints(log.as_ref()).load(log.as_ref(), &stream).await?;
        if state.closed {
            return Err(CliError::new(Exit::Usage, format!("session {} is closed", stream.id)));
        }
        Ok(Self { setup, log, stream, state })
    }

    /// The log.
    pub(super) fn log(&self) -> &dyn EventLog {
        self.log.as_ref()
    }

    /// The session's id.
    pub(super) fn id(&self) -> &str {
        self.stream.id.as_str()
    }

    /// Text of the user's, as it may be logged.
    pub(super) fn redact(&self, text: &str) -> String {
        self.setup.redactor.redact(text).into_owned()
    }

    /// An error that lists `calls`, of which one must be named.
    pub(super) fn which(&self, what: &str, calls: &[CallId]) -> CliError {
        let calls: Vec<String> = calls.iter().map(|call| clean::short(&call.0, 80)).collect();
        CliError::new(Exit::Usage, format!("{} calls of session {} {what}", calls.len(), self.id()))
            .hint(format!("name one of them: {}", calls.join(", ")))
    }

    /// Says `payload`, tells in `words` that it was said, and waits for what becomes of it where asked to.
    ///
    /// # Errors
    /// When it cannot be sent, or the log cannot be followed.
    pub(super) async fn say(&self, payload: Payload, words: &str, wait: bool) -> Result<Exit, CliError> {
        let sender = ControlSender::new(Arc::clone(&self.log), Arc::new(SystemMint), &self.stream);
        let event = sender.send(payload).await?;
        let output = &self.setup.output;
        if output.json {
            output.json_line(&json!({ "sent": {
                "session": self.id(),
                "event": event.envelope.id.to_string(),
                "seq": event.envelope.seq,
                "kind": event.envelope.kind,
            } }))?;
        } else {
            output.note(&format!("{words} (event {} of its control stream)\n", event.envelope.seq));
        }
        if !wait {
            return Ok(Exit::Done);
        }
        let handled = self.handled(&event).await?;
        let note = self.setup.redactor.redact(&handled.note).into_owned();
        if output.json {
            output.json_line(&json!({ "handled": {
                "session": self.id(),
                "event": event.envelope.id.to_string(),
                "accepted": handled.accepted,
                "note": note,
            } }))?;
        } else {
            let word = if handled.accepted { "accepted" } else { "refused" };
            output.data(&format!("{word}: {}\n", clean::short(&note, 500)))?;
        }
        Ok(if handled.accepted { Exit::Done } else { Exit::Failed })
    }

    /// Waits until the session's holder has taken `sent` in.
    async fn handled(&self, sent: &Event) -> Result<SessionControlHandled, CliError> {
        let mut events = following::follow(Arc::clone(&self.log), self.stream.clone(), self.state.next_seq());
        while let Some(event) = events.next().await {
            if let Some(Payload::Session(Session::ControlHandled(handled))) = event?.payload.known()
                && handled.event == sent.envelope.id
            {
                return Ok(handled.clone());
            }
        }
        Err(CliError::new(Exit::Log, format!("session {} cannot be followed any more", self.id())))
    }
}
