//! Files that are damaged, cut off, packed, endless, or no text.

use super::*;
use crate::import::claude_code::{Line, Lines, MAX_LINE_BYTES};
use std::io::Write as _;

/// All lines, as words.
fn read(path: &Path) -> Vec<String> {
    let mut lines = Lines::open(path).unwrap();
    let mut all = Vec::new();
    loop {
        all.push(match lines.next() {
            Ok(None) => return all,
            Ok(Some(Line::Text(text))) => text.to_owned(),
            Ok(Some(Line::Unfinished(text))) => format!("unfinished {text}"),
            Ok(Some(Line::NotUtf8)) => "not UTF-8".to_owned(),
            Ok(Some(Line::TooLong)) => "too long".to_owned(),
            Err(error) => {
                all.push(error.kind().to_string());
                return all;
            }
        });
    }
}

#[test]
fn lines_are_read_packed_or_not() {
    let desk = Desk::new();
    let text = b"one\r\n\ntwo\n\xff\xfe\nthree";
    let expected = ["one", "", "two", "not UTF-8", "unfinished three"];
    assert_eq!(read(&desk.write("plain", text)), expected);
    assert_eq!(read(&desk.write("packed", gzip(text))), expected);
    // Two packed pieces in a row are one file.
    assert_eq!(read(&desk.write("pieces", [gzip(b"one\n"), gzip(b"two\n")].concat())), ["one", "two"]);
    assert!(read(&desk.write("empty", "")).is_empty());
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let desk = Desk::new();
    let mut text = vec![b'x'; 50 * 1024 * 1024];
    text.extend_from_slice(b"\nafter\n");
    assert_eq!(read(&desk.write("long", &text)), ["too long", "after"]);
    assert_eq!(read(&desk.write("packed", gzip(&text))), ["too long", "after"]);
    text.truncate(MAX_LINE_BYTES + 1);
    assert_eq!(read(&desk.write("endless", &text)), ["too long"]);
    text.truncate(MAX_LINE_BYTES);
    let read = read(&desk.write("longest", &text));
    assert!(read.len() == 1 && read[0].starts_with("unfinished x"));
}

#[test]
fn damage_in_a_packed_file_is_told_after_what_stands_before_it() {
    let desk = Desk::new();
    let mut packed = gzip(SESSION.as_bytes());
    packed.truncate(packed.len() - 10);
    let lines = read(&desk.write("cut", packed));
    assert_eq!(lines.last().unwrap(), "unexpected end of file");
    assert!(lines.len() > 10, "{}", lines.len());
}

#[tokio::test]
async fn broken_lines_are_left_out_and_told() {
    let desk = Desk::new();
    let lines: Vec<&str> = SESSION.split_inclusive('\n').collect();
    let mut file = std::fs::File::create(desk.write("a.jsonl", "")).unwrap();
    for line in &lines[..20] {
        file.write_all(line.as_bytes()).unwrap();
    }
    file.write_all(b"{\"type\":\"user\",\"message\":\n\xff\xff\n[]\n\nnull\n").unwrap();
    for line in &lines[20..] {
        file.write_all(line.as_bytes()).unwrap();
    }
    let report = desk.import(&desk.folder().join("a.jsonl")).await;
    let told: Vec<(Option<u64>, &str)> =
        report.problems.iter().map(|problem| (problem.line, problem.what.as_str())).collect();
    assert_eq!(
        told,
        [
            (Some(21), "not a JSON object: left out"),
            (Some(22), "not UTF-8: left out"),
            (Some(23), "not a JSON object: left out"),
            (None, "1 more lines like these were left out"),
        ]
    );
    assert_eq!((report.broken_lines, report.failed()), (4, false));
    let whole = Desk::new();
    whole.import(&whole.write("a.jsonl", SESSION)).await;
    assert_eq!(desk.kinds(SESSION_ID).await, whole.kinds(SESSION_ID).await);
}

#[tokio::test]
async fn a_last_line_that_is_cut_off_is_added_when_it_is_whole() {
    let whole = Desk::new();
    whole.import(&whole.write("a.jsonl", SESSION)).await;
    let expected = whole.events(SESSION_ID).await;
    // Cut at many places, also inside of answers and of characters.
    for cut in (2_000..SESSION.len()).step_by(1_733) {
        let desk = Desk::new();
        let report = desk.import(&desk.write("a.jsonl", &SESSION.as_bytes()[..cut])).await;
        assert!(!report.failed() && report.broken_lines <= 1, "{cut}: {report:?}");
        let before = desk.events(SESSION_ID).await.len();
        let report = desk.import(&desk.write("a.jsonl", SESSION)).await;
        assert!(!report.failed() && report.present() == before as u64, "{cut}: {report:?}");
        assert_eq!(desk.kinds(SESSION_ID).await.len(), expected.len(), "{cut}");
    }
}

#[tokio::test]
async fn what_stands_before_damage_is_taken_and_the_rest_added_later() {
    let desk = Desk::new();
    let mut packed = gzip(SESSION.as_bytes());
    packed.truncate(packed.len() / 2);
    let report = desk.import(&desk.write("a.jsonl.gz", packed)).await;
    assert!(report.failed() && report.stored() > 5, "{report:?}");
    assert!(report.problems[0].what.contains("what stands before was taken"));
    let report = desk.import(&desk.write("a.jsonl.gz", gzip(SESSION.as_bytes()))).await;
    assert!(!report.failed() && report.stored() > 5 && report.present() > 5, "{report:?}");
}
