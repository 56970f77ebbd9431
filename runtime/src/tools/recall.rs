//! `recall`: what was said, done and seen before, in this session and in others of this workspace, and the workspace's code.
//!
//! The only tool that does not act through the guest: it asks the host's index, and changes nothing. What it may see is
//! decided by whoever remembers ([`super::memory`]), not by its input.

use super::memory::{MemoryError, MemoryQuestion};
use super::narrowing;
use super::output::one_line;
use super::recalled::Recalled;
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult};
use retrace_events::Timestamp;
use retrace_events::mint::{Mint as _, SystemMint};
use retrace_events::payload::tool::ToolEffect;
use retrace_indexer::Filter;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Passages that come back when the input names no number.
const DEFAULT_LIMIT: usize = 8;
/// The most that can be asked for.
const MAX_LIMIT: u32 = 30;
/// The longest query, in characters.
const MAX_QUERY_CHARS: usize = 4_000;
/// How much comes back at most, in tokens.
const BUDGET_TOKENS: usize = 4_000;

/// The tool.
pub(super) struct Recall;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What to look for: the words that would stand there, such as an error message, a command, a name, or what it was
    /// about. "…" around words that belong together, -word for what must not be there.
    query: String,
    /// Only one kind: prompt, answer, thinking, call, result, note, summary or code.
    kind: Option<String>,
    /// Only calls and results of this tool, for example bash.
    tool: Option<String>,
    /// Only what is about this file, or about files in this folder.
    path: Option<String>,
    /// Only this session: its id or a unique beginning of it, as results name it; `this` is the present one.
    session: Option<String>,
    /// Only what is not older: a date like 2026-11-21, or an age like 3h or 2d.
    since: Option<String>,
    /// Only what is not newer, written like since.
    until: Option<String>,
    /// Only in one place: events, summaries or code. Left out: in all.
    r#in: Option<String>,
    /// How many passages to show at most, up to 30. Left out: 8.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

impl Input {
    /// What the passages must be like.
    fn filter(&self, now: Timestamp) -> Result<Filter, String> {
        let fields = [
            ("kind", &self.kind),
            ("tool", &self.tool),
            ("path", &self.path),
            ("since", &self.since),
            ("until", &self.until),
            ("in", &self.r#in),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        narrowing::filter(fields.filter(|(_, value)| !value.trim().is_empty()), now)
    }
}

impl TypedTool for Recall {
    type Input = Input;

    const NAME: &'static str = "recall";
    const DESCRIPTION: &'static str = "\
        Searches what was said and done before: all of this session, also what you no longer see of it, earlier sessions \
        in this workspace, and the workspace's code. Use it when the user refers to earlier work, before you work out again \
        what may have been found out already (a decision, a command that worked, the cause of an error), when an error \
        looks familiar, and to find code by what it is about. For an exact pattern in the files as they are now use \
        search_files. Comes back with the best passages first, each with where it is from (session and event, or path and \
        lines), its age and its words; about 16,000 bytes at most. Old passages may be out of date: check files before \
        you rely on them. Nothing is run again.";
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;

    fn summary(input: &Value) -> String {
        let query = one_line(input["query"].as_str().unwrap_or("?"), 100);
        let fields = ["kind", "tool", "path", "session", "since", "until", "in"];
        let fields = fields.into_iter().filter_map(|name| Some((name, input[name].as_str()?)));
        let fields: String = fields
            .filter(|(_, value)| !value.trim().is_empty())
            .map(|(name, value)| format!(" {name}:{}", one_line(value, 30)))
            .take(3)
            .collect();
        format!("{query}{fields}")
    }

    fn check(input: &Input) -> Result<(), String> {
        let length = input.query.chars().count();
        if input.query.trim().is_empty() {
            return Err("the query is empty: give the words that would stand in what you look for".to_owned());
        }
        if length > MAX_QUERY_CHARS {
            return Err(format!(
                "the query has {length} characters, at most {MAX_QUERY_CHARS}: give the telling words"
            ));
        }
        input.filter(SystemMint.now()).map(drop)
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        tokio::select! {
            biased;
            result = recall(context, input) => Ok(result),
            () = context.cancel.cancelled() => Err(ToolFailure::Cancelled),
        }
    }
}

async fn recall(context: &ToolContext, input: Input) -> ToolResult {
    let now = SystemMint.now();
    let filter = match input.filter(now) {
        Ok(filter) => filter,
        Err(why) => return ToolResult::error(why),
    };
    let session = input.session.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let session = session.map(|name| if name == "this" { context.session.id.to_string() } else { name });
    let limit = input.limit.map_or(DEFAULT_LIMIT, |limit| usize::try_from(limit.clamp(1, MAX_LIMIT)).unwrap_or(1));
    let question =
        MemoryQuestion { query: input.query, filter, session, limit, budget_tokens: BUDGET_TOKENS, patient: true };
    match context.memory.search(&context.session, question).await {
        Ok(memories) => {
            let recalled = Recalled { own: &context.session, redactor: &context.redactor, now };
            ToolResult::text(recalled.text(&memories))
        }
        // Not the call's fault, and not a reason to try it once more.
        Err(error @ (MemoryError::Absent | MemoryError::Failed(_))) => {
            ToolResult::text(format!("nothing recalled: {}", context.redactor.redact(&error.to_string())))
        }
        Err(error @ (MemoryError::NoSuchSession(_) | MemoryError::Ambiguous(..))) => {
            ToolResult::error(one_line(&error.to_string(), 300))
        }
    }
}
