//! Long texts and outputs that are kept beside their event.

use super::super::body::{Body, MAX_BODY_BYTES, body_documents};
use super::super::parting::{WHOLE_BYTES, part};
use super::*;
use retrace_events::BlobRef;
use retrace_events::hash::Hash;

/// Numbered lines of about 60 bytes.
fn lines(range: std::ops::Range<usize>) -> String {
    range.map(|n| format!("line {n}: the quick brown fox number {} jumps over it\n", n * 7)).collect()
}

/// The body of a result that shows `shown` of `bytes`, and the event's own documents.
fn body(shown: &str, bytes: &[u8]) -> (Vec<Document>, Body) {
    let output = Some(BlobRef { hash: Hash::of(bytes), size_bytes: bytes.len() as u64 });
    let result = ToolFinished { output, ..finished("1", Some(0), shown) };
    let events = events(&[called("1", "bash", r#"{"command":"cat a.log"}"#), result.into()]);
    let mut extracted = extracted(&events).pop().unwrap();
    (extracted.documents, extracted.bodies.pop().unwrap())
}

#[test]
fn a_text_of_a_few_kilobytes_stays_whole() {
    let text = "x y ".repeat(WHOLE_BYTES / 4);
    assert_eq!(part(&text).pieces, [text.trim_end()]);
    assert!(part(" \n\t\n").pieces.is_empty());
    assert_eq!(part("\n\n    indented\n\n").pieces, ["    indented"]);
}

#[test]
fn a_long_text_is_parted_at_line_ends_and_nothing_is_lost() {
    let text = lines(0..1_000);
    let parted = part(&text);
    let sizes: Vec<usize> = parted.pieces.iter().map(String::len).collect();
    assert!(sizes.len() >= 10, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size <= WHOLE_BYTES), "{sizes:?}");
    assert!(sizes.iter().all(|size| *size >= 2_000), "about equally long: {sizes:?}");
    assert_eq!(parted.pieces.join("\n"), text.trim_end());
    assert_eq!(parted.left_out.bytes, 0);
}

#[test]
fn a_long_line_is_cut_between_words() {
    let text = "wörter und mehr wörter, immer weiter ".repeat(1_000);
    let parted = part(&text);
    assert!(parted.pieces.iter().all(|piece| piece.len() <= WHOLE_BYTES));
    assert!(
        parted
            .pieces
            .iter()
            .all(|piece| piece.split_whitespace().all(|word| "wörter, und mehr immer weiter".contains(word)))
    );
    assert_eq!(parted.pieces.join(" ").split_whitespace().count(), text.split_whitespace().count());
}

#[test]
fn parts_of_an_output_go_on_where_the_event_ends() {
    let bytes = lines(0..2_000);
    let (documents, body) = body("exit code: 0\nline 0: shown only here", bytes.as_bytes());
    let found = body_documents(&body, bytes.as_bytes());
    assert!(found.documents.len() > 20);
    for (index, document) in found.documents.iter().enumerate() {
        assert_eq!(document.part as usize, documents.len() + index);
        assert_eq!(document.key, format!("ev.local.example.session.s/1.{}", document.part));
        let expected =
            Document { part: 0, key: documents[0].key.clone(), text: documents[0].text.clone(), ..document.clone() };
        assert_eq!(expected, documents[0], "all but the words is the result's own");
    }
    let words: Vec<&str> = found.documents.iter().flat_map(|document| document.text.lines()).collect();
    assert_eq!(words, bytes.lines().collect::<Vec<_>>());
}

#[test]
fn what_the_event_shows_is_not_made_twice() {
    let bytes = lines(0..2_000);
    let (head, tail) = (lines(0..150), lines(1_800..2_000));
    let shown = format!("exit code: 0\n{head}[1,650 lines left out]\n{tail}");
    let (documents, body) = body(&shown, bytes.as_bytes());
    let found = body_documents(&body, bytes.as_bytes()).documents;
    let twice: Vec<&Document> =
        found.iter().filter(|document| document.text.lines().all(|line| shown.contains(line))).collect();
    assert!(twice.is_empty(), "{}", twice.len());
    let all: Vec<&str> = documents.iter().chain(&found).flat_map(|document| document.text.lines()).collect();
    for line in bytes.lines() {
        assert!(all.contains(&line), "{line}");
    }
}

#[test]
fn only_a_beginning_of_a_huge_output_is_taken() {
    let bytes = lines(0..40_000);
    assert!(bytes.len() as u64 > MAX_BODY_BYTES + 100_000);
    let (_, body) = body("exit code: 0", bytes.as_bytes());
    let limit = usize::try_from(MAX_BODY_BYTES).unwrap();
    let found = body_documents(&body, &bytes.as_bytes()[..limit]);
    assert_eq!(found, body_documents(&body, bytes.as_bytes()), "whoever reads too much gets the same");
    let last = found.documents.last().unwrap().text.lines().last().unwrap();
    assert!(bytes.lines().any(|line| line == last), "the last line is whole: {last}");
    let taken: usize = found.documents.iter().map(|document| document.text.len() + 1).sum();
    assert_eq!(found.left_out.bytes, (bytes.len() - taken) as u64);
    assert!(found.documents.len() < 400);
}

#[test]
fn binary_and_absurd_lines_are_left_out_and_counted() {
    let mut bytes = b"first line\n".to_vec();
    bytes.extend(b"\x7fELF\x00\x01\x02 binary\n");
    bytes.extend([0xFF, 0xFE, 0x80, 0x81, b'a', b'\n']);
    bytes.extend("caf\u{e9} is fine\n".as_bytes());
    bytes.extend(b"one odd byte \xFF in a long line of text\n");
    bytes.extend(format!("data:{}\n", "QUJD".repeat(2_000)).as_bytes());
    bytes.extend(format!("{}\n", "ab ".repeat(50_000)).as_bytes());
    bytes.extend(b"last line\n");
    let (_, body) = body("exit code: 0", &bytes);
    let found = body_documents(&body, &bytes);
    let text: Vec<&str> = found.documents.iter().flat_map(|document| document.text.lines()).collect();
    assert_eq!(
        text[..4],
        ["first line", "caf\u{e9} is fine", "one odd byte \u{FFFD} in a long line of text", "data: "]
    );
    assert_eq!(text.last(), Some(&"last line"));
    assert_eq!(found.left_out.lines, 4);
    assert!((140_000..160_000).contains(&found.left_out.bytes), "{:?}", found.left_out);
}

#[test]
fn an_output_of_nothing_is_nothing() {
    for bytes in [&b""[..], b"\n\n", b"\0\0\0"] {
        let (_, body) = body("exit code: 0", bytes);
        assert!(body_documents(&body, bytes).documents.is_empty());
    }
    // Fewer bytes than the event says are there: what is there is taken.
    let (_, body) = body("exit code: 0", b"some words\nand more\n");
    let found = body_documents(&body, b"some words\nand");
    assert_eq!(found.documents[0].text, "some words");
}
