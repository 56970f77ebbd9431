//! `todo`: the model's plan, replaced whole. Nothing is kept here: the plan is an event of the session.

use super::output::{one_line, plural};
use super::typed::TypedTool;
use super::{ToolContext, ToolFailure, ToolResult};
use retrace_events::payload::session::{PlanItem, PlanStatus};
use retrace_events::payload::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The most items of a plan.
const MAX_ITEMS: usize = 100;
/// The longest item, in characters.
const MAX_ITEM_CHARS: usize = 500;

/// The tool.
pub(super) struct Todo;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The whole plan in order; an empty list ends it.
    items: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// What is to be done, in a few words (at most 500 characters).
    text: String,
    /// How far it is.
    status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Done,
}

impl From<Status> for PlanStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::InProgress => Self::InProgress,
            Status::Done => Self::Done,
        }
    }
}

impl TypedTool for Todo {
    type Input = Input;

    const NAME: &'static str = "todo";
    const DESCRIPTION: &'static str = "\
        Writes down your plan for work of several steps; the user sees it. Each call replaces the whole plan, so give \
        all items each time (at most 100). Keep one item in_progress while you work on it and mark it done as soon as \
        it is. Not for work of one or two steps.";
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;

    fn summary(input: &Value) -> String {
        let Some(items) = input["items"].as_array() else { return "?".to_owned() };
        let done = items.iter().filter(|item| item["status"] == "done").count();
        let now = items.iter().find(|item| item["status"] == "in_progress").and_then(|item| item["text"].as_str());
        let now = now.map(|text| format!(": {}", one_line(text, 80))).unwrap_or_default();
        format!("{done} of {} done{now}", items.len())
    }

    fn check(input: &Input) -> Result<(), String> {
        if input.items.len() > MAX_ITEMS {
            let count = plural(input.items.len() as u64, "item");
            return Err(format!("the plan has {count}, at most {MAX_ITEMS}: put some together"));
        }
        for (number, item) in (1..).zip(&input.items) {
            let length = item.text.chars().count();
            if item.text.trim().is_empty() {
                return Err(format!("item {number} has no text"));
            }
            if length > MAX_ITEM_CHARS {
                return Err(format!("item {number} has {length} characters, at most {MAX_ITEM_CHARS}"));
            }
        }
        Ok(())
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        let item = |Item { text, status }| {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            PlanItem { text: context.redactor.redact(&text).into_owned(), status: status.into() }
        };
        let plan: Vec<PlanItem> = input.items.into_iter().map(item).collect();
        Ok(ToolResult { content: counts(&plan), plan: Some(plan), ..ToolResult::default() })
    }
}

/// `plan of 5 items: 2 done, 1 in progress, 2 pending`.
fn counts(plan: &[PlanItem]) -> String {
    if plan.is_empty() {
        return "there is no plan any more".to_owned();
    }
    let count = |status: PlanStatus| plan.iter().filter(|item| item.status == status).count();
    let in_progress = count(PlanStatus::InProgress);
    let mut text = format!(
        "plan of {}: {} done, {in_progress} in progress, {} pending",
        plural(plan.len() as u64, "item"),
        count(PlanStatus::Done),
        count(PlanStatus::Pending)
    );
    if in_progress > 1 {
        text.push_str("\nhint: keep one item in progress at a time");
    }
    text
}
