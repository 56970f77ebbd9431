//! Reports cross the pipe unharmed, and nothing else is taken for one.

use super::*;

fn record(words: [u64; 4]) -> [u8; REPORT_BYTES] {
    let mut bytes = [0; REPORT_BYTES];
    for (slot, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *slot = word.to_ne_bytes();
    }
    bytes
}

#[test]
fn both_kinds_are_told_apart() {
    let main = Report::decode(&record([KIND_MAIN, 9, 1234, 5678]));
    assert_eq!(main, Some(Report { main_status: Some(9), cpu_ms: 1234, max_rss_kb: 5678 }));
    let last = Report::decode(&record([KIND_LAST, 0, 1, 2]));
    assert_eq!(last, Some(Report { main_status: None, cpu_ms: 1, max_rss_kb: 2 }));
}

#[test]
fn anything_else_is_no_report() {
    assert_eq!(Report::decode(&record([0, 0, 0, 0])), None);
    assert_eq!(Report::decode(&record([3, 0, 0, 0])), None);
    assert_eq!(Report::decode(&record([KIND_MAIN, u64::MAX, 0, 0])), None);
}

#[test]
fn times_are_added_in_milliseconds() {
    assert_eq!(milliseconds(libc::timeval { tv_sec: 2, tv_usec: 345_678 }), 2345);
}
