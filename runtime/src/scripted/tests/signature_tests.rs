//! Thinking is bound to its prefix: whatever changes before a block is found, and what changes nothing is not.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{assistant, messages, row, script, text, user};
use crate::scripted::plan::{Plan, ThinkingDisplay};
use crate::scripted::signature::{SigningKey, verify};

const SCRIPT: &str = "
[[step]]
block = [
  { type = 'thinking', text = 'first' },
  { type = 'text', text = 'one' },
  { type = 'thinking', text = 'again' },
  { type = 'text', text = 'two' },
]
[[step]]
block = [{ type = 'redacted_thinking' }, { type = 'text', text = 'three' }]
[[step]]
block = [{ type = 'thinking', text = 'last' }, { type = 'text', text = 'four' }]
";

/// The answer to `request`, as content.
fn answer(request: &Value) -> Value {
    let script = script(SCRIPT);
    let played = script.walk(request).unwrap();
    let prefix = verify(request, &SigningKey::default(), true).unwrap();
    let plan = Plan::new(played.step, &played.captures, prefix, &SigningKey::default(), ThinkingDisplay::Shown);
    plan.blocks.iter().map(|block| block.json()).collect()
}

/// A whole conversation: system, tools, and three answers with thinking.
fn conversation() -> Value {
    let mut request = messages(json!([user(json!("hello"))]));
    request["system"] = json!([text("be brief"), text("be kind")]);
    request["tools"] = json!([
        { "name": "a", "input_schema": { "type": "object" } },
        { "name": "b", "input_schema": { "type": "object" } },
    ]);
    for said in ["go on", "and on", "end"] {
        let content = answer(&request);
        let list = request["messages"].as_array_mut().unwrap();
        list.push(assistant(content));
        list.push(user(json!(said)));
    }
    request
}

fn verdict(request: &Value) -> Result<(), String> {
    verify(request, &SigningKey::default(), true).map(drop).map_err(|error| error.message)
}

/// `change` makes the first block at `path` (and nothing before it) fail as bound to a different conversation.
fn bound(path: &str, change: impl FnOnce(&mut Value)) {
    let mut request = conversation();
    change(&mut request);
    let message = verdict(&request).expect_err(path);
    assert!(message.starts_with(&format!("{path}: Invalid `")), "{path} was due: {message}");
    assert!(message.contains("The block is bound to a different conversation. Remove the block, or set"), "{message}");
}

#[test]
fn an_unchanged_conversation_is_valid_however_it_is_marked_or_spelled() {
    let mut request = conversation();
    assert_eq!(verdict(&request), Ok(()));

    let mark = json!({ "type": "ephemeral", "ttl": "1h" });
    request["system"][1]["cache_control"] = mark.clone();
    request["tools"][1]["cache_control"] = mark.clone();
    request["messages"][1]["content"][3]["cache_control"] = mark.clone();
    request["messages"][2]["content"] = json!([{ "cache_control": mark, "text": "go on", "type": "text" }]);
    request["messages"][1]["content"][1]["citations"] = Value::Null;
    request["max_tokens"] = json!(5);
    request["messages"].as_array_mut().unwrap().push(user(json!("more at the end")));
    assert_eq!(verdict(&request), Ok(()), "marks, spelling and additions at the end change nothing");

    let mut split = conversation();
    let content = split["messages"][1]["content"].as_array().unwrap().clone();
    let (head, tail) = content.split_at(2);
    split["messages"][1] = assistant(json!(head));
    split["messages"].as_array_mut().unwrap().insert(2, assistant(json!(tail)));
    assert_eq!(verdict(&split), Ok(()), "messages of one role in a row are one turn");
}

#[test]
fn any_change_before_a_block_is_found_at_the_first_block_behind_it() {
    bound("messages.1.content.0", |request| request["system"][0]["text"] = json!("be long"));
    bound("messages.1.content.0", |request| request["system"] = json!("be brief be kind"));
    bound("messages.1.content.0", |request| drop(request.as_object_mut().unwrap().shift_remove("system")));
    bound("messages.1.content.0", |request| request["tools"].as_array_mut().unwrap().swap(0, 1));
    bound("messages.1.content.0", |request| request["tools"][0]["description"] = json!("new"));
    bound("messages.1.content.0", |request| {
        request["tools"][1]["input_schema"]["cache_control"] = json!("data, no mark")
    });
    bound("messages.1.content.0", |request| request["messages"][0]["content"] = json!("hello!"));
    bound("messages.2.content.0", |request| {
        request["messages"].as_array_mut().unwrap().insert(0, user(json!("before")))
    });
    bound("messages.1.content.2", |request| request["messages"][1]["content"][1]["text"] = json!("ONE"));
    bound("messages.3.content.0", |request| request["messages"][1]["content"][3]["text"] = json!("TWO"));
    bound("messages.3.content.0", |request| request["messages"][2]["content"] = json!("go on."));
    bound("messages.5.content.0", |request| request["messages"][4]["role"] = json!("system"));
}

#[test]
fn left_out_and_moved_blocks_are_found() {
    let remove = |request: &mut Value, message: usize, block: usize| {
        drop(request["messages"][message]["content"].as_array_mut().unwrap().remove(block));
    };
    bound("messages.1.content.1", |request| remove(request, 1, 0));
    bound("messages.3.content.0", |request| remove(request, 1, 2));
    bound("messages.5.content.0", |request| remove(request, 3, 0));
    bound("messages.1.content.0", |request| request["messages"][1]["content"].as_array_mut().unwrap().swap(0, 2));
    bound("messages.1.content.0", |request| {
        let stolen = request["messages"][5]["content"][0].clone();
        request["messages"][1]["content"][0] = stolen;
    });
    let mut stripped = conversation();
    for message in stripped["messages"].as_array_mut().unwrap() {
        if let Some(blocks) = message["content"].as_array_mut() {
            blocks.retain(|block| block["type"] == "text");
        }
    }
    assert_eq!(verdict(&stripped), Ok(()), "without any thinking it is a fresh conversation");
}

#[test]
fn altered_blocks_are_no_blocks_of_ours() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 6] = [
        ("messages.1.content.0: Invalid `signature` in `thinking` block", |request| {
            request["messages"][1]["content"][0]["thinking"] = json!("First")
        }),
        ("messages.1.content.0: Invalid `signature`", |request| {
            request["messages"][1]["content"][0]["thinking"] = json!("")
        }),
        ("messages.1.content.0: Invalid `signature`", |request| {
            request["messages"][1]["content"][0]["signature"] = json!("")
        }),
        ("messages.1.content.2: Invalid `signature`", |request| {
            request["messages"][1]["content"][2]["signature"] = json!("bm90IG91cnM=")
        }),
        ("messages.3.content.0: Invalid `data` in `redacted_thinking` block", |request| {
            request["messages"][3]["content"][0]["data"] = json!("AAAA")
        }),
        ("messages.1.content.0: Invalid `signature`", |request| {
            request["messages"][1]["content"][0]["signature"] = json!("not base64!")
        }),
    ];
    for (due, change) in changes {
        let mut request = conversation();
        change(&mut request);
        let message = verdict(&request).expect_err(due);
        assert!(message.starts_with(due) && !message.contains("different conversation"), "{due}: {message}");
    }
}

#[test]
fn models_without_preserved_thinking_check_the_text_only() {
    let mut request = conversation();
    request["messages"][0]["content"] = json!("something else");
    assert!(verify(&request, &SigningKey::default(), false).is_ok());
    request["messages"][1]["content"][0]["thinking"] = json!("altered");
    assert!(verify(&request, &SigningKey::default(), false).is_err());
    assert!(!row("claude-opus-5").preserved_thinking && row("claude-opus-5-5").preserved_thinking);
}

proptest! {
    /// Changing any one string anywhere before the last thinking block is found.
    #[test]
    fn any_string_counts(at in any::<prop::sample::Index>(), change in "[a-z]{1,3}") {
        fn strings<'a>(value: &'a mut Value, into: &mut Vec<&'a mut String>) {
            match value {
                Value::String(text) => into.push(text),
                Value::Array(items) => items.iter_mut().for_each(|item| strings(item, into)),
                Value::Object(fields) => {
                    let members = fields.iter_mut().filter(|(key, _)| *key != "role");
                    members.for_each(|(_, value)| strings(value, into));
                }
                _ => {}
            }
        }
        let mut request = conversation();
        let last_text = json!(request["messages"][5]["content"][1]);
        let mut places = Vec::new();
        let object = request.as_object_mut().unwrap();
        for (key, value) in object.iter_mut() {
            match (key.as_str(), value) {
                ("system" | "tools", value) => strings(value, &mut places),
                ("messages", Value::Array(list)) => {
                    let (before, behind) = list.split_at_mut(5);
                    before.iter_mut().for_each(|message| strings(message, &mut places));
                    // With another type it would be no thinking block at all, which is for the other checks to refuse.
                    let last = behind[0]["content"][0].as_object_mut().unwrap();
                    last.iter_mut().filter(|(key, _)| *key != "type").for_each(|(_, value)| strings(value, &mut places));
                }
                _ => {}
            }
        }
        let index = at.index(places.len());
        places[index].push_str(&change);
        prop_assert!(verdict(&request).is_err());
        prop_assert_eq!(&request["messages"][5]["content"][1], &last_text);
    }
}
