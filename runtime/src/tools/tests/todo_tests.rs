//! `todo`: what becomes of a plan, and which plans are refused.

use super::harness::{Bench, SECRET};
use retrace_events::payload::session::{PlanItem, PlanStatus};
use serde_json::{Value, json};

fn item(text: &str, status: &str) -> Value {
    json!({"text": text, "status": status})
}

#[tokio::test]
async fn a_plan_is_taken_whole_and_counted() {
    let bench = Bench::new().await;
    let items = [item("look", "done"), item(" write\n it ", "in_progress"), item("test", "pending")];
    let result = bench.run("todo", json!({"items": items})).await;
    assert_eq!(result.content, "plan of 3 items: 1 done, 1 in progress, 1 pending");
    let expected = [("look", PlanStatus::Done), ("write it", PlanStatus::InProgress), ("test", PlanStatus::Pending)];
    let expected = expected.map(|(text, status)| PlanItem { text: text.to_owned(), status });
    assert_eq!(result.plan.as_deref(), Some(&expected[..]));
    let empty = bench.run("todo", json!({"items": []})).await;
    assert_eq!(
        (empty.content.as_str(), empty.plan, empty.is_error),
        ("there is no plan any more", Some(vec![]), false)
    );
}

#[tokio::test]
async fn two_at_a_time_are_advised_against() {
    let bench = Bench::new().await;
    let items = [item("a", "in_progress"), item("b", "in_progress")];
    let text = bench.ok("todo", json!({"items": items})).await;
    assert_eq!(text, "plan of 2 items: 0 done, 2 in progress, 0 pending\nhint: keep one item in progress at a time");
}

#[tokio::test]
async fn a_secret_does_not_get_into_the_plan() {
    let bench = Bench::new().await;
    let result = bench.run("todo", json!({"items": [item(&format!("log in with {SECRET}"), "pending")]})).await;
    assert_eq!(result.plan.unwrap()[0].text, "log in with [redacted:known]");
}

#[tokio::test]
async fn plans_are_bounded() {
    let bench = Bench::new().await;
    let plan = |count: usize| json!({"items": vec![item(&"ä".repeat(500), "done"); count]});
    assert_eq!(bench.ok("todo", plan(100)).await, "plan of 100 items: 100 done, 0 in progress, 0 pending");
    let table = [
        (plan(101), "the plan has 101 items, at most 100: put some together"),
        (
            json!({"items": [item("x", "done"), item(&"x".repeat(501), "done")]}),
            "item 2 has 501 characters, at most 500",
        ),
        (json!({"items": [item("\n ", "done")]}), "item 1 has no text"),
    ];
    for (input, expected) in table {
        let result = bench.run("todo", input).await;
        assert_eq!((result.content.as_str(), result.is_error, result.plan), (expected, true, None));
    }
}
