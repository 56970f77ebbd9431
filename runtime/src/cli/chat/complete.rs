//! What the tab key completes: slash commands, and after `/load` and `/model` what there is to name.

use super::commands::{COMMANDS, Command};
use super::settings::KINDS;
use reedline::{Completer, CompletionResult, Span, Suggestion};
use std::sync::{Arc, Mutex, PoisonError};

/// Names that change while the editor is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// Ids of sessions with their titles, the newest first.
    pub(super) sessions: Vec<(String, String)>,
    /// Ids of models.
    pub(super) models: Vec<String>,
}

/// The completer.
#[derive(Debug, Clone, Default)]
pub(super) struct SlashCompleter(Arc<Mutex<Names>>);

impl SlashCompleter {
    /// Takes other names.
    pub(super) fn set(&self, names: Names) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Complete lines that begin with `line`, each with a word of explanation.
    pub(super) fn candidates(&self, line: &str) -> Vec<(String, String)> {
        let Some(rest) = line.strip_prefix('/') else { return Vec::new() };
        let Some((name, begun)) = rest.split_once(' ') else {
            let rows = COMMANDS.iter().filter(|row| row.name.starts_with(rest));
            return rows.map(|row| (format!("/{}", row.name), row.help.to_owned())).collect();
        };
        let Some(row) = COMMANDS.iter().find(|row| row.name == name) else { return Vec::new() };
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let words: Vec<(String, String)> = match row.command {
            Command::Load => names.sessions.clone(),
            Command::Model => names.models.iter().map(|id| (id.clone(), String::new())).collect(),
            Command::Budget => KINDS.map(|kind| (kind.to_owned(), String::new())).into(),
            Command::Effort => {
                ["low", "medium", "high", "xhigh", "max", "none"].map(|level| (level.to_owned(), String::new())).into()
            }
            Command::Thinking => ["auto", "off", "adaptive"].map(|how| (how.to_owned(), String::new())).into(),
            Command::Help
            | Command::Clear
            | Command::Sessions
            | Command::Cost
            | Command::Sandbox
            | Command::Queue
            | Command::Plan
            | Command::Compact
            | Command::Quit => Vec::new(),
        };
        let fits = words.into_iter().filter(|(word, _)| word.starts_with(begun));
        fits.map(|(word, what)| (format!("/{name} {word}"), what)).collect()
    }
}

impl Completer for SlashCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let Some(begun) = line.get(..pos) else { return CompletionResult::fresh(Vec::new()) };
        let suggestion = |(value, what): (String, String)| Suggestion {
            value,
            description: (!what.is_empty()).then_some(what),
            span: Span::new(0, pos),
            ..Suggestion::default()
        };
        CompletionResult::fresh(self.candidates(begun).into_iter().map(suggestion).collect::<Vec<_>>())
    }
}
