//! The words and the files in a call's input. The input is JSON as the model wrote it: any tool's, also tools that are not
//! known here, and whatever a hostile model makes of it.

use super::command_paths::command_paths;
use super::paths::add_path;
use super::unit::MAX_UNIT_BYTES;
use serde_json::Value;

/// Fields that hold a path, or a list of paths.
const PATH_FIELDS: &[&str] = &["path", "file_path", "notebook_path", "filename", "file", "paths", "files"];
/// Fields that hold a shell command.
const COMMAND_FIELDS: &[&str] = &["command", "cmd"];
/// Numbers in these say how a call is to be carried out, not what it is about.
const SETTING_FIELDS: &[&str] =
    &["timeout_ms", "timeout", "offset", "limit", "head_limit", "max_results", "depth", "context", "-A", "-B", "-C"];

/// What an input says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CallInput {
    /// Its values, one a line, without names and punctuation.
    pub(super) words: String,
    /// Files, normalised.
    pub(super) paths: Vec<String>,
}

impl CallInput {
    /// Of an input in a session in `workspace`; `input` is redacted already. What is no JSON is taken as words.
    pub(super) fn of(input: &str, workspace: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(input) else {
            return Self { words: input.to_owned(), paths: Vec::new() };
        };
        let mut found = Self::default();
        found.take("", &value, workspace);
        found
    }

    /// Depth is bounded by the parser.
    fn take(&mut self, field: &str, value: &Value, workspace: &str) {
        match value {
            Value::String(text) => {
                self.say(text);
                if PATH_FIELDS.contains(&field) {
                    add_path(&mut self.paths, text, workspace);
                } else if COMMAND_FIELDS.contains(&field) {
                    command_paths(text).into_iter().for_each(|path| add_path(&mut self.paths, path, workspace));
                }
            }
            Value::Number(number) if !SETTING_FIELDS.contains(&field) => self.say(&number.to_string()),
            Value::Array(values) => values.iter().for_each(|value| self.take(field, value, workspace)),
            Value::Object(fields) => {
                fields.iter().for_each(|(field, value)| self.take(field, value, workspace));
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn say(&mut self, words: &str) {
        if words.trim().is_empty() || self.words.len() > 2 * MAX_UNIT_BYTES {
            return;
        }
        if !self.words.is_empty() {
            self.words.push('\n');
        }
        self.words.push_str(words);
    }
}
