//! What a line means that the user has sent, given what waits for their word. Pure.

use super::commands::{COMMANDS, Command};
use crate::cli::asking::{self, Decision, Waits};
use crate::config::similar;
use retrace_events::CallId;

/// What the user said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// An empty line.
    Nothing,
    /// Words for the model.
    Prompt(String),
    /// A decision on a call that waits.
    Decided {
        /// The call.
        call: CallId,
        /// The decision.
        decision: Decision,
    },
    /// An answer to a question of the model's.
    Answered {
        /// The call that asks.
        call: CallId,
        /// The answer.
        text: String,
    },
    /// A slash command and the rest of its line.
    Command(Command, String),
    /// A slash command that does not exist, and the one most like it.
    Unknown(String, Option<&'static str>),
}

/// Reads a line. The first of what waits is what a line decides on or answers.
pub(super) fn read(line: &str, waits: Option<&Waits>) -> Said {
    let line = line.trim_end().trim_start_matches(['\n', '\r']);
    if line.trim().is_empty() {
        return Said::Nothing;
    }
    if let Some(escaped) = line.strip_prefix("//") {
        return words(&format!("/{escaped}"), waits);
    }
    match line.strip_prefix('/') {
        Some(rest) => slash(line, rest, waits),
        None => words(line, waits),
    }
}

/// Words that are no command.
fn words(line: &str, waits: Option<&Waits>) -> Said {
    match waits {
        // What a number means, the tool knows that asks.
        Some(Waits::Answer { call }) => Said::Answered { call: call.clone(), text: line.trim().to_owned() },
        Some(Waits::Approval { call }) => match asking::decision(line) {
            Some(decision) => Said::Decided { call: call.clone(), decision },
            None => Said::Prompt(line.to_owned()),
        },
        None => Said::Prompt(line.to_owned()),
    }
}

fn slash(line: &str, rest: &str, waits: Option<&Waits>) -> Said {
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A path is no command.
    if name.contains('/') {
        return words(line, waits);
    }
    let name = name.to_lowercase();
    if name.is_empty() {
        return Said::Command(Command::Help, String::new());
    }
    match COMMANDS.iter().find(|row| row.name == name || row.other == Some(name.as_str())) {
        Some(row) => Said::Command(row.command, argument.trim().to_owned()),
        None => {
            let names: Vec<&'static str> = COMMANDS.iter().map(|row| row.name).collect();
            let begins = names.iter().copied().find(|known| known.starts_with(&name));
            Said::Unknown(name.clone(), begins.or_else(|| similar(&name, &names)))
        }
    }
}
