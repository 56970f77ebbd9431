//! `write_file`: a whole file, new or in place of what was there. The guest writes it atomically.

use super::guest::{self, GuestError};
use super::missing;
use super::output::{count_lines, one_line, plural};
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult, preview};
use retrace_events::payload::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The tool.
pub(super) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file, relative to the workspace.
    path: String,
    /// All that the file shall hold.
    content: String,
}

impl TypedTool for WriteFile {
    type Input = Input;

    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = "\
        Writes a whole file of the workspace, in UTF-8 and exactly as given: a new one, or in place of what it held. \
        Folders above it are created. The file is replaced in one step, so nobody ever sees half of it. Comes back with \
        whether it was created or overwritten, and its lines and bytes. To change a part of a file use edit_file, which \
        is shorter and safer.";
    const EFFECT: ToolEffect = ToolEffect::Writes;

    fn summary(input: &Value) -> String {
        let path = one_line(input["path"].as_str().unwrap_or("?"), 80);
        match input["content"].as_str() {
            Some(content) => format!("{path} ({})", plural(count_lines(content) as u64, "line")),
            None => path,
        }
    }

    async fn preview(context: &ToolContext, input: Input) -> Option<String> {
        Some(preview::of_write(context, &input.path, &input.content).await)
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        guest::settle_write(context, write(context, &input)).await
    }
}

async fn write(context: &ToolContext, input: &Input) -> Result<ToolResult, GuestError> {
    let before = context.sandbox.stat(&input.path, true).await.ok();
    let created = match context.sandbox.write(&input.path, input.content.clone(), None).await {
        Ok(done) => done.created,
        Err(error) => return missing::explain(context, &input.path, error.into()).await,
    };
    Ok(done(&input.path, created, before.map(|stat| stat.size_bytes), &input.content))
}

/// The result of having written `content` to `path`, which had `before` bytes.
pub(super) fn done(path: &str, created: bool, before: Option<u64>, content: &str) -> ToolResult {
    let size = format!("{}, {}", plural(count_lines(content) as u64, "line"), plural(content.len() as u64, "byte"));
    let text = match before {
        Some(before) if !created => format!("overwrote {path} ({size}; it had {})", plural(before, "byte")),
        _ if created => format!("created {path} ({size})"),
        _ => format!("overwrote {path} ({size})"),
    };
    ToolResult { changed: vec![guest::plain_path(path)], ..ToolResult::text(text) }
}
