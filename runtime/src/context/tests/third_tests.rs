//! Renderer 3: the summary that stands first, the request that asks for one, and marks that what was written is found by.

use super::*;
use crate::context::{RenderError, compactable_until, compacted_epoch, render_compaction};
use expect_test::expect;

const BLOCK: &str = r#"{ "type":"compaction","content":"so far", "signature":"s\u0041", "n": 1.0e2}"#;

fn shown(body: &str) -> String {
    body.replace("{\"role\"", "\n{\"role\"")
}

fn thinks(words: &str, call: Option<&str>) -> Payload {
    let call = call
        .map(|call| format!(r#",{{"type":"tool_use","id":"{call}","name":"bash","input":{{}}}}"#))
        .unwrap_or_default();
    answer(&format!(
        r#"[{{"type":"thinking","thinking":"","signature":"{words}"}},{{"type":"text","text":"{words}"}}{call}]"#
    ))
}

/// Two steps and the end of a turn; the answers are the events 2, 4 and 6.
fn session() -> Vec<Payload> {
    vec![
        prompt("one"),
        epoch(3).into(),
        thinks("first", Some("a")),
        result("a", "1", false),
        thinks("second", Some("b")),
        result("b", "2", false),
        thinks("third", None),
    ]
}

fn compacted(from_seq: u64) -> ContextEpochStarted {
    compacted_epoch(&epoch(3), BLOCK.to_owned(), from_seq, "why".to_owned())
}

#[test]
fn a_request_for_a_summary_is_the_answered_request_with_the_wish_at_its_end() {
    let states = states(session());
    let of = |count: usize| String::from_utf8(render(&states[count - 1]).unwrap()).unwrap();
    for (until_seq, asked_after) in [(2, 2), (4, 4), (6, 6)] {
        let body = String::from_utf8(render_compaction(&states[6], until_seq).unwrap()).unwrap();
        let request = of(asked_after);
        let wish = r#","compaction":{"type":"summarize"}}"#;
        assert_eq!(body, format!("{}{wish}", request.strip_suffix('}').unwrap()), "until {until_seq}");
    }
    for nowhere in [0, 1, 3, 5, 7, 99] {
        assert!(
            matches!(render_compaction(&states[6], nowhere), Err(RenderError::NotCompactable(at)) if at == nowhere)
        );
    }
}

#[test]
fn behind_a_summary_what_is_kept_keeps_its_thinking_and_nothing_stands_between() {
    let payloads = [session(), vec![compacted(4).into(), prompt("two")]].concat();
    let body = body(payloads);
    expect![[r#"
        {"model":"claude-test","max_tokens":100,"stream":true,"thinking":{"type":"adaptive"},"tools":[{"name":"bash"}],"system":[ {"type":"text","text":"be good"} ],"messages":[
        {"role":"assistant","content":[{ "type":"compaction","content":"so far", "signature":"s\u0041", "n": 1.0e2,"cache_control":{"type":"ephemeral","ttl":"1h"}}]},
        {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"second"},{"type":"text","text":"second"},{"type":"tool_use","id":"b","name":"bash","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2","cache_control":{"type":"ephemeral"}}]},
        {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"third"},{"type":"text","text":"third"}]},
        {"role":"user","content":[{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}]}]}"#]]
    .assert_eq(&shown(&body));
}

#[test]
fn a_summary_ends_where_an_answered_request_did() {
    let all = states(session());
    let until = |state: &SessionState, keep_from| compactable_until(state, keep_from);
    assert_eq!([0, 3, 4, 5, 6].map(|from| until(&all[6], from)), [Some(2), Some(4), Some(4), Some(6), Some(6)]);
    assert_eq!(until(&all[6], u64::MAX), Some(6), "there is nothing newer");
    // While a call is open the newest place is before its answer, and what is older can be summed up all the same.
    assert_eq!(until(&all[2], u64::MAX), Some(2));
    assert_eq!(until(&all[1], 0), None, "nothing was answered");
    // Behind a summary it needs an answer of the epoch's own; the first that is kept is no place.
    let mut more = session();
    more.extend([compacted(4).into(), prompt("two")]);
    assert_eq!(until(states(more.clone()).last().unwrap(), 0), None);
    more.push(thinks("fourth", None));
    assert_eq!(until(states(more.clone()).last().unwrap(), 0), Some(6));
    let body = render_compaction(states(more).last().unwrap(), 6).unwrap();
    let body = String::from_utf8(body).unwrap();
    assert_eq!(body.matches(r#""type":"compaction""#).count(), 1, "{body}");
    // What an older renderer wrote, and what was carried over without its thinking, is not for this.
    let older = [vec![prompt("one"), epoch(2).into()], session().split_off(2)].concat();
    assert_eq!(until(states(older).last().unwrap(), 0), None);
    let carried = [session(), vec![ContextEpochStarted { number: 2, ..epoch(3) }.into(), prompt("two")]].concat();
    assert_eq!(until(states(carried).last().unwrap(), 0), None);
}

#[test]
fn an_answer_without_words_or_behind_another_is_no_place() {
    let empty = vec![prompt("one"), epoch(3).into(), answer("[]"), prompt("two"), thinks("x", None)];
    assert_eq!(compactable_until(states(empty).last().unwrap(), 0), Some(4));
    // Paused, and gone on with: the second answer continues the first.
    let paused = vec![prompt("one"), epoch(3).into(), thinks("x", None), thinks("y", None)];
    assert_eq!(compactable_until(states(paused).last().unwrap(), u64::MAX), Some(2));
}

#[test]
fn an_older_renderer_does_not_know_summaries_and_a_broken_one_is_refused() {
    for renderer in [1, 2] {
        let start = ContextEpochStarted { renderer, ..compacted(0) };
        let error = render(states(vec![prompt("x"), start.into()]).last().unwrap());
        assert!(matches!(error, Err(RenderError::Foreign { renderer: of, .. }) if of == renderer));
    }
    for block in ["[]", r#"{"type":"text","text":"x"}"#, "{", r#"{"content":"x"}"#] {
        let start = ContextEpochStarted { compacted: Some(block.to_owned()), ..epoch(3) };
        assert!(render(states(vec![prompt("x"), start.into()]).last().unwrap()).is_err(), "{block}");
    }
}

#[test]
fn a_mark_stands_where_the_last_answered_request_ended_though_more_was_said_there_since() {
    // A refusal came without words, so the next prompt joins the same message.
    let refused = vec![prompt("one"), epoch(3).into(), answer("[]"), prompt("two")];
    let json = json(refused);
    let content = json["messages"][0]["content"].as_array().unwrap();
    assert_eq!(content.len(), 2);
    assert!(content.iter().all(|block| block["cache_control"].is_object()), "{content:?}");
}
