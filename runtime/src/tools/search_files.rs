//! `search_files`: a regular expression over the workspace's files, as `path:line:text`.

use super::guest::{self, GuestError};
use super::missing;
use super::output::{INLINE_BYTES, cut_line, one_line, plural, thousands, visible};
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult};
use retrace_events::payload::tool::ToolEffect;
use retrace_sandbox::{Match, RawPath, SearchDone, SearchSpec, Truncation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;

/// Matches that are shown when the input names no number.
const DEFAULT_RESULTS: u32 = 200;
/// The most matches that can be asked for.
const MAX_RESULTS: u32 = 2_000;
/// The most lines around a match.
const MAX_CONTEXT_LINES: u32 = 20;
/// How much of a line is shown, in characters; the guest cuts at about as much.
const MAX_LINE_CHARS: usize = 600;
/// How long a search may take, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;

/// The tool.
pub(super) struct SearchFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The regular expression. Escape what is meant literally: `foo\(`.
    pattern: String,
    /// The file or folder to search, relative to the workspace. Left out: all of it.
    path: Option<String>,
    /// Only files whose path matches this glob, for example `*.rs` or `src/**/*.ts`; with `!` before it, all but those.
    glob: Option<String>,
    /// Take upper and lower case for the same. Left out: false.
    case_insensitive: Option<bool>,
    /// How many lines to show before and after each match, at most 20. Left out: 0.
    context: Option<u32>,
    /// Show only the paths of the files that match. Left out: false.
    files_only: Option<bool>,
    /// How many matches to show at most, up to 2,000. Left out: 200.
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

impl TypedTool for SearchFiles {
    type Input = Input;

    const NAME: &'static str = "search_files";
    const DESCRIPTION: &'static str = "\
        Searches the text of the workspace's files for a regular expression (Rust syntax, as in ripgrep), line by line. \
        Comes back as `path:line:text`, lines around a match as `path-line-text`, and a last line with the counts and \
        what was left out. Leaves out what .gitignore excludes, .git, and binary files. Shows up to 200 matches \
        (max_results: up to 2,000) and 16,000 bytes. Set files_only to see only which files match. Faster and safer than \
        grep in bash.";
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;

    fn summary(input: &Value) -> String {
        let pattern = one_line(input["pattern"].as_str().unwrap_or("?"), 60);
        let places =
            [input["path"].as_str(), input["glob"].as_str()].into_iter().flatten().filter(|place| !place.is_empty());
        let places = places.map(|place| one_line(place, 60)).collect::<Vec<_>>().join(" ");
        if places.is_empty() { format!("/{pattern}/") } else { format!("/{pattern}/ in {places}") }
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        guest::settle_look(context, search(context, input)).await
    }
}

async fn search(context: &ToolContext, input: Input) -> Result<ToolResult, GuestError> {
    if input.pattern.is_empty() {
        return Ok(ToolResult::error("the pattern is empty; to see what files there are use list_dir"));
    }
    let path = input.path.unwrap_or_default();
    let files_only = input.files_only == Some(true);
    let spec = SearchSpec {
        pattern: input.pattern,
        path: RawPath::from(&path),
        globs: input.glob.into_iter().filter(|glob| !glob.is_empty()).collect(),
        case_insensitive: input.case_insensitive == Some(true),
        context_lines: if files_only { 0 } else { input.context.unwrap_or(0).min(MAX_CONTEXT_LINES) },
        max_matches: input.max_results.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS),
        files_with_matches: files_only,
        respect_gitignore: true,
        timeout_ms: TIMEOUT_MS,
    };
    match context.sandbox.search(spec).await {
        Ok(found) => Ok(ToolResult::text(report(context, &found.matches, &found.done, files_only))),
        Err(error) => missing::explain(context, &path, error.into()).await,
    }
}

fn report(context: &ToolContext, matches: &[Match], done: &SearchDone, files_only: bool) -> String {
    let listed = if files_only { paths(matches) } else { lines(matches) };
    let listed = context.redactor.redact(&listed);
    let shown = super::output::head_of(&listed, INLINE_BYTES);
    let cut = (shown.len() < listed.len()).then(|| super::output::count_lines(&listed[shown.len()..]));
    let gap = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    format!("{shown}{gap}{}", footer(done, files_only, cut))
}

fn paths(matches: &[Match]) -> String {
    matches.iter().map(|found| format!("{}\n", visible(&found.path.to_string()))).collect()
}

/// One line each, with an empty line between files and `--` between places of a file that do not touch.
pub(super) fn lines(matches: &[Match]) -> String {
    let mut text = String::new();
    let has_context = matches.iter().any(|found| found.is_context);
    let mut before: Option<&Match> = None;
    for found in matches {
        match before {
            Some(last) if last.path != found.path => text.push('\n'),
            Some(last) if has_context && found.line_number > last.line_number + 1 => text.push_str("--\n"),
            Some(_) | None => {}
        }
        let mark = if found.is_context { '-' } else { ':' };
        let line = cut_line(found.line.trim_end_matches(['\n', '\r']), MAX_LINE_CHARS);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}{mark}{}{mark}{line}", visible(&found.path.to_string()), found.line_number);
        before = Some(found);
    }
    text
}

fn footer(done: &SearchDone, files_only: bool, cut_lines: Option<usize>) -> String {
    let found = match (done.matches, files_only) {
        (0, _) => "no matches".to_owned(),
        (count, true) => plural(count.into(), "matching file"),
        (count, false) => plural(count.into(), "matching line"),
    };
    let mut remarks = vec![format!("{found}; {} searched", plural(done.files_searched.into(), "file"))];
    if let Some(lines) = cut_lines {
        remarks.push(format!("the last {} of this answer left out: narrow the search", plural(lines as u64, "line")));
    }
    match done.truncated {
        None => {}
        Some(Truncation::Count) => remarks.push("there are more: narrow the search or raise max_results".to_owned()),
        Some(Truncation::Bytes) => remarks.push("there are more: narrow the search".to_owned()),
        Some(Truncation::Time) => {
            remarks.push(format!("not complete: it took longer than {} s; narrow the search", TIMEOUT_MS / 1000));
        }
    }
    if done.binary_skipped > 0 {
        remarks.push(format!("{} skipped", plural(done.binary_skipped.into(), "binary file")));
    }
    if done.unreadable > 0 {
        remarks.push(format!("{} could not be read", thousands(done.unreadable.into())));
    }
    format!("[{}]", remarks.join("; "))
}
