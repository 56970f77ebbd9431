//! Response headers are hostile: only sound values are taken.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::claude::headers::{request_id, retry_after_ms, should_retry};

/// 2015-10-21 07:28:00 UTC.
const DATE: &str = "Wed, 21 Oct 2015 07:28:00 GMT";
const DATE_SECS: u64 = 1_445_412_480;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())).collect()
}

fn at(secs: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(secs)
}

#[test]
fn retry_after_in_all_its_forms() {
    type Pairs = &'static [(&'static str, &'static str)];
    let cases: [(Pairs, Option<u64>); 14] = [
        (&[], None),
        (&[("retry-after-ms", "1500")], Some(1_500)),
        (&[("retry-after-ms", "0.5")], Some(1)),
        (&[("retry-after", "61")], Some(61_000)),
        (&[("retry-after", " 2.5 ")], Some(2_500)),
        (&[("retry-after", "0")], Some(0)),
        (&[("retry-after", "5"), ("retry-after-ms", "70")], Some(70)),
        (&[("retry-after", "5"), ("retry-after-ms", "soon")], Some(5_000)),
        (&[("retry-after", DATE)], Some(90_000)),
        (&[("retry-after", "Wed, 21 Oct 2015 07:20:00 GMT")], Some(0)),
        (&[("retry-after", "-3")], None),
        (&[("retry-after", "NaN")], None),
        (&[("retry-after", "inf")], None),
        (&[("retry-after", "1e300")], Some(u64::MAX)),
    ];
    for (pairs, due) in cases {
        assert_eq!(retry_after_ms(&headers(pairs), at(DATE_SECS - 90)), due, "{pairs:?}");
    }
}

#[test]
fn should_retry_is_true_false_or_unsaid() {
    assert_eq!(should_retry(&headers(&[("x-should-retry", "true")])), Some(true));
    assert_eq!(should_retry(&headers(&[("x-should-retry", "false")])), Some(false));
    assert_eq!(should_retry(&headers(&[("x-should-retry", "maybe")])), None);
    assert_eq!(should_retry(&headers(&[])), None);
}

#[test]
fn request_ids_are_bounded_and_printable() {
    assert_eq!(request_id(&headers(&[("request-id", "req_1")])).as_deref(), Some("req_1"));
    assert_eq!(request_id(&headers(&[("x-request-id", "gw-1")])).as_deref(), Some("gw-1"));
    assert_eq!(request_id(&headers(&[("request-id", "req_1"), ("x-request-id", "gw-1")])).as_deref(), Some("req_1"));
    assert_eq!(request_id(&headers(&[("request-id", "with space")])), None);
    assert_eq!(request_id(&headers(&[("request-id", &"x".repeat(201))])), None);
    assert_eq!(request_id(&headers(&[("request-id", "")])), None);
}
