//! The step that is played follows from the conversation alone.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{assistant, call, messages, result, script, text, user};
use crate::scripted::Script;
use crate::scripted::walk::NoStep;

/// The names of the steps of a conversation in which the user side says `said`, one after the other.
fn played(script: &Script, said: &[Value]) -> Result<Vec<String>, NoStep> {
    (1..=said.len()).map(|turns| Ok(script.walk(&conversation(&said[..turns]))?.step.name.clone())).collect()
}

fn conversation(said: &[Value]) -> Value {
    let mut list = Vec::new();
    for (turn, said) in said.iter().enumerate() {
        if turn > 0 {
            list.push(assistant(json!("whatever the model said")));
        }
        list.push(user(said.clone()));
    }
    messages(json!(list))
}

fn steps(text: &str) -> Script {
    let mut toml = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        toml += &format!("[[step]]\n{}\n", line.trim().replace("; ", "\n"));
    }
    script(&toml)
}

#[test]
fn file_order_by_turn() {
    let script = steps("name = 'a'\nname = 'b'\nname = 'c'");
    assert_eq!(played(&script, &[json!("x"), json!("y"), json!("z")]), Ok(vec!["a".into(), "b".into(), "c".into()]));
    let end = played(&script, &[json!("x"), json!("y"), json!("z"), json!("beyond")]);
    assert_eq!(end, Err(NoStep { turn: 4, said: "beyond".into() }));
}

#[test]
fn when_chooses_the_first_fit_and_skips_for_good() {
    let script = steps(
        "name = 'rust'; when = 'rust'
         name = 'python'; when = '(?i)python'
         name = 'else'
         name = 'end'; when = 'thanks'",
    );
    let one = |said: &[&str]| played(&script, &said.iter().map(|text| json!(text)).collect::<Vec<_>>());
    assert_eq!(one(&["some rust"]).unwrap(), ["rust"]);
    assert_eq!(one(&["PYTHON and no r.st"]).unwrap(), ["python"]);
    assert_eq!(one(&["cobol", "thanks"]).unwrap(), ["else", "end"]);
    assert_eq!(
        one(&["rust", "rust", "thanks"]).unwrap(),
        ["rust", "else", "end"],
        "what was passed does not come again"
    );
    assert_eq!(one(&["cobol", "no"]).unwrap_err().turn, 2);
}

#[test]
fn next_jumps_branches_and_loops() {
    let script = steps(
        "name = 'start'; next = ['good', 'bad']
         name = 'bad'; next = 'start'
         name = 'good'; when = 'ok'; goto = 'good'",
    );
    let one = |said: &[&str]| played(&script, &said.iter().map(|text| json!(text)).collect::<Vec<_>>()).unwrap();
    assert_eq!(one(&["x", "ok", "ok", "ok"]), ["start", "good", "good", "good"]);
    assert_eq!(one(&["x", "no", "x", "ok"]), ["start", "bad", "start", "good"]);
    assert_eq!(played(&script, &[json!("x"), json!("ok"), json!("no")]).unwrap_err().turn, 3);
}

#[test]
fn when_sees_everything_said_since_the_last_answer_and_nothing_else() {
    let script = steps("name = 'first'\nname = 'hit'; when = '(?s)needle.*thread'\nname = 'miss'");
    let after = |messages_after: Value| {
        let mut list = vec![user(json!("needle thread")), assistant(json!([text("needle thread"), call("t1")]))];
        list.extend(messages_after.as_array().unwrap().clone());
        script.walk(&messages(json!(list))).unwrap().step.name.clone()
    };
    let rich = json!({ "type": "tool_result", "tool_use_id": "t1", "content": [
        text("a needle"),
        { "type": "search_result", "source": "s", "title": "t", "content": [text("a thread")] },
    ] });
    assert_eq!(after(json!([user(json!([rich]))])), "hit");
    let plain = json!({ "type": "tool_result", "tool_use_id": "t1", "content": "needle" });
    assert_eq!(after(json!([user(json!([plain, text("thread")]))])), "hit");
    assert_eq!(
        after(json!([user(json!([plain])), user(json!("thread"))])),
        "hit",
        "two messages in a row are one turn"
    );
    assert_eq!(after(json!([user(json!([result("t1")]))])), "miss", "the model's own words do not count");
    assert_eq!(
        after(json!([user(json!([plain])), { "role": "system", "content": "thread" }])),
        "miss",
        "nor do system messages"
    );
}

#[test]
fn a_paused_turn_goes_on_without_new_input() {
    let script = steps("name = 'a'; stop_reason = 'pause_turn'\nname = 'b'; when = '^$'\nname = 'c'");
    let paused = messages(json!([user(json!("x")), assistant(json!("so far"))]));
    let played = script.walk(&paused).unwrap();
    assert_eq!((played.step.name.as_str(), played.previous.unwrap().name.as_str()), ("b", "a"));
    let gone_on =
        messages(json!([user(json!("x")), assistant(json!("so far")), assistant(json!("rest")), user(json!("y"))]));
    assert_eq!(script.walk(&gone_on).unwrap().step.name, "c");
}

#[test]
fn captures_fill_in_and_everything_else_stays() {
    let script = steps(r"when = 'file (?P<name>\S+) at (\d+)(?: (opt))?'");
    let request = messages(json!([user(json!("file a.rs at 12"))]));
    let captures = script.walk(&request).unwrap().captures;
    for (template, due) in [
        ("$1:$2", "a.rs:12"),
        ("${1}0 ${name}", "a.rs0 a.rs"),
        ("$10", "$10"),
        ("$3 $4 $0", "$3 $4 $0"),
        ("$HOME ${HOME} $? $$ $(ls) $name", "$HOME ${HOME} $? $$ $(ls) $name"),
        ("$$1 $${name} $$3", "$1 ${name} $$3"),
        ("${1", "${1"),
        ("é$1é$", "éa.rsé$"),
        ("", ""),
    ] {
        assert_eq!(captures.fill(template), due, "{template}");
    }
    let input = json!({ "$1": ["$2", { "deep": "$1" }, 5, null, true] });
    assert_eq!(captures.fill_json(&input), json!({ "$1": ["12", { "deep": "a.rs" }, 5, null, true] }));
}

proptest! {
    #[test]
    fn without_captures_any_text_stays(template in "[$ {}a-z0-9é]{0,40}") {
        let request = messages(json!([user(json!("x"))]));
        let script = steps("name = 'a'");
        let captures = script.walk(&request).unwrap().captures;
        prop_assert_eq!(captures.fill(&template), template);
    }

    #[test]
    fn the_walk_of_a_longer_conversation_begins_like_that_of_a_shorter_one(said in prop::collection::vec("(a|b|c)", 1..6)) {
        let script = steps(
            "name = 'x'; next = ['y', 'z']
             name = 'y'; when = 'a'; next = 'x'
             name = 'z'; next = ['z', 'x']; when = 'b|c'",
        );
        let said: Vec<Value> = said.into_iter().map(Value::from).collect();
        let all = played(&script, &said).unwrap();
        for turns in 1..=said.len() {
            prop_assert_eq!(&played(&script, &said[..turns]).unwrap()[..], &all[..turns]);
        }
    }
}
