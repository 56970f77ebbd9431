//! `edit_file`: a piece of a file replaced by another, exactly once unless told otherwise.
//!
//! Encoding, byte order mark, line ends and permissions stay. A file whose bytes could not be written back as they
//! were is refused. Between reading and writing nobody else works on the file: the agent loop runs writing calls one
//! by one.

use super::guest::{self, GuestError};
use super::nearest;
use super::output::{cap, one_line, plural};
use super::replace::{EditError, Edited, replace};
use super::text_file::{NotText, TextFile, decode};
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult, missing, preview, write_file};
use retrace_events::payload::tool::ToolEffect;
use retrace_sandbox::{FailureKind, SandboxError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// The largest file that is edited, in bytes.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// The most of the diff that is shown, in bytes.
const MAX_DIFF_BYTES: usize = 6_000;
/// How long the diff is refined; after that it is coarser, not wrong.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// The tool.
pub(super) struct EditFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file, relative to the workspace.
    path: String,
    /// The text to replace, exactly as it is in the file.
    old_string: String,
    /// The text to put in its place; empty to delete it.
    new_string: String,
    /// Replace every place where old_string is found. Left out: there must be only one.
    replace_all: Option<bool>,
}

impl TypedTool for EditFile {
    type Input = Input;

    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "\
        Replaces a piece of a text file of the workspace by another. old_string must be in the file exactly as given, \
        with its indentation and without the line numbers of read_file, and only once unless replace_all is set: take in \
        a few lines around it to make it unique. Line ends (CRLF), encoding, byte order mark and permissions of the file \
        stay. Comes back with the change as a unified diff; when nothing fits, with the lines that are nearest. An empty \
        old_string creates a file that is not there yet. Files up to 16 MiB.";
    const EFFECT: ToolEffect = ToolEffect::Writes;

    fn summary(input: &Value) -> String {
        let path = one_line(input["path"].as_str().unwrap_or("?"), 80);
        let all = if input["replace_all"].as_bool() == Some(true) { ", everywhere" } else { "" };
        format!("{path}{all}")
    }

    async fn preview(context: &ToolContext, input: Input) -> Option<String> {
        Some(match plan(context, &input).await {
            Ok(Plan::Edit { file, edited, .. }) => diff(&input.path, &file.text, &edited.text),
            Ok(Plan::Create) => preview::of_write(context, &input.path, &input.new_string).await,
            Ok(Plan::Refused(result)) => format!("[this will fail: {}]", result.content),
            Err(GuestError::Refused(failure)) => format!("[this will fail: {}]", failure.message),
            Err(GuestError::Failed(failure)) => format!("[the file cannot be looked at: {failure}]"),
        })
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        guest::settle_write(context, edit(context, &input)).await
    }
}

/// What an edit comes to, before anything is written.
enum Plan {
    /// The file gets these bytes.
    Edit {
        /// Its text as it is, and how that is written.
        file: TextFile,
        /// Its text as it will be.
        edited: Edited,
        /// That text as the file holds it.
        bytes: Vec<u8>,
    },
    /// There is no such file, or it is empty: it gets the new text.
    Create,
    /// It cannot be done, and why.
    Refused(ToolResult),
}

async fn edit(context: &ToolContext, input: &Input) -> Result<ToolResult, GuestError> {
    match plan(context, input).await? {
        Plan::Edit { file, edited, bytes } => {
            let places = if edited.count == 1 { String::new() } else { format!(" in {} places", edited.count) };
            let diff = diff(&input.path, &file.text, &edited.text);
            let diff = context.redactor.redact(&diff);
            let (diff, _) = cap(&diff, MAX_DIFF_BYTES, |omitted| {
                format!("[{} of the diff left out]", plural(omitted.lines as u64, "line"))
            });
            let text = format!("edited {}{places}\n{}", input.path, diff.trim_end_matches('\n'));
            put(context, input, bytes, Some(text)).await
        }
        Plan::Create => put(context, input, input.new_string.clone().into_bytes(), None).await,
        Plan::Refused(result) => Ok(result),
    }
}

async fn plan(context: &ToolContext, input: &Input) -> Result<Plan, GuestError> {
    let path = &input.path;
    let refused = |text: String| Ok(Plan::Refused(ToolResult::error(text)));
    let bytes = match context.sandbox.read(path, 0, MAX_FILE_BYTES).await {
        Ok(contents) if contents.total_bytes <= MAX_FILE_BYTES => contents.bytes,
        Ok(contents) => {
            let size = plural(contents.total_bytes, "byte");
            return refused(format!("{path} is too large to edit ({size}); use bash (sed, or a script)"));
        }
        Err(SandboxError::Guest(failure)) if failure.kind == FailureKind::NotFound && input.old_string.is_empty() => {
            return Ok(Plan::Create);
        }
        Err(error) => return missing::explain(context, path, error.into()).await.map(Plan::Refused),
    };
    if bytes.is_empty() && guest::is_masked(context, path) {
        return Ok(Plan::Refused(guest::masked(path)));
    }
    if input.old_string.is_empty() && bytes.is_empty() {
        return Ok(Plan::Create);
    }
    if input.old_string.is_empty() {
        return refused(format!("{path} is there and not empty: old_string must say what to replace"));
    }
    let file = match decode(&bytes) {
        Ok(file) => file,
        Err(why) => return refused(not_editable(path, &why)),
    };
    let edited = match replace(&file.text, &input.old_string, &input.new_string, input.replace_all == Some(true)) {
        Ok(edited) => edited,
        Err(error) => return refused(refusal(path, &file.text, &input.old_string, error, context)),
    };
    match file.encoding.encode(&edited.text) {
        Ok(bytes) => Ok(Plan::Edit { file, edited, bytes }),
        Err(character) => refused(format!(
            "{path} is in Windows-1252 (Latin-1), which has no `{character}`; write it another way, or convert the \
             file to UTF-8 first"
        )),
    }
}

fn not_editable(path: &str, why: &NotText) -> String {
    match why {
        NotText::Binary | NotText::UnknownEncoding => format!("{path} is {why}: edit_file cannot edit it"),
        NotText::Invalid(_) => {
            format!(
                "{path} is {why}, which would be lost in an edit; repair it first (for example with iconv -c in bash)"
            )
        }
    }
}

fn refusal(path: &str, text: &str, old: &str, error: EditError, context: &ToolContext) -> String {
    match error {
        EditError::Same => {
            "old_string and new_string are the same (line ends do not count; the file keeps its own)".to_owned()
        }
        EditError::NotFound => {
            let near = nearest::explain(text, old);
            format!("old_string is not in {path}; {}", context.redactor.redact(&near))
        }
        EditError::Ambiguous { count, lines } => {
            let named: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let more = if count > named.len() { ", …" } else { "" };
            let places = format!("{}{more}", named.join(", "));
            format!(
                "old_string is in {path} {count} times (in lines {places}); take in more lines around the one you \
                 mean, or set replace_all"
            )
        }
    }
}

/// Writes `bytes`; without a `text` of its own the result says that the file was created.
async fn put(
    context: &ToolContext,
    input: &Input,
    bytes: Vec<u8>,
    text: Option<String>,
) -> Result<ToolResult, GuestError> {
    let created = match context.sandbox.write(&input.path, bytes, None).await {
        Ok(done) => done.created,
        Err(error) => return missing::explain(context, &input.path, error.into()).await,
    };
    let done = write_file::done(&input.path, created, None, &input.new_string);
    Ok(ToolResult { content: text.unwrap_or(done.content.clone()), ..done })
}

/// A unified diff with three lines around each change; line ends are not shown.
pub(super) fn diff(path: &str, old: &str, new: &str) -> String {
    let (old, new) = (super::replace::to_lf(old), super::replace::to_lf(new));
    let diff = similar::TextDiff::configure().timeout(DIFF_TIME).diff_lines(&*old, &*new);
    diff.unified_diff().context_radius(3).header(path, path).to_string()
}
