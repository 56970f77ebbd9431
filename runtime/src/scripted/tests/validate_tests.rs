//! Every rule of one request, each with examples that pass and examples that are refused.

use serde_json::{Value, json};

use super::{assistant, call, messages, request, result, row, rule, text, user, with};
use crate::scripted::plan::ThinkingDisplay;
use crate::scripted::validate::{self, Betas, Endpoint, MAX_MESSAGES, Version};

#[test]
fn required_and_unknown_fields() {
    rule(
        &[
            request(),
            with(
                json!({ "metadata": { "user_id": "u" }, "service_tier": "auto", "speed": "fast", "inference_geo": "eu" }),
            ),
        ],
        &[
            ("Input should be an object", json!([])),
            ("model: Field required", with(json!({ "model": null }))),
            ("model: Input should be a valid string", with(json!({ "model": 5 }))),
            ("model: String should have at least 1", with(json!({ "model": "" }))),
            ("max_tokens: Field required", with(json!({ "max_tokens": null }))),
            ("messages: Field required", with(json!({ "messages": null }))),
            ("colour: Extra inputs are not permitted", with(json!({ "colour": 1 }))),
            ("context_management: Extra inputs", with(json!({ "context_management": { "edits": [] } }))),
            ("metadata.email: Extra inputs", with(json!({ "metadata": { "email": "x" } }))),
            ("service_tier: Input should be 'auto'", with(json!({ "service_tier": "gold" }))),
            ("stream: Input should be a valid boolean", with(json!({ "stream": "yes" }))),
        ],
    );
}

#[test]
fn max_tokens_within_the_models_limit() {
    let tokens = |model: &str, max_tokens: Value| with(json!({ "model": model, "max_tokens": max_tokens }));
    rule(
        &[
            tokens("claude-opus-5-5", json!(128_000)),
            tokens("claude-haiku-4-5", json!(64_000)),
            tokens("claude-opus-5-5", json!(0)),
        ],
        &[
            ("max_tokens: 128001 > 128000, which is the maximum", tokens("claude-opus-5-5", json!(128_001))),
            ("64001 > 64000", tokens("claude-haiku-4-5", json!(64_001))),
            ("max_tokens: Input should be greater", tokens("claude-opus-5-5", json!(-1))),
            ("max_tokens: Input should be a valid integer", tokens("claude-opus-5-5", json!(1.5))),
            ("max_tokens: Input should be a valid integer", tokens("claude-opus-5-5", json!("100"))),
        ],
    );
}

#[test]
fn system_and_stop_sequences() {
    rule(
        &[
            with(json!({ "system": "be brief" })),
            with(json!({ "system": [text("a"), text("b")] })),
            with(json!({ "stop_sequences": ["END", " x"] })),
        ],
        &[
            ("system: Input should be a valid list", with(json!({ "system": 5 }))),
            ("system: text content blocks must be non-empty", with(json!({ "system": [text("")] }))),
            ("system.0.type", with(json!({ "system": [{ "type": "image", "text": "x" }] }))),
            (
                "system.1.lang: Extra inputs",
                with(json!({ "system": [text("a"), { "type": "text", "text": "b", "lang": "de" }] })),
            ),
            ("must contain non-whitespace", with(json!({ "stop_sequences": [" \n"] }))),
            ("stop_sequences.0: Input should be a valid string", with(json!({ "stop_sequences": [1] }))),
        ],
    );
}

#[test]
fn roles_and_their_order() {
    rule(
        &[
            messages(json!([user(json!("a")), user(json!("b"))])),
            messages(json!([user(json!("a")), assistant(json!("b")), assistant(json!("c")), user(json!("d"))])),
        ],
        &[
            ("messages: at least one message", messages(json!([]))),
            ("messages: Input should be a valid list", messages(json!("hi"))),
            ("first message must use the \"user\" role", messages(json!([assistant(json!("a")), user(json!("b"))]))),
            ("messages.0.role: Input should be 'user'", messages(json!([{ "role": "tool", "content": "x" }]))),
            ("messages.0.role: Field required", messages(json!([{ "content": "x" }]))),
            ("messages.0.content: Field required", messages(json!([{ "role": "user" }]))),
            ("messages.0.name: Extra inputs", messages(json!([{ "role": "user", "content": "x", "name": "n" }]))),
            ("messages.0: Input should be an object", messages(json!(["hi"]))),
        ],
    );
}

#[test]
fn system_messages_only_after_the_user_and_only_where_they_exist() {
    let system = json!({ "role": "system", "content": "be brief" });
    let on = |model: &str, list: Value| with(json!({ "model": model, "messages": list }));
    rule(
        &[
            on("claude-opus-5-5", json!([user(json!("a")), system])),
            on("claude-opus-4-8", json!([user(json!("a")), system, assistant(json!("b")), user(json!("c")), system])),
            on(
                "claude-opus-5-5",
                json!([user(json!("a")), assistant(json!([call("t1")])), user(json!([result("t1")])), system]),
            ),
        ],
        &[
            ("role 'system' is not supported on this model", on("claude-opus-4-7", json!([user(json!("a")), system]))),
            (
                "must directly follow a message with role 'user'",
                on("claude-opus-5-5", json!([system, user(json!("a"))])),
            ),
            ("must directly follow", on("claude-opus-5-5", json!([user(json!("a")), system, system]))),
            ("must directly follow", on("claude-opus-5-5", json!([user(json!("a")), assistant(json!("b")), system]))),
            (
                "Input tag 'image'",
                on(
                    "claude-opus-5-5",
                    json!([user(json!("a")), { "role": "system", "content": [{ "type": "image" }] }]),
                ),
            ),
        ],
    );
}

#[test]
fn messages_say_something() {
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "" } });
    rule(
        &[
            messages(json!([user(
                json!([{ "type": "search_result", "source": "s", "title": "t", "content": [text("x")] }])
            )])),
            messages(json!([user(
                json!([{ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "x" } }])
            )])),
        ],
        &[
            ("non-empty content", messages(json!([user(json!(""))]))),
            ("non-empty content", messages(json!([user(json!([]))]))),
            ("non-empty content", messages(json!([user(json!("a")), assistant(json!([])), user(json!("b"))]))),
            ("text content blocks must be non-empty", messages(json!([user(json!([text("")]))]))),
            ("must contain non-whitespace text", messages(json!([user(json!([text(" \n")]))]))),
            ("must contain non-whitespace text", messages(json!([user(json!("  "))]))),
            ("messages.0.content: Input should be a valid string or list", messages(json!([user(json!(5))]))),
            ("messages.0.content.0.type: Field required", messages(json!([user(json!([{ "text": "x" }]))]))),
            ("messages.0.content.0: Input should be an object", messages(json!([user(json!(["x"]))]))),
            ("Input tag 'tool_use'", messages(json!([user(json!([call("t1")]))]))),
            (
                "Input tag 'thinking'",
                messages(json!([user(json!([{ "type": "thinking", "thinking": "", "signature": "" }]))])),
            ),
            (
                "Input tag 'tool_result'",
                messages(json!([user(json!("a")), assistant(json!([result("t1")])), user(json!("b"))])),
            ),
            (
                "Input tag 'document'",
                messages(json!([user(json!("a")), assistant(json!([{ "type": "document" }])), user(json!("b"))])),
            ),
            ("media_type: Input should be 'image/jpeg'", {
                let mut bad = image.clone();
                bad["source"]["media_type"] = json!("image/bmp");
                messages(json!([user(json!([bad]))]))
            }),
            (
                "content: List should have at least 1",
                messages(json!([user(
                    json!([{ "type": "search_result", "source": "s", "title": "t", "content": [] }])
                )])),
            ),
            (
                "search_result: text content blocks must be non-empty",
                messages(json!([user(
                    json!([{ "type": "search_result", "source": "s", "title": "t", "content": [text("")] }])
                )])),
            ),
            (
                "citations are only allowed in assistant",
                messages(json!([user(json!([{ "type": "text", "text": "x", "citations": [{}] }]))])),
            ),
            (
                "messages.0.content.0.mood: Extra inputs",
                messages(json!([user(json!([{ "type": "text", "text": "x", "mood": 1 }]))])),
            ),
        ],
    );
}

#[test]
fn the_number_of_messages_is_bounded() {
    let many = |count: usize| messages(json!(vec![user(json!("x")); count]));
    rule(&[many(MAX_MESSAGES)], &[("at most 100000 items, not 100001", many(MAX_MESSAGES + 1))]);
}

#[test]
fn tools_have_the_right_shape() {
    let tools = |tools: Value| with(json!({ "tools": tools }));
    let named = |name: &str| json!({ "name": name, "input_schema": { "type": "object" } });
    rule(
        &[
            tools(json!([])),
            tools(json!([named("a"), named("B_c-9"), named(&"x".repeat(128))])),
            tools(json!([{
                "type": "custom", "name": "a", "description": "d", "strict": true, "eager_input_streaming": null,
                "input_schema": { "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"], "$defs": {} },
            }])),
            tools(json!([{ "type": "bash_20250124", "name": "bash" }])),
        ],
        &[
            ("tools: Input should be a valid list", tools(json!({}))),
            ("tools.0.name: Field required", tools(json!([{ "input_schema": { "type": "object" } }]))),
            ("tools.0.name: String should match pattern", tools(json!([named("has space")]))),
            ("String should match pattern", tools(json!([named("")]))),
            ("String should match pattern", tools(json!([named(&"x".repeat(129))]))),
            ("String should match pattern", tools(json!([named("öl")]))),
            ("tools.0.input_schema: Field required", tools(json!([{ "name": "a" }]))),
            ("tools.0.input_schema.type: Field required", tools(json!([{ "name": "a", "input_schema": {} }]))),
            (
                "tools.0.input_schema.type: Input should be 'object'",
                tools(json!([{ "name": "a", "input_schema": { "type": "array" } }])),
            ),
            (
                "input_schema.properties: Input should be an object",
                tools(json!([{ "name": "a", "input_schema": { "type": "object", "properties": [] } }])),
            ),
            (
                "input_schema.required.0: Input should be a valid string",
                tools(json!([{ "name": "a", "input_schema": { "type": "object", "required": [1] } }])),
            ),
            (
                "tools.0.description: Input should be a valid string",
                tools(json!([{ "name": "a", "description": null, "input_schema": { "type": "object" } }])),
            ),
            (
                "tools.0.parameters: Extra inputs",
                tools(json!([{ "name": "a", "parameters": {}, "input_schema": { "type": "object" } }])),
            ),
            ("Tool names must be unique", tools(json!([named("a"), named("a")]))),
            ("Input tag 'function'", tools(json!([{ "type": "function", "name": "a" }]))),
        ],
    );
}

#[test]
fn tool_choice_fits_the_tools_and_the_model() {
    let choice = |model: &str, choice: Value| {
        with(
            json!({ "model": model, "tools": [{ "name": "a", "input_schema": { "type": "object" } }], "tool_choice": choice }),
        )
    };
    rule(
        &[
            choice("claude-opus-5-5", json!({ "type": "auto", "disable_parallel_tool_use": true })),
            choice("claude-opus-5-5", json!({ "type": "none" })),
            choice("claude-opus-4-8", json!({ "type": "any" })),
            choice("claude-opus-4-8", json!({ "type": "tool", "name": "a" })),
        ],
        &[
            ("tool_choice.type: Input should be 'auto'", choice("claude-opus-5-5", json!({ "type": "maybe" }))),
            ("tool_choice.name: Extra inputs", choice("claude-opus-5-5", json!({ "type": "auto", "name": "a" }))),
            ("tool_choice.name: Field required", choice("claude-opus-4-8", json!({ "type": "tool" }))),
            ("Tool 'b' not found", choice("claude-opus-4-8", json!({ "type": "tool", "name": "b" }))),
            ("'any' is not supported for this model", choice("claude-opus-5-5", json!({ "type": "any" }))),
            ("only be specified while providing tools", with(json!({ "tool_choice": { "type": "auto" } }))),
            ("Thinking may not be enabled when tool_choice forces", {
                let mut forced = choice("claude-opus-4-8", json!({ "type": "any" }));
                forced["thinking"] = json!({ "type": "adaptive" });
                forced
            }),
        ],
    );
}

#[test]
fn thinking_fits_the_model() {
    let thinking =
        |model: &str, thinking: Value| with(json!({ "model": model, "max_tokens": 4_000, "thinking": thinking }));
    rule(
        &[
            thinking("claude-opus-5-5", json!({ "type": "adaptive", "display": "omitted" })),
            thinking("claude-sonnet-5-5", json!({ "type": "between_tools" })),
            thinking("claude-haiku-5-5", json!({ "type": "disabled" })),
            thinking("claude-haiku-4-5", json!({ "type": "enabled", "budget_tokens": 1_024 })),
            thinking("claude-haiku-4-5", json!({ "type": "enabled", "budget_tokens": 3_999 })),
        ],
        &[
            (
                "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.adaptive\"",
                thinking("claude-opus-5-5", json!({ "type": "disabled" })),
            ),
            (
                "\"thinking.type.enabled\" is not supported",
                thinking("claude-opus-4-7", json!({ "type": "enabled", "budget_tokens": 2_000 })),
            ),
            (
                "\"thinking.type.adaptive\" is not supported for this model. Use \"thinking.type.enabled\"",
                thinking("claude-haiku-4-5", json!({ "type": "adaptive" })),
            ),
            ("between_tools\" is not supported", thinking("claude-haiku-5-5", json!({ "type": "between_tools" }))),
            ("thinking.type: Input should be", thinking("claude-opus-5-5", json!({ "type": "deep" }))),
            ("thinking.type: Field required", thinking("claude-opus-5-5", json!({}))),
            (
                "thinking.budget_tokens: Extra inputs",
                thinking("claude-opus-5-5", json!({ "type": "adaptive", "budget_tokens": 2_000 })),
            ),
            (
                "thinking.block_binding: Extra inputs",
                thinking("claude-opus-5-5", json!({ "type": "adaptive", "block_binding": {} })),
            ),
            (
                "thinking.display: Input should be 'summarized'",
                thinking("claude-opus-5-5", json!({ "type": "adaptive", "display": "full" })),
            ),
            ("thinking.budget_tokens: Field required", thinking("claude-haiku-4-5", json!({ "type": "enabled" }))),
            (
                "greater than or equal to 1024",
                thinking("claude-haiku-4-5", json!({ "type": "enabled", "budget_tokens": 1_023 })),
            ),
            (
                "`max_tokens` must be greater than",
                thinking("claude-haiku-4-5", json!({ "type": "enabled", "budget_tokens": 4_000 })),
            ),
            ("cannot be turned off at effort \"max\"", {
                let mut off = thinking("claude-haiku-5-5", json!({ "type": "disabled" }));
                off["output_config"] = json!({ "effort": "max" });
                off
            }),
        ],
    );
}

#[test]
fn output_config() {
    rule(
        &[
            with(json!({ "output_config": { "effort": "xhigh" } })),
            with(json!({ "model": "claude-opus-4-5", "output_config": { "effort": "high" } })),
            with(json!({ "model": "claude-haiku-4-5", "output_config": { "effort": null } })),
            with(json!({ "output_config": { "format": { "type": "json_schema", "schema": { "type": "object" } } } })),
        ],
        &[
            ("output_config.effort: Input should be 'low'", with(json!({ "output_config": { "effort": "huge" } }))),
            (
                "This model does not support the effort parameter.",
                with(json!({ "model": "claude-haiku-4-5", "output_config": { "effort": "low" } })),
            ),
            (
                "does not support effort level 'xhigh'. Supported levels: low, medium, high, max.",
                with(json!({ "model": "claude-opus-4-6", "output_config": { "effort": "xhigh" } })),
            ),
            (
                "output_config.format.schema: Field required",
                with(json!({ "output_config": { "format": { "type": "json_schema" } } })),
            ),
            ("output_config.verbosity: Extra inputs", with(json!({ "output_config": { "verbosity": 1 } }))),
        ],
    );
}

#[test]
fn sampling_only_without_thinking_and_only_on_older_models() {
    let on = |model: &str, changes: Value| {
        let mut request = with(changes);
        request["model"] = json!(model);
        request["max_tokens"] = json!(3_000);
        request
    };
    let enabled = json!({ "type": "enabled", "budget_tokens": 2_000 });
    rule(
        &[
            on("claude-haiku-4-5", json!({ "temperature": 0.2, "top_p": 0.5, "top_k": 3 })),
            on("claude-haiku-4-5", json!({ "temperature": 1, "top_p": 0.95, "thinking": enabled })),
        ],
        &[
            ("`temperature` is not supported for this model", on("claude-opus-5-5", json!({ "temperature": 1 }))),
            ("`top_k` is not supported", on("claude-opus-4-7", json!({ "top_k": 1 }))),
            ("temperature: range: 0..1", on("claude-haiku-4-5", json!({ "temperature": 1.1 }))),
            ("temperature: Input should be a valid number", on("claude-haiku-4-5", json!({ "temperature": "hot" }))),
            ("top_k: Input should be a valid integer", on("claude-haiku-4-5", json!({ "top_k": -1 }))),
            (
                "`temperature` may only be set to 1",
                on("claude-haiku-4-5", json!({ "temperature": 0.5, "thinking": enabled })),
            ),
            ("`top_p` must be greater", on("claude-haiku-4-5", json!({ "top_p": 0.9, "thinking": enabled }))),
            ("`top_k` must be unset", on("claude-haiku-4-5", json!({ "top_k": 5, "thinking": enabled }))),
        ],
    );
    let request = on("claude-haiku-4-5", json!({ "temperature": 1 }));
    let newer =
        validate::check(&request, &row("claude-haiku-4-5"), Endpoint::Messages, (Version::Of2026, Betas::default()))
            .unwrap_err();
    assert_eq!(
        newer.message, "temperature: Extra inputs are not permitted",
        "the newer version of the API took it away"
    );
}

#[test]
fn cache_marks_are_few_ordered_and_well_placed() {
    let mark = |ttl: &str| json!({ "type": "ephemeral", "ttl": ttl });
    let marked = |ttl: &str| json!({ "type": "text", "text": "x", "cache_control": mark(ttl) });
    let tool = |ttl: &str| json!({ "name": "a", "input_schema": { "type": "object" }, "cache_control": mark(ttl) });
    let in_result = json!([
        user(json!("a")),
        assistant(json!([call("t1")])),
        user(
            json!([{ "type": "tool_result", "tool_use_id": "t1", "content": [marked("5m"), marked("5m")] , "cache_control": mark("5m") }])
        ),
    ]);
    let thinking = |extra: Value| {
        let mut block = json!({ "type": "thinking", "thinking": "x", "signature": "s" });
        block.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        messages(json!([user(json!("a")), assistant(json!([block, text("b")])), user(json!("c"))]))
    };
    rule(
        &[
            with(
                json!({ "tools": [tool("1h")], "system": [marked("1h")], "messages": [user(json!([marked("5m"), marked("5m")]))] }),
            ),
            with(json!({ "cache_control": { "type": "ephemeral" } })),
            messages(in_result.clone()),
            thinking(json!({})),
        ],
        &[
            (
                "A maximum of 4 blocks with cache_control may be provided. Found 5.",
                with(json!({ "tools": [tool("5m")], "messages": [user(json!(vec![marked("5m"); 4]))] })),
            ),
            (
                "Found 5.",
                with(json!({ "cache_control": mark("5m"), "messages": [user(json!(vec![marked("5m"); 4]))] })),
            ),
            ("Found 5.", with(json!({ "system": [marked("5m"), marked("5m")], "messages": in_result }))),
            (
                "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after",
                with(json!({ "system": [marked("5m")], "messages": [user(json!([marked("1h")]))] })),
            ),
            ("must not come after", with(json!({ "tools": [tool("5m")], "system": [marked("1h")] }))),
            ("cache_control.ttl: Input should be '5m'", messages(json!([user(json!([marked("2h")]))]))),
            (
                "cache_control.type: Input should be 'ephemeral'",
                with(json!({ "cache_control": { "type": "forever" } })),
            ),
            ("cache_control.type: Field required", with(json!({ "cache_control": {} }))),
            (
                "cache_control.scope: Extra inputs",
                with(json!({ "cache_control": { "type": "ephemeral", "scope": "x" } })),
            ),
            ("cache_control: Extra inputs", thinking(json!({ "cache_control": mark("5m") }))),
            (
                "cache_control cannot be set for empty text blocks",
                messages(json!([user(
                    json!([text("a"), { "type": "text", "text": "", "cache_control": mark("5m") }])
                )])),
            ),
        ],
    );
}

#[test]
fn the_end_of_a_conversation() {
    let ends = |model: &str, content: Value| {
        with(json!({ "model": model, "messages": [user(json!("a")), assistant(content)] }))
    };
    let thinks = |mut request: Value| {
        request["max_tokens"] = json!(4_000);
        request["thinking"] = json!({ "type": "enabled", "budget_tokens": 2_000 });
        request
    };
    rule(
        &[
            ends("claude-haiku-4-5", json!("The answer is (")),
            ends("claude-haiku-4-5", json!([text("a "), text("b")])),
            ends("claude-haiku-4-5", json!([])),
        ],
        &[
            ("does not support assistant message prefill", ends("claude-opus-5-5", json!("The answer is ("))),
            ("does not support assistant message prefill", ends("claude-opus-4-6", json!([text("a")]))),
            ("does not support assistant message prefill", thinks(ends("claude-haiku-4-5", json!("a")))),
            ("cannot end with trailing whitespace", ends("claude-haiku-4-5", json!("The answer is "))),
            ("cannot end with trailing whitespace", ends("claude-haiku-4-5", json!([text("a"), text("b\n")]))),
        ],
    );
    let paused = ends("claude-opus-5-5", json!("so far "));
    assert!(validate::check_end(&paused, &row("claude-opus-5-5"), true).is_ok(), "a paused turn goes back as it is");
}

#[test]
fn token_counting_takes_fewer_fields() {
    let count = |request: &Value| {
        validate::check(request, &row("claude-opus-5-5"), Endpoint::CountTokens, (Version::Of2023, Betas::default()))
    };
    let bare = with(json!({ "max_tokens": null, "system": "s", "tools": [], "thinking": { "type": "adaptive" } }));
    assert_eq!(count(&bare), Ok(()));
    for field in ["max_tokens", "stream", "metadata", "temperature"] {
        let mut more = bare.clone();
        more[field] = json!(1);
        assert_eq!(count(&more).unwrap_err().message, format!("{field}: Extra inputs are not permitted"));
    }
    let unpaired = with(json!({ "max_tokens": null, "messages": [user(json!([result("t1")]))] }));
    assert!(count(&unpaired).is_err(), "the rules of messages hold there too");
}

#[test]
fn how_thinking_comes_back() {
    use ThinkingDisplay::{Off, Omitted, Shown};
    let display = |model: &str, thinking: Value| {
        let request = with(json!({ "model": model, "thinking": thinking }));
        validate::display(&request, &row(model))
    };
    assert_eq!(display("claude-opus-5-5", Value::Null), Omitted);
    assert_eq!(display("claude-opus-5-5", json!({ "type": "adaptive" })), Omitted);
    assert_eq!(display("claude-opus-5-5", json!({ "type": "adaptive", "display": "summarized" })), Shown);
    assert_eq!(display("claude-sonnet-5-5", json!({ "type": "between_tools" })), Omitted);
    assert_eq!(display("claude-haiku-5-5", json!({ "type": "disabled" })), Off);
    assert_eq!(display("claude-opus-4-8", Value::Null), Off);
    assert_eq!(display("claude-haiku-4-5", json!({ "type": "enabled", "budget_tokens": 2_000 })), Shown);
    assert_eq!(
        display("claude-haiku-4-5", json!({ "type": "enabled", "budget_tokens": 2_000, "display": "omitted" })),
        Omitted
    );
}
