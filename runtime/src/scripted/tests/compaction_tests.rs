//! Summaries on demand: what a request for one may look like, where its block may stand, and that the conversation goes on
//! behind it with its thinking and in its script.

use serde_json::{Value, json};

use super::{assistant, call, checked, messages, result, row, rule, script, text, user, with};
use crate::claude::{Answer, Assembler, Auth, ClaudeClient, Endpoint as At, Secret, summary_in};
use crate::scripted::plan::{Plan, ThinkingDisplay};
use crate::scripted::signature::{SigningKey, verify};
use crate::scripted::validate::{self, Betas, Endpoint, Version};
use crate::scripted::{Script, ScriptedServer, ServerOptions};
use tokio_util::sync::CancellationToken;

const SCRIPT: &str = "
[[step]]
name = 'one'
block = [{ type = 'thinking', text = 'first' }, { type = 'tool_use', name = 'bash' }]
[[step]]
name = 'two'
when = 'done'
block = [{ type = 'thinking', text = 'second' }, { type = 'text', text = 'two' }]
[[step]]
name = 'never'
when = 'nobody says this'
block = [{ type = 'text', text = 'never' }]
[[step]]
name = 'three'
block = [{ type = 'thinking', text = 'third' }, { type = 'text', text = 'three' }]
[[step]]
name = 'four'
block = [{ type = 'text', text = 'four' }]
";

fn wish(mut request: Value) -> Value {
    request["compaction"] = json!({ "type": "summarize" });
    request
}

/// The content that the script answers `request` with.
fn answer(script: &Script, request: &Value) -> Value {
    let played = script.walk(request).unwrap();
    let key = SigningKey::default();
    let prefix = verify(request, &key, true).unwrap();
    Plan::new(played.step, &played.captures, prefix, &key, ThinkingDisplay::Shown)
        .blocks
        .iter()
        .map(|block| block.json())
        .collect()
}

/// The block that sums `request` up.
fn summary(script: &Script, request: &Value) -> Value {
    let key = SigningKey::default();
    let prefix = verify(request, &key, true).unwrap();
    let stands_for = script.summarized(request, &prefix, row(request["model"].as_str().unwrap()).preserved_thinking);
    let plan = Plan::summary(&script.compaction.step, "in short".to_owned(), &prefix, &key, &stands_for);
    plan.blocks[0].json()
}

/// Two answered requests; the third is due.
fn history(script: &Script) -> Value {
    let mut request = messages(json!([user(json!([text("go")]))]));
    request["system"] = json!("be good");
    for said in ["", "and on"] {
        let content = answer(script, &request);
        let id = content[1]["id"].as_str().map(str::to_owned);
        let said = id.map_or_else(|| json!([text(said)]), |id| json!([result(&id)]));
        let list = request["messages"].as_array_mut().unwrap();
        list.push(assistant(content));
        list.push(user(said));
    }
    request
}

/// `request` with its first `count` messages replaced by a summary of them.
fn swapped(script: &Script, request: &Value, count: usize) -> Value {
    let mut older = request.clone();
    older["messages"].as_array_mut().unwrap().truncate(count);
    let block = summary(script, &older);
    let mut swapped = request.clone();
    let kept = swapped["messages"].as_array_mut().unwrap().split_off(count);
    let list: Vec<Value> = std::iter::once(assistant(json!([block]))).chain(kept).collect();
    swapped["messages"] = json!(list);
    swapped
}

#[test]
fn requests_for_a_summary() {
    let open = messages(json!([user(json!("go")), assistant(json!([call("a")]))]));
    let over = messages(json!([user(json!("go")), assistant(json!([text("done")]))]));
    let choice = json!({
        "tools": [{ "name": "a", "input_schema": { "type": "object" } }],
        "tool_choice": { "type": "any" }, "model": "claude-opus-5",
    });
    let of = |changes: Value| with(changes);
    rule(
        &[
            wish(of(json!({}))),
            // Only what is answered has to end with the user.
            wish(over),
            of(json!({ "compaction": { "type": "summarize", "instructions": "keep the names" } })),
            of(json!({ "compaction": { "type": "summarize", "instructions": null } })),
        ],
        &[
            ("'summarize' is not supported for this model", wish(of(json!({ "model": "claude-haiku-4-5" })))),
            ("compaction.type: Input should be 'summarize'", of(json!({ "compaction": { "type": "auto" } }))),
            ("compaction.type: Field required", of(json!({ "compaction": {} }))),
            ("compaction.trigger: Extra", of(json!({ "compaction": { "type": "summarize", "trigger": 1 } }))),
            ("at most 16384", of(json!({ "compaction": { "type": "summarize", "instructions": "x".repeat(16_385) } }))),
            ("`tool_use` ids were found without `tool_result`", wish(open)),
            ("stop_sequences: cannot be combined", wish(of(json!({ "stop_sequences": ["x"] })))),
            ("tool_choice: cannot be combined", wish(of(choice))),
            (
                "output_config.format: cannot be combined",
                wish(of(json!({ "output_config": { "format": { "type": "json_schema", "schema": {} } } }))),
            ),
            ("there is no user or assistant content", wish(messages(json!([])))),
        ],
    );
    let code = checked(&wish(messages(json!([])))).unwrap_err().code;
    assert_eq!(code, Some("compaction_nothing_to_summarize"));
}

#[test]
fn nothing_of_it_is_known_without_the_header() {
    let script = script(SCRIPT);
    let opus = row("claude-opus-5-5");
    let plain = (Version::Of2023, Betas::default());
    let refused = |request: &Value| validate::check(request, &opus, Endpoint::Messages, plain).unwrap_err();
    let error = refused(&wish(with(json!({}))));
    assert_eq!(error.message, "compaction: requires anthropic-beta: compact-2026-09-04");
    let error = refused(&swapped(&script, &history(&script), 1));
    assert!(error.message.contains("'compaction' found using 'type' does not match"), "{}", error.message);
    assert!(Betas::parse("other-2026-01-01, compact-2026-09-04").compaction);
    assert!(!Betas::parse("compact-2026-01-12").compaction);
}

#[test]
fn a_block_stands_first_alone_and_as_it_was_given_out() {
    let script = script(SCRIPT);
    let whole = history(&script);
    let good = swapped(&script, &whole, 3);
    let block = good["messages"][0]["content"][0].clone();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut request = good.clone();
        change(&mut request["messages"]);
        request
    };
    let marked = changed(&|list| list[0]["content"][0]["cache_control"] = json!({ "type": "ephemeral", "ttl": "1h" }));
    let at_front_of_users = {
        let mut request = swapped(&script, &whole, 3);
        let kept = request["messages"].as_array_mut().unwrap().split_off(2);
        request["messages"] = json!(kept);
        request["messages"][0]["content"].as_array_mut().unwrap().insert(0, block.clone());
        request
    };
    rule(
        &[good.clone(), marked, at_front_of_users],
        &[
            ("must be sent first", changed(&|list| list.as_array_mut().unwrap().insert(0, user(json!("old"))))),
            (
                "must be sent first",
                changed(&|list| {
                    list[0]["content"].as_array_mut().unwrap().insert(0, text("old"));
                }),
            ),
            (
                "exactly one `compaction` block",
                changed(&|list| {
                    list[0]["content"].as_array_mut().unwrap().push(block.clone());
                }),
            ),
            ("compaction.citations: Extra inputs", changed(&|list| list[0]["content"][0]["citations"] = json!([]))),
            ("content: String should have at least 1", changed(&|list| list[0]["content"][0]["content"] = json!(""))),
            (
                "signature: Field required",
                changed(&|list| {
                    list[0]["content"][0].as_object_mut().unwrap().shift_remove("signature");
                }),
            ),
        ],
    );
    let misplaced = changed(&|list| list.as_array_mut().unwrap().insert(0, user(json!("old"))));
    assert_eq!(checked(&misplaced).unwrap_err().code, Some("compaction_block_misplaced"));
    let code = |request: &Value| verify(request, &SigningKey::default(), true).unwrap_err().code;
    let mismatch = changed(&|list| list[0]["content"][0]["content"] = json!("in shorts"));
    assert_eq!(code(&mismatch), Some("compaction_content_mismatch"));
    for signature in ["", "AAAA", "no base64!"] {
        let forged = changed(&|list| list[0]["content"][0]["signature"] = json!(signature));
        assert_eq!(code(&forged), Some("compaction_signature_invalid"));
    }
}

#[test]
fn what_is_kept_unchanged_behind_a_summary_keeps_its_thinking_and_its_place_in_the_script() {
    let script = script(SCRIPT);
    let whole = history(&script);
    let due = answer(&script, &whole);
    assert_eq!(script.walk(&whole).unwrap().step.name, "three");
    // Whatever was summed up before an answer, the conversation goes on as it would have, ids and signatures included.
    for count in [1, 3] {
        let short = swapped(&script, &whole, count);
        assert_eq!(answer(&script, &short), due, "{count} messages");
        // And once more, on top of the summary.
        let mut longer = short.clone();
        longer["messages"].as_array_mut().unwrap().extend([assistant(due.clone()), user(json!("end"))]);
        let again = swapped(&script, &longer, longer["messages"].as_array().unwrap().len() - 2);
        assert_eq!(again["messages"].as_array().unwrap().len(), 3);
        assert!(verify(&again, &SigningKey::default(), true).is_ok());
        assert_eq!(script.walk(&again).unwrap().step.name, "four");
    }
    // A summary of everything, and new words.
    let all = swapped(&script, &whole, 4);
    assert_eq!(script.walk(&all).unwrap().step.name, "three");
}

#[test]
fn thinking_does_not_verify_where_something_was_changed_or_cut_elsewhere() {
    let script = script(SCRIPT);
    let whole = history(&script);
    let bound = |request: &Value| {
        let message = verify(request, &SigningKey::default(), true).unwrap_err().message;
        assert!(message.contains("bound to a different conversation"), "{message}");
    };
    let good = swapped(&script, &whole, 1);
    // The system prompt has changed.
    let mut other = good.clone();
    other["system"] = json!("be bad");
    bound(&other);
    // Something stands between the summary and what is kept.
    let mut other = good.clone();
    other["messages"].as_array_mut().unwrap().insert(1, user(json!("instructions")));
    bound(&other);
    // Cut behind an answer, so that the next one is joined to it.
    let mut other = swapped(&script, &whole, 2);
    other["messages"].as_array_mut().unwrap().remove(1);
    bound(&other);
    // By a model that binds nothing.
    let mut older = whole.clone();
    older["model"] = json!("claude-opus-5");
    let mut other = swapped(&script, &older, 1);
    other["model"] = json!("claude-opus-5-5");
    bound(&other);
}

async fn asked(script: &str, request: Value, betas: &[&str]) -> Result<Answer, crate::claude::Failure> {
    let server = ScriptedServer::start(super::script(script), ServerOptions::default()).await.unwrap();
    let auth = Auth::ApiKey(Secret::new(ServerOptions::DEFAULT_API_KEY));
    let client = ClaudeClient::new(&At::new(server.base_url(), auth)).unwrap();
    let mut request = request;
    request["stream"] = json!(true);
    client.send(request.to_string().into(), betas, |_| {}, &CancellationToken::new()).await
}

#[tokio::test]
async fn our_client_reads_a_summary_and_what_it_used() {
    let betas = ["compact-2026-09-04"];
    let request = wish(with(json!({ "system": "be good ".repeat(100) })));
    let answer = asked(SCRIPT, request.clone(), &betas).await.unwrap();
    let block: Value = serde_json::from_str(summary_in(&answer).unwrap()).unwrap();
    assert_eq!(block["type"], "compaction");
    assert!(block["content"].as_str().unwrap().contains("The user said: hi"), "{block}");
    // All of it stands in the list of iterations.
    assert!(answer.usage.total_input_tokens() > 200 && answer.usage.output_tokens > 5, "{:?}", answer.usage);
    let refused = asked(SCRIPT, request.clone(), &[]).await.unwrap_err();
    assert!(refused.message.contains("requires anthropic-beta"), "{}", refused.message);
    // A summary that was cut off is paid, and is none.
    let cut = format!("{SCRIPT}\n[compaction]\nstop_reason = 'max_tokens'\nusage = {{ output_tokens = 7 }}\n");
    let answer = asked(&cut, request.clone(), &betas).await.unwrap();
    assert_eq!((summary_in(&answer), answer.stop_reason.as_str()), (None, "max_tokens"));
    assert_eq!((answer.usage.output_tokens, answer.content_json.as_str()), (7, "[]"));
    let fails = format!("{SCRIPT}\n[compaction]\nsummary = 's'\nfault = [{{ status = 529 }}]\n");
    assert_eq!(asked(&fails, request, &betas).await.unwrap_err().status, Some(529));
}

#[test]
fn the_figures_of_a_stream_are_taken_over_and_not_added_up() {
    let mut assembler = Assembler::new();
    let used = r#"{"input_tokens":0,"output_tokens":0,"iterations":[{"type":"compaction","input_tokens":144,"output_tokens":276,"cache_read_input_tokens":10},{"type":"message","input_tokens":1,"output_tokens":1}]}"#;
    for event in [
        format!(r#"{{"type":"message_start","message":{{"id":"m","model":"x","usage":{used}}}}}"#),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":"s","signature":"x", "n": 1.0e2}}"#.to_owned(),
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"compaction"}},"usage":{used}}}"#),
        r#"{"type":"message_stop"}"#.to_owned(),
    ] {
        assembler.push(&event).unwrap();
    }
    let answer = assembler.answer(None).unwrap();
    assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (144, 276));
    assert_eq!(answer.usage.cache_read_input_tokens, 10);
    let raw = r#"{"type":"compaction","content":"s","signature":"x","n":1.0e2}"#;
    assert_eq!(summary_in(&answer), Some(raw));
}
