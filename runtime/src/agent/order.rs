//! What a front end in this process may order of an agent that serves a session, beside what everybody may say to it
//! through the control stream.

use retrace_events::payload::settings::Settings;

/// An order to an agent.
pub enum AgentOrder {
    /// Change the settings; the model hears of it with the next turn.
    Configure {
        /// What to change.
        change: Box<dyn FnOnce(&mut Settings) + Send>,
        /// What it is and on whose word, for the log.
        why: String,
    },
    /// Begin the context afresh before the next request.
    Compact,
    /// Stop what is going on and leave the session.
    Leave,
}

impl std::fmt::Debug for AgentOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Configure { why, .. } => f.debug_struct("Configure").field("why", why).finish_non_exhaustive(),
            Self::Compact => f.write_str("Compact"),
            Self::Leave => f.write_str("Leave"),
        }
    }
}
