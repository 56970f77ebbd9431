//! Failures say what is needed and no more.

use crate::claude::{Failure, FailureKind, Sent};

#[test]
fn error_types_of_the_api_and_their_kinds() {
    use FailureKind::{
        Authentication, InvalidRequest, NotFound, Overloaded, Permission, RateLimited, Server, Timeout, TooLarge,
    };
    for (error_type, kind) in [
        ("overloaded_error", Overloaded),
        ("rate_limit_error", RateLimited),
        ("api_error", Server),
        ("timeout_error", Timeout),
        ("invalid_request_error", InvalidRequest),
        ("authentication_error", Authentication),
        ("permission_error", Permission),
        ("billing_error", Permission),
        ("not_found_error", NotFound),
        ("request_too_large", TooLarge),
        ("error_of_the_future", Server),
        ("", Server),
    ] {
        assert_eq!(FailureKind::from_error_type(error_type), kind, "{error_type}");
    }
}

#[test]
fn a_failure_reads_as_its_message() {
    let failure = Failure::new(FailureKind::Timeout, Sent::Accepted, "the server sent nothing for 90s");
    assert_eq!(failure.to_string(), "the server sent nothing for 90s");
    assert_eq!(failure.retry_after(), None);
    let asked = Failure { retry_after_ms: Some(1_500), ..failure };
    assert_eq!(asked.retry_after(), Some(std::time::Duration::from_millis(1_500)));
}

#[test]
fn kinds_and_stages_are_stored_under_stable_names() {
    let name = |value: serde_json::Value| value.as_str().unwrap().to_owned();
    let kinds = [FailureKind::RateLimited, FailureKind::InvalidRequest, FailureKind::TooLarge, FailureKind::Unfinished];
    let stored: Vec<String> = kinds.iter().map(|kind| name(serde_json::to_value(kind).unwrap())).collect();
    assert_eq!(stored, ["rate_limited", "invalid_request", "too_large", "unfinished"]);
    for stage in [Sent::Nothing, Sent::Unanswered, Sent::Refused, Sent::Accepted, Sent::Partly] {
        let json = serde_json::to_string(&stage).unwrap();
        assert_eq!(serde_json::from_str::<Sent>(&json).unwrap(), stage);
    }
    assert_eq!(serde_json::to_string(&Sent::Unanswered).unwrap(), "\"unanswered\"");
}
