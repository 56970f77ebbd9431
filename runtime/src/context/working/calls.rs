//! Calls as actions: the one place that knows how tools are called, here and in other agents whose sessions are read.

use super::happening::{Action, FilePath, Replacement};
use serde_json::{Map, Value};

/// The longest text of a field that is kept until the call's result is there, in bytes.
const FIELD_BYTES: usize = 2 * 1024 * 1024;

/// The most replacements of one call.
const MAX_EDITS: usize = 1_000;

/// What a call of `tool` is about. `known` is the file's path relative to the workspace.
pub(crate) fn action(tool: &str, input: &Map<String, Value>, known: &dyn Fn(&str) -> String) -> Action {
    let text = |field: &str| input.get(field).and_then(Value::as_str).filter(|text| text.len() <= FIELD_BYTES);
    let number = |field: &str| input.get(field).and_then(Value::as_u64);
    let file = || {
        let shown = ["file_path", "path", "notebook_path"].into_iter().find_map(text)?;
        Some(FilePath { known: known(shown), shown: shown.to_owned() }).filter(|path| !path.known.is_empty())
    };
    let action = match tool {
        "Read" | "read_file" => file().map(|path| {
            let (from, limit) = (number("offset").filter(|from| *from > 0), number("limit").filter(|most| *most > 0));
            Action::Read { path, from, whole: from.is_none() && limit.is_none() }
        }),
        "Edit" | "MultiEdit" | "edit_file" => file().map(|path| edit(path, input)),
        "Write" | "write_file" => {
            file().zip(text("content")).map(|(path, content)| Action::Write { path, content: content.to_owned() })
        }
        "Grep" | "search_files" => {
            let what: Vec<&str> = ["pattern", "path", "glob"].into_iter().filter_map(text).collect();
            Some(Action::Search { what: what.join(" "), place: text("path").map(str::to_owned) })
        }
        "Bash" | "bash" => text("command").map(|command| Action::Run { command: command.to_owned() }),
        "TodoWrite" | "todo" => Some(Action::Plan),
        _ => None,
    };
    let place =
        || ["path", "file_path"].into_iter().find_map(text).filter(|place| !place.is_empty()).map(str::to_owned);
    action.unwrap_or_else(|| Action::Other { name: tool.to_owned(), place: place() })
}

/// A call that replaces something: once, or a list of replacements. Nothing is replaced in a file that is not there yet.
fn edit(path: FilePath, input: &Map<String, Value>) -> Action {
    let all = input.get("edits").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let replacement = |edit: &Map<String, Value>| {
        let text = |field: &str| edit.get(field).and_then(Value::as_str).filter(|text| text.len() <= FIELD_BYTES);
        let every = edit.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
        Some(Replacement { old: text("old_string")?.to_owned(), new: text("new_string")?.to_owned(), every })
    };
    let mut edits: Vec<Replacement> =
        std::iter::once(input).chain(all).filter_map(replacement).take(MAX_EDITS).collect();
    match edits.first_mut() {
        Some(first) if first.old.is_empty() => Action::Write { path, content: std::mem::take(&mut first.new) },
        Some(_) | None => Action::Edit { path, edits },
    }
}

/// All strings in `value`, a line each, without the names of fields.
pub(crate) fn strings(value: &Value) -> String {
    let mut lines = String::new();
    gather(value, &mut lines);
    lines
}

fn gather(value: &Value, lines: &mut String) {
    match value {
        Value::String(text) => {
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines.push_str(text);
        }
        Value::Array(values) => values.iter().for_each(|value| gather(value, lines)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, lines)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `path` relative to `workspace` where it is in it, without `.` and empty parts.
pub(crate) fn within(workspace: &str, path: &str) -> String {
    let inside = path.strip_prefix(workspace).and_then(|rest| rest.strip_prefix('/'));
    let path = inside.filter(|_| !workspace.is_empty()).unwrap_or(path);
    let root = if path.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("{root}{}", parts.join("/"))
}
