//! Tests of the benchmark, and what they share: items and sessions made by hand, and a small session with what the older
//! program in Python finds in it (`*_expected.jsonl`, `python_texts.jsonl`: its output as it was, never edited).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod arms_tests;
mod cache_tests;
mod characters_tests;
mod context_bench_tests;
mod epochs_tests;
mod evidence_tests;
mod intervals_tests;
mod item_tests;
mod logged_tests;
mod need_tests;
mod points_tests;
mod python_tests;
mod recorded_tests;
mod report_tests;
mod requests_tests;
mod session_tests;
mod words_tests;

use super::arms::all_arms;
use super::{BenchPlan, BenchSession, ContextBench, Item, ItemKind, Measurements, PointView};
use crate::claude::ModelTable;
use serde_json::Value;

/// The recording of the small session.
pub(super) const SMALL: &str = include_str!("small_session.jsonl");

/// An item that is no call, a second after midnight.
pub(super) fn item(kind: ItemKind, text: &str) -> Item {
    Item::new(kind, "", "", text, 1_000)
}

pub(super) fn user(text: &str) -> Item {
    item(ItemKind::User, text)
}

pub(super) fn call(tool: &str, path: &str, input: &Value) -> Item {
    Item::new(ItemKind::ToolCall, tool, path, &input.to_string(), 1_000)
}

pub(super) fn result(tool: &str, path: &str, text: &str) -> Item {
    Item::new(ItemKind::ToolResult, tool, path, text, 1_000)
}

/// A session of these items, a second apart.
pub(super) fn session(items: Vec<Item>) -> BenchSession {
    let apart = |(place, item): (usize, Item)| Item { at_ms: 1_000 * (place as u64 + 1), ..item };
    BenchSession { id: "made".to_owned(), items: items.into_iter().enumerate().map(apart).collect() }
}

/// The small session.
pub(super) fn small() -> BenchSession {
    super::recorded::sessions(SMALL.as_bytes()).unwrap().remove(0)
}

/// A session long enough to have points: the small one, several times over with other names.
pub(super) fn long(id: &str) -> BenchSession {
    let again = |n: usize| SMALL.replace("frame", &format!("{id}{n}")).replace("src/", &format!("src{n}/"));
    let text: String = (0..5).map(again).collect();
    let mut session = super::recorded::sessions(text.as_bytes()).unwrap().remove(0);
    id.clone_into(&mut session.id);
    session
}

/// A plan of all arms with two budgets.
pub(super) fn plan() -> BenchPlan {
    let row = ModelTable::builtin().unwrap().row("claude-opus-5-5");
    BenchPlan { arms: all_arms(), budgets: vec![1_000, 8_000], points: None, seed: 7, row, view: PointView::Call }
}

/// What `plan` comes to over `sessions`.
pub(super) fn measured(plan: BenchPlan, sessions: &[BenchSession]) -> Measurements {
    let mut bench = ContextBench::new(plan);
    bench.measure(sessions, &mut || {}).unwrap();
    bench.finish().unwrap()
}
