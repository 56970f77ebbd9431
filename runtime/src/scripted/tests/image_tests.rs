//! Images in requests: what the API takes, and in what words it refuses the rest.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{assistant, call, messages, rule, text, user, with};

/// The beginning of a PNG file of that size, which is all that says it.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    bytes
}

fn image(bytes: &[u8]) -> Value {
    let source = json!({ "type": "base64", "media_type": "image/png", "data": STANDARD.encode(bytes) });
    json!({ "type": "image", "source": source })
}

fn dot() -> Value {
    image(&png(1, 1))
}

/// A result with these blocks.
fn shown(content: Value, is_error: bool) -> Value {
    let result = json!({ "type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": is_error });
    messages(json!([user(json!("look")), assistant(json!([call("t1")])), user(json!([result]))]))
}

fn changed(field: &str, value: &str) -> Value {
    let mut image = dot();
    image["source"][field] = json!(value);
    messages(json!([user(json!([image]))]))
}

#[test]
fn one_image() {
    rule(
        &[
            messages(json!([user(json!([dot()]))])),
            messages(json!([user(json!([dot(), text("what is this?")]))])),
            shown(json!([dot(), text("a dot")]), false),
            shown(json!([text("no dot")]), true),
            messages(json!([user(json!([image(&png(8_000, 8_000))]))])),
        ],
        &[
            ("Invalid base64 data", changed("data", "a b")),
            ("Could not process image", changed("data", "aGk=")),
            ("Could not process image", changed("data", "")),
            ("does not match the provided media type image/gif", changed("media_type", "image/gif")),
            ("media_type: Input should be 'image/jpeg'", changed("media_type", "image/svg+xml")),
            ("max allowed size: 8000 pixels", messages(json!([user(json!([image(&png(1, 8_001))]))]))),
            ("max allowed size: 8000 pixels", shown(json!([image(&png(9_000, 1))]), false)),
            ("image exceeds 5 MB maximum: 5242884 bytes > 5242880 bytes", changed("data", &"A".repeat(5_242_884))),
            ("all content must be type \"text\" if \"is_error\" is true", shown(json!([dot()]), true)),
            ("Input tag 'image'", messages(json!([user(json!("a")), assistant(json!([dot()])), user(json!("b"))]))),
        ],
    );
}

#[test]
fn many_images() {
    let with_images = |model: &str, images: Vec<Value>| {
        with(json!({ "model": model, "messages": [{ "role": "user", "content": images }] }))
    };
    let beside_wide = |count: usize| [vec![image(&png(2_001, 1))], vec![dot(); count]].concat();
    let mut in_result = shown(json!(beside_wide(10)), false);
    in_result["messages"][0]["content"] = json!(vec![dot(); 10]);
    rule(
        &[
            with_images("claude-opus-5-5", vec![dot(); 600]),
            with_images("claude-haiku-4-5", vec![dot(); 100]),
            with_images("claude-opus-5-5", beside_wide(19)),
            with_images("claude-opus-5-5", vec![image(&png(2_000, 2_000)); 21]),
        ],
        &[
            ("601 images > 600", with_images("claude-opus-5-5", vec![dot(); 601])),
            ("101 images > 100", with_images("claude-haiku-4-5", vec![dot(); 101])),
            ("many-image requests: 2000 pixels", with_images("claude-opus-5-5", beside_wide(20))),
            ("many-image requests: 2000 pixels", in_result),
        ],
    );
}
