//! What a front end sees while the agent works: each event as it was logged, and, between events, pieces of text
//! that are not logged (a text delta is no event; the finished answer is).

use retrace_events::{CallId, Event};
use std::sync::Arc;
use tokio::sync::broadcast;

/// One thing to show.
#[derive(Debug, Clone)]
pub enum Live {
    /// An event is in the log.
    Logged(Arc<Event>),
    /// A piece of the answer's text.
    Text(String),
    /// A piece of the answer's thinking.
    Thinking(String),
    /// The model begins to write a tool call.
    ToolStarted {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
    },
    /// A piece of a running command's output, redacted.
    ToolOutput {
        /// The call.
        call: CallId,
        /// The piece.
        text: String,
    },
    /// A request failed and will be tried again.
    Waiting {
        /// Why, in words.
        why: String,
        /// How long, in milliseconds.
        wait_ms: u64,
    },
    /// Something the user should know that is no event, such as a warning about the sandbox.
    Notice(String),
}

/// Where the agent puts what can be shown. Nobody needs to listen, and a slow listener never holds the agent up.
#[derive(Debug, Clone)]
pub struct LiveSender(broadcast::Sender<Live>);

impl Default for LiveSender {
    fn default() -> Self {
        Self(broadcast::channel(4_096).0)
    }
}

impl LiveSender {
    /// A new listener, for everything from now on.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Live> {
        self.0.subscribe()
    }

    /// Shows `live` to whoever listens.
    pub fn send(&self, live: Live) {
        // No listener is not an error.
        let _ = self.0.send(live);
    }
}
