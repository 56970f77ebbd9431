//! `list_dir`: a folder as a tree with sizes.
//!
//! When there is more than can be shown, what lies higher goes first, and each folder says how many of its entries
//! are missing.

use super::guest::{self, GuestError};
use super::missing;
use super::output::{one_line, plural, thousands, visible};
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult};
use retrace_events::payload::tool::ToolEffect;
use retrace_sandbox::{Entry, EntryKind, ListDone, Listing, Truncation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// Levels that are shown when the input names none.
const DEFAULT_DEPTH: u32 = 2;
/// The most entries that are shown.
const MAX_SHOWN: usize = 1_000;
/// The most entries that are looked at, to say how many are missing.
const MAX_LISTED: u32 = 20_000;

/// The tool.
pub(super) struct ListDir;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The folder, relative to the workspace. Left out: the workspace itself.
    path: Option<String>,
    /// How many levels to show; 1 is the folder's own entries only. Left out: 2.
    #[schemars(range(min = 1))]
    depth: Option<u32>,
    /// Show also what .gitignore excludes, and .git. Left out: false.
    include_ignored: Option<bool>,
}

impl TypedTool for ListDir {
    type Input = Input;

    const NAME: &'static str = "list_dir";
    const DESCRIPTION: &'static str = "\
        Lists a folder of the workspace as an indented tree: folders end in `/`, files have their size in bytes. Leaves \
        out what .gitignore excludes, and .git, unless include_ignored is set. Shows up to 1,000 entries, the higher \
        ones first, and says how many are missing where. To find text in files use search_files.";
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;

    fn summary(input: &Value) -> String {
        one_line(input["path"].as_str().filter(|path| !path.is_empty()).unwrap_or("."), 80)
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        guest::settle_look(context, list(context, &input)).await
    }
}

async fn list(context: &ToolContext, input: &Input) -> Result<ToolResult, GuestError> {
    let path = input.path.as_deref().unwrap_or_default();
    let depth = input.depth.unwrap_or(DEFAULT_DEPTH).max(1);
    let hide = input.include_ignored != Some(true);
    let Listing { mut entries, done } = match context.sandbox.list(path, Some(depth), hide, MAX_LISTED).await {
        Ok(listing) => listing,
        Err(error) => return missing::explain(context, path, error.into()).await,
    };
    if done.truncated.is_some() && depth > 1 {
        // The walk went deep and stopped somewhere: what lies directly here is shown all the same.
        entries.extend(context.sandbox.list(path, Some(1), hide, MAX_LISTED).await?.entries);
    }
    Ok(ToolResult::text(context.redactor.redact(&tree(path, &entries, &done)).into_owned()))
}

/// The listing for the model.
pub(super) fn tree(root: &str, entries: &[Entry], done: &ListDone) -> String {
    let root = guest::plain_path(root);
    let mut nodes: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for entry in entries {
        let path = entry.path.to_string();
        let below = path.strip_prefix(&root).unwrap_or(&path).trim_start_matches('/');
        let parts: Vec<String> = below.split('/').map(str::to_owned).collect();
        let label = label(parts.last().map_or("", String::as_str), entry);
        nodes.insert(parts, label);
    }
    // The higher entries first, then by name.
    let mut order: Vec<&Vec<String>> = nodes.keys().collect();
    order.sort_by_key(|parts| parts.len());
    let shown: HashSet<&[String]> = order.iter().take(MAX_SHOWN).map(|parts| parts.as_slice()).collect();
    let mut missing: BTreeMap<&[String], u64> = BTreeMap::new();
    for parts in order.iter().skip(MAX_SHOWN) {
        // Counted at the deepest folder that is shown.
        let mut above = (0..parts.len()).rev().map(|depth| &parts[..depth]);
        let holder = above.find(|parts| parts.is_empty() || shown.contains(*parts));
        *missing.entry(holder.unwrap_or_default()).or_default() += 1;
    }
    let mut text = String::new();
    for (parts, label) in nodes.iter().filter(|(parts, _)| shown.contains(parts.as_slice())) {
        let count = missing.get(parts.as_slice());
        let more = count.map(|count| format!("  [{} more not shown]", thousands(*count))).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}{}{more}", "  ".repeat(parts.len() - 1), label);
    }
    let top = missing.get(&[][..]).copied().unwrap_or_default();
    text.push_str(&footer(nodes.len(), shown.len(), top, done));
    text
}

/// `src/`, `main.rs  1,234`, `link@`.
fn label(name: &str, entry: &Entry) -> String {
    let name = visible(name);
    match entry.kind {
        EntryKind::Directory => format!("{name}/"),
        EntryKind::File => format!("{name}  {}", thousands(entry.size_bytes)),
        EntryKind::Symlink => format!("{name}@ (symbolic link)"),
        EntryKind::Special => format!("{name} (fifo, socket or device)"),
    }
}

fn footer(listed: usize, shown: usize, top: u64, done: &ListDone) -> String {
    if listed == 0 && done.truncated.is_none() {
        return "[the folder is empty, or all in it is ignored]".to_owned();
    }
    let mut remarks = vec![match listed {
        1 => "1 entry".to_owned(),
        listed => format!("{} entries", thousands(listed as u64)),
    }];
    if shown < listed {
        remarks.push(format!("{} not shown", thousands((listed - shown) as u64)));
    }
    if top > 0 {
        remarks.push(format!("{} of those directly here", thousands(top)));
    }
    match done.truncated {
        None => {}
        Some(Truncation::Count | Truncation::Bytes) => remarks.push("there are more; list a folder below".to_owned()),
        Some(Truncation::Time) => remarks.push("not complete: it took too long; list a folder below".to_owned()),
    }
    if done.unreadable > 0 {
        remarks.push(format!("{} could not be read", plural(done.unreadable.into(), "folder")));
    }
    format!("[{}]", remarks.join("; "))
}
