//! Ids follow from the conversation: the same for the same one, different everywhere else.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{assistant, messages, result, script, user};
use crate::scripted::plan::{Plan, PlannedBlock, ThinkingDisplay};
use crate::scripted::signature::{SigningKey, verify};

const SCRIPT: &str = "
[[step]]
next = '1'
name = '1'
block = [
  { type = 'thinking', text = 't' },
  { type = 'tool_use', name = 'a' },
  { type = 'tool_use', name = 'a' },
  { type = 'redacted_thinking' },
]
";

fn plan(request: &Value, display: ThinkingDisplay) -> Plan {
    let script = script(SCRIPT);
    let played = script.walk(request).unwrap();
    let prefix = verify(request, &SigningKey::default(), true).unwrap();
    Plan::new(played.step, &played.captures, prefix, &SigningKey::default(), display)
}

fn ids(plan: &Plan) -> Vec<String> {
    let id = |block: &PlannedBlock| if let PlannedBlock::ToolUse { id, .. } = block { Some(id.clone()) } else { None };
    plan.blocks.iter().filter_map(id).chain([plan.message_id.clone()]).collect()
}

#[test]
fn a_retry_and_a_fork_get_the_same_ids_and_another_conversation_gets_others() {
    let mut seen = HashSet::new();
    let mut request = messages(json!([user(json!("hello"))]));
    for turn in 0..5 {
        let first = plan(&request, ThinkingDisplay::Shown);
        assert_eq!(ids(&first), ids(&plan(&request, ThinkingDisplay::Shown)));
        for id in ids(&first) {
            assert!(id.len() > 20 && seen.insert(id.clone()), "{id} was given twice by turn {turn}");
        }
        let mut other = request.clone();
        other["messages"].as_array_mut().unwrap().push(user(json!("and one more thing")));
        assert!(ids(&plan(&other, ThinkingDisplay::Shown)).iter().all(|id| !seen.contains(id)));
        let content: Value = first.blocks.iter().map(PlannedBlock::json).collect();
        let results: Vec<Value> = ids(&first)[..2].iter().map(|id| result(id)).collect();
        request["messages"].as_array_mut().unwrap().extend([assistant(content), user(json!(results))]);
    }
}

#[test]
fn thinking_comes_as_it_is_wanted() {
    let request = messages(json!([user(json!("hello"))]));
    let shown = plan(&request, ThinkingDisplay::Shown);
    assert!(matches!(&shown.blocks[0], PlannedBlock::Thinking { text, .. } if text == "t"));
    assert_eq!(shown.blocks.len(), 4);
    let omitted = plan(&request, ThinkingDisplay::Omitted);
    assert!(
        matches!(&omitted.blocks[0], PlannedBlock::Thinking { text, signature } if text.is_empty() && !signature.is_empty())
    );
    let off = plan(&request, ThinkingDisplay::Off);
    assert!(off.blocks.iter().all(|block| matches!(block, PlannedBlock::ToolUse { .. })));
    assert_eq!(off.blocks.len(), 2);
}

#[test]
fn broken_input_stands_as_an_empty_object() {
    for (raw, due) in [("{\"a\":", json!({})), ("[1]", json!({})), ("{\"a\":1}", json!({ "a": 1 })), ("", json!({}))] {
        let block = PlannedBlock::ToolUse { id: "t1".into(), name: "a".into(), input_json: raw.into() };
        assert_eq!(block.json()["input"], due, "{raw}");
    }
}
