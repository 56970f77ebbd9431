//! A refusal in the API's own shape.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The status and the `error` object of a refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    /// The HTTP status.
    pub(super) status: u16,
    /// The error's `type`.
    pub(super) kind: String,
    /// The error's `message`.
    pub(super) message: String,
    /// A name for the very reason, where the API has one.
    pub(super) code: Option<&'static str>,
}

impl ApiError {
    /// An error of `status`, with the type that the API pairs with it.
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, kind: error_type(status).to_owned(), message: message.into(), code: None }
    }

    /// 400, the most usual refusal.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    /// 400 for the field at `path`.
    pub(super) fn at(path: &str, message: impl AsRef<str>) -> Self {
        Self::invalid(format!("{path}: {}", message.as_ref()))
    }

    /// This error with a name for the very reason.
    pub(super) fn coded(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The body, as the API sends it both with an error status and in mid-stream.
    pub(super) fn body(&self, request_id: &str) -> String {
        let mut error = json!({ "type": self.kind, "message": self.message });
        if let Some(code) = self.code {
            error["details"] = json!({ "error_code": code });
        }
        json!({ "type": "error", "error": error, "request_id": request_id }).to_string()
    }

    /// The whole response.
    pub(super) fn response(&self, request_id: &str) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = [(CONTENT_TYPE.as_str(), "application/json"), ("request-id", request_id)];
        (status, headers, self.body(request_id)).into_response()
    }
}

/// The API's error type for an HTTP status.
pub(super) fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    }
}
