//! What is left to do, by the newest plan of a stretch of a session.

use super::excerpt;
use super::reading::Reading;
use retrace_events::EventId;
use retrace_events::payload::session::{PlanStatus, SessionPlanned};
use serde::{Deserialize, Serialize};

/// The most open tasks that are kept of a plan.
const MAX_TASKS: usize = 12;

/// The longest task, in bytes.
const MAX_TASK_BYTES: usize = 160;

/// What was left to do by a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestPlan {
    /// The event with the plan, by its number.
    pub seq: u64,
    /// The same event by its id.
    pub event: EventId,
    /// What is not done, in order.
    pub open: Vec<OpenTask>,
    /// How many more are not done.
    #[serde(default)]
    pub more: u32,
    /// How many are done.
    pub done: u32,
}

/// A task that is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTask {
    /// What is to be done, redacted, on one line.
    pub text: String,
    /// Whether it was begun.
    pub in_progress: bool,
}

impl DigestPlan {
    /// What is left to do by a plan.
    pub(super) fn of(planned: &SessionPlanned, reading: &Reading<'_>) -> Self {
        let mut plan = Self { seq: reading.seq, event: reading.event, open: Vec::new(), more: 0, done: 0 };
        for item in &planned.items {
            let in_progress = match item.status {
                PlanStatus::Done => {
                    plan.done = plan.done.saturating_add(1);
                    continue;
                }
                PlanStatus::InProgress => true,
                PlanStatus::Pending => false,
            };
            if plan.open.len() < MAX_TASKS {
                let text = excerpt::line(&reading.redacted(&item.text), MAX_TASK_BYTES);
                plan.open.push(OpenTask { text, in_progress });
            } else {
                plan.more = plan.more.saturating_add(1);
            }
        }
        plan
    }
}
