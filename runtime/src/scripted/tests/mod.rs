//! Tests of the scripted server: scripts, the walk, every rule, signatures, the cache, and the routes over real HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod cache_tests;
mod canonical_tests;
mod compaction_tests;
mod delivery_tests;
mod frames_tests;
mod image_tests;
mod pairing_tests;
mod plan_tests;
mod script_tests;
mod serve_tests;
mod server_tests;
mod signature_tests;
mod state_tests;
mod validate_tests;
mod walk_tests;

use serde_json::{Value, json};

use super::Script;
use super::api_error::ApiError;
use super::validate::{self, Betas, Endpoint, Version};
use crate::claude::{ModelRow, ModelTable};

pub(super) fn script(text: &str) -> Script {
    Script::parse(text).unwrap()
}

pub(super) fn row(model: &str) -> ModelRow {
    ModelTable::builtin().unwrap().find(model).unwrap()
}

/// The smallest request.
pub(super) fn request() -> Value {
    json!({ "model": "claude-opus-5-5", "max_tokens": 100, "messages": [{ "role": "user", "content": "hi" }] })
}

/// [`request`] with the fields of `changes` put in (null takes one out).
pub(super) fn with(changes: Value) -> Value {
    let mut request = request();
    for (key, value) in changes.as_object().unwrap() {
        if value.is_null() {
            request.as_object_mut().unwrap().shift_remove(key);
        } else {
            request[key] = value.clone();
        }
    }
    request
}

/// A request of these messages.
pub(super) fn messages(messages: Value) -> Value {
    with(json!({ "messages": messages }))
}

pub(super) fn user(content: Value) -> Value {
    json!({ "role": "user", "content": content })
}

pub(super) fn assistant(content: Value) -> Value {
    json!({ "role": "assistant", "content": content })
}

pub(super) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

pub(super) fn call(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "bash", "input": {} })
}

pub(super) fn result(id: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": "done" })
}

/// What the checks say to `request`, for the model that it names.
pub(super) fn checked(request: &Value) -> Result<(), ApiError> {
    let row = row(validate::model_id(request)?);
    validate::check(request, &row, Endpoint::Messages, (Version::Of2023, Betas { compaction: true }))?;
    // What is only summarized may end with anybody.
    if validate::is_compaction(request) { Ok(()) } else { validate::check_end(request, &row, false) }
}

/// What the server would refuse the body with, for tests of what makes bodies.
pub(crate) fn refusal(body: &[u8]) -> Option<String> {
    let request = serde_json::from_slice(body).unwrap();
    checked(&request).err().map(|error| error.message)
}

/// Asserts that every request of the first list passes, and every one of the second is refused with its message.
pub(super) fn rule(accepted: &[Value], refused: &[(&str, Value)]) {
    for request in accepted {
        if let Err(error) = checked(request) {
            panic!("refused: {}\n{request:#}", error.message);
        }
    }
    for (message, request) in refused {
        let error = checked(request).expect_err(&format!("accepted, where {message:?} was due:\n{request:#}"));
        assert_eq!((error.status, error.kind.as_str()), (400, "invalid_request_error"), "{}", error.message);
        assert!(error.message.contains(message), "{message:?} was due, not {:?}", error.message);
    }
}
