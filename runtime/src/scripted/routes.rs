//! The HTTP routes: read, check, choose, answer, and remember.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State as Shared};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use retrace_events::hash::Hash;
use serde_json::{Value, json};

use super::api_error::ApiError;
use super::fault::Fault;
use super::plan::Plan;
use super::prefix_hash::PrefixHash;
use super::record::RequestRecord;
use super::script::CompactionStep;
use super::state::State;
use super::step::Step;
use super::validate::{self, Betas, Endpoint, Version};
use super::{cache, delivery, frames, signature, summarized};
use crate::claude::ModelRow;

/// The largest body the API takes, and how much beyond it is still read, so that the refusal reaches the client.
const MAX_BODY_BYTES: usize = 32 << 20;
const READ_BEYOND_BYTES: usize = 4 << 20;

pub(super) fn router(state: Arc<State>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/models", get(list_models))
        .route("/v1/models/{id}", get(one_model))
        .route("/scripted/requests", get(requests))
        .fallback(not_found)
        .with_state(state)
}

async fn messages(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let (mut record, checked) = receive(&state, request, Endpoint::Messages).await;
    match checked.and_then(|checked| answer(&state, checked, &mut record)) {
        Ok(Some(response)) => finish(&state, record, Ok(response)),
        Err(error) => finish(&state, record, Err(error)),
        Ok(None) => {
            state.record(record);
            state.closing.cancelled().await;
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    }
}

async fn count_tokens(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let (record, checked) = receive(&state, request, Endpoint::CountTokens).await;
    let count = |checked: Checked| Json(json!({ "input_tokens": cache::count_tokens(&checked.json) })).into_response();
    finish(&state, record, checked.map(count))
}

async fn requests(Shared(state): Shared<Arc<State>>) -> Response {
    Json(json!({ "requests": state.records() })).into_response()
}

async fn list_models(Shared(state): Shared<Arc<State>>, headers: HeaderMap) -> Response {
    if let Err(error) = check_headers(&headers, &state.api_key) {
        return error.response(&request_id(state.arrive()));
    }
    let betas = betas_of(&headers);
    let models: Vec<Value> = state.models.rows().map(|row| model_info(row, betas)).collect();
    let id = |model: Option<&Value>| model.map_or(Value::Null, |model| model["id"].clone());
    let (first, last) = (id(models.first()), id(models.last()));
    Json(json!({ "data": models, "has_more": false, "first_id": first, "last_id": last })).into_response()
}

async fn one_model(Shared(state): Shared<Arc<State>>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let found = check_headers(&headers, &state.api_key)
        .and_then(|_| state.models.find(&id).ok_or_else(|| ApiError::new(404, format!("model: {id}"))));
    match found {
        Ok(row) => Json(model_info(&row, betas_of(&headers))).into_response(),
        Err(error) => error.response(&request_id(state.arrive())),
    }
}

async fn not_found(Shared(state): Shared<Arc<State>>) -> Response {
    ApiError::new(404, "Not found").response(&request_id(state.arrive()))
}

fn model_info(row: &ModelRow, betas: Betas) -> Value {
    let mut info = json!({
        "type": "model",
        "id": row.id,
        "display_name": row.id,
        "created_at": "1970-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": row.context_window_tokens,
        "max_tokens": row.max_output_tokens,
    });
    if betas.compaction {
        let supported = json!({ "supported": row.compaction });
        info["capabilities"] = json!({ "compaction": { "supported": row.compaction, "summarize": supported } });
    }
    info
}

/// A request that passed all checks.
struct Checked {
    row: ModelRow,
    json: Value,
    prefix: PrefixHash,
}

/// Reads a request, checks it, and begins its record.
async fn receive(state: &State, request: Request, endpoint: Endpoint) -> (RequestRecord, Result<Checked, ApiError>) {
    let index = state.arrive();
    let (head, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES + READ_BEYOND_BYTES).await;
    let known = body.as_ref().map(Bytes::as_ref).unwrap_or_default();
    let record = RequestRecord {
        index,
        path: head.uri.path().to_owned(),
        body_hash: Hash::of(known),
        size_bytes: known.len(),
        request_id: request_id(index),
        status: None,
        step: None,
        attempt: None,
        fault: None,
        refusal: None,
        input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
    };
    let betas = betas_of(&head.headers);
    let checked = check_headers(&head.headers, &state.api_key).and_then(|version| match &body {
        Ok(bytes) if bytes.len() <= MAX_BODY_BYTES => parse(state, bytes, endpoint, (version, betas)),
        Ok(_) | Err(_) => Err(ApiError::new(413, "Request exceeds the maximum size")),
    });
    (record, checked)
}

fn parse(state: &State, body: &[u8], endpoint: Endpoint, asked: (Version, Betas)) -> Result<Checked, ApiError> {
    let json: Value = serde_json::from_slice(body)
        .map_err(|error| ApiError::invalid(format!("The request body is not valid JSON: {error}")))?;
    let id = validate::model_id(&json)?;
    let row = state.models.find(id).ok_or_else(|| ApiError::new(404, format!("model: {id}")))?;
    validate::check(&json, &row, endpoint, asked)?;
    let prefix = signature::verify(&json, &state.signing, row.preserved_thinking)?;
    let (tokens, window) = (cache::count_tokens(&json), row.context_window_tokens);
    if endpoint == Endpoint::Messages && tokens > window {
        return Err(ApiError::invalid(format!("prompt is too long: {tokens} tokens > {window} maximum")));
    }
    Ok(Checked { row, json, prefix })
}

/// The betas that the headers name.
fn betas_of(headers: &HeaderMap) -> Betas {
    let names = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    Betas::parse(&names.collect::<Vec<_>>().join(","))
}

/// Checks version and key; returns the version.
fn check_headers(headers: &HeaderMap, api_key: &str) -> Result<Version, ApiError> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let version = text("anthropic-version").ok_or_else(|| ApiError::at("anthropic-version", "header is required"))?;
    let version = Version::parse(version)
        .ok_or_else(|| ApiError::at("anthropic-version", format!("{version:?} is not a valid version")))?;
    let bearer = text(AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
    match (text("x-api-key"), bearer) {
        (Some(key), _) if key == api_key => Ok(version),
        (None, Some(token)) if token == api_key => Ok(version),
        (Some(_), _) => Err(ApiError::new(401, "invalid x-api-key")),
        (None, Some(_)) => Err(ApiError::new(401, "Invalid bearer token")),
        (None, None) => Err(ApiError::new(401, "x-api-key header is required")),
    }
}

/// Plays the step that fits; `None` means to hang.
fn answer(state: &State, checked: Checked, record: &mut RequestRecord) -> Result<Option<Response>, ApiError> {
    if validate::is_compaction(&checked.json) {
        return Ok(summarize(state, checked, record));
    }
    let Checked { row, json, prefix } = checked;
    let played = state.script.walk(&json).map_err(|none| {
        ApiError::invalid(format!("scripted server: no step fits turn {} after {:?}", none.turn, none.said))
    })?;
    let paused = played.previous.is_some_and(|step| step.stop_reason == "pause_turn");
    validate::check_end(&json, &row, paused)?;
    let attempt = state.attempt(record.body_hash, played.index);
    let fault = match begun(played.step, attempt, &json, record) {
        Begun::Over(response) => return Ok(response),
        Begun::On(fault) => fault,
    };
    let display = validate::display(&json, &row);
    let mut plan = Plan::new(played.step, &played.captures, prefix, &state.signing, display);
    if json.get("max_tokens").and_then(Value::as_u64) == Some(0) {
        plan.produce_nothing();
    }
    let usage = frames::Usage::new(accounted(state, &json, &row, record), &played.step.usage);
    Ok(Some(delivered(state, &plan, &row, &usage, (&json, played.step, fault), record)))
}

/// Answers a request for a summary; `None` means to hang.
fn summarize(state: &State, checked: Checked, record: &mut RequestRecord) -> Option<Response> {
    let Checked { row, json, prefix } = checked;
    let CompactionStep { summary, step } = &state.script.compaction;
    let attempt = state.attempt(record.body_hash, usize::MAX);
    let fault = match begun(step, attempt, &json, record) {
        Begun::Over(response) => return response,
        Begun::On(fault) => fault,
    };
    let content = summary.clone().unwrap_or_else(|| summarized::summary_of(&json));
    let stands_for = state.script.summarized(&json, &prefix, row.preserved_thinking);
    let plan = Plan::summary(step, content, &prefix, &state.signing, &stands_for);
    let usage = frames::Usage::new(accounted(state, &json, &row, record), &step.usage).of_summary();
    Some(delivered(state, &plan, &row, &usage, (&json, step, fault), record))
}

/// What an attempt at a step begins with.
enum Begun<'a> {
    /// A response that is no answer; `None` is to hang.
    Over(Option<Response>),
    /// An answer, spoiled or not.
    On(Option<&'a Fault>),
}

fn begun<'a>(step: &'a Step, attempt: usize, json: &Value, record: &mut RequestRecord) -> Begun<'a> {
    record.step = Some(step.name.clone());
    record.attempt = Some(attempt);
    let fault = step.faults.get(attempt);
    record.fault = fault.map(Fault::describe);
    match fault {
        Some(Fault::Hang) => Begun::Over(None),
        Some(fault @ Fault::Refuse { .. }) => Begun::Over(Some(refusal(fault, &record.request_id))),
        Some(fault @ Fault::ErrorMidStream { .. }) if !is_streaming(json) => {
            Begun::Over(Some(refusal(fault, &record.request_id)))
        }
        Some(Fault::ErrorMidStream { .. } | Fault::Cut { .. } | Fault::End { .. } | Fault::Stall { .. }) | None => {
            Begun::On(fault)
        }
    }
}

fn is_streaming(json: &Value) -> bool {
    json.get("stream").and_then(Value::as_bool) == Some(true)
}

/// How the input divides, with the cache as it is now.
fn accounted(state: &State, json: &Value, row: &ModelRow, record: &mut RequestRecord) -> cache::InputTokens {
    let tokens = state.account(json, row.min_cacheable_tokens);
    record.input_tokens = tokens.fresh;
    record.cache_creation_input_tokens = tokens.written_5m + tokens.written_1h;
    record.cache_read_input_tokens = tokens.read;
    tokens
}

fn delivered(
    state: &State,
    plan: &Plan,
    row: &ModelRow,
    usage: &frames::Usage,
    (json, step, fault): (&Value, &Step, Option<&Fault>),
    record: &RequestRecord,
) -> Response {
    let delivery = &step.delivery;
    let (content_type, events) = if is_streaming(json) {
        ("text/event-stream; charset=utf-8", frames::events(plan, &row.id, usage, delivery))
    } else {
        ("application/json", vec![frames::whole_message(plan, &row.id, usage).to_string()])
    };
    let acts = delivery::acts(events, fault, delivery, &record.request_id);
    let headers = [(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-cache")];
    (headers, delivery::body(acts, state.closing.clone(), state.abort.clone())).into_response()
}

/// The response of a fault that is an error from the start.
fn refusal(fault: &Fault, request_id: &str) -> Response {
    let (error, retry_after, retry_after_ms, should_retry) = match fault {
        Fault::Refuse { error, retry_after, retry_after_ms, should_retry } => {
            (error.clone(), retry_after.clone(), *retry_after_ms, *should_retry)
        }
        Fault::ErrorMidStream { error, .. } => {
            let status = if error.kind == "overloaded_error" { 529 } else { 500 };
            (ApiError { status, ..error.clone() }, None, None, None)
        }
        Fault::Cut { .. } | Fault::End { .. } | Fault::Stall { .. } | Fault::Hang => {
            (ApiError::new(500, "scripted fault"), None, None, None)
        }
    };
    let mut response = error.response(request_id);
    let headers = [
        ("retry-after", retry_after),
        ("retry-after-ms", retry_after_ms.map(|ms| ms.to_string())),
        ("x-should-retry", should_retry.map(|retry| retry.to_string())),
    ];
    for (name, value) in headers {
        if let Some(value) = value.and_then(|value| value.parse().ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Completes the record and the response.
fn finish(state: &State, mut record: RequestRecord, result: Result<Response, ApiError>) -> Response {
    let mut response = match result {
        Ok(response) => response,
        Err(error) => {
            record.refusal = Some(format!("{}: {}", error.kind, error.message));
            error.response(&record.request_id)
        }
    };
    if let Ok(id) = record.request_id.parse() {
        response.headers_mut().insert("request-id", id);
    }
    record.status = Some(response.status().as_u16());
    state.record(record);
    response
}

fn request_id(index: usize) -> String {
    format!("req_scripted_{index:06}")
}
