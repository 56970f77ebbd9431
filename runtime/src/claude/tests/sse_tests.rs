//! The decoder gives the same events however the bytes are cut, and stays inside its bounds.

use proptest::prelude::*;

use crate::claude::{SseDecoder, SseError, SseEvent};

fn decode(chunks: &[&[u8]]) -> Result<Vec<SseEvent>, SseError> {
    let mut decoder = SseDecoder::new(1 << 20);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut events)?;
    }
    Ok(events)
}

fn event(event: &str, data: &str) -> SseEvent {
    SseEvent { event: event.to_owned(), data: data.to_owned() }
}

#[test]
fn the_fields_of_the_specification() {
    let cases: [(&str, Vec<SseEvent>); 14] = [
        ("data: a\n\n", vec![event("", "a")]),
        ("event: x\ndata: a\n\n", vec![event("x", "a")]),
        ("data: a\nevent: x\n\n", vec![event("x", "a")]),
        ("data:a\n\n", vec![event("", "a")]),
        ("data:  a\n\n", vec![event("", " a")]),
        ("data: a\ndata: b\ndata\n\n", vec![event("", "a\nb\n")]),
        ("data\n\n", vec![event("", "")]),
        ("event: x\n\ndata: a\n\n", vec![event("", "a")]),
        (": comment\n:\ndata: a\nid: 7\nretry: 5\nunknown: 1\n\n", vec![event("", "a")]),
        ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", vec![event("", "a"), event("", "b"), event("", "c")]),
        ("\u{feff}data: a\n\n", vec![event("", "a")]),
        ("data: \u{feff}a\n\n", vec![event("", "\u{feff}a")]),
        ("data: a\n", vec![]),
        ("\n\n\n", vec![]),
    ];
    for (stream, expected) in cases {
        assert_eq!(decode(&[stream.as_bytes()]), Ok(expected), "{stream:?}");
    }
}

#[test]
fn a_line_feed_after_a_carriage_return_in_the_next_chunk_is_no_new_line() {
    let events = decode(&[b"data: a\r", b"\ndata: b\r\n\r", b"", b"\n", b"data: c\r\r"]);
    assert_eq!(events, Ok(vec![event("", "a\nb"), event("", "c")]));
}

#[test]
fn sizes_are_bounded() {
    let mut decoder = SseDecoder::new(100);
    let mut events = Vec::new();
    assert_eq!(decoder.push(&[b'x'; 100], &mut events), Ok(()));
    assert_eq!(decoder.push(b"x", &mut events), Err(SseError::TooLarge { limit_bytes: 100 }));

    let mut decoder = SseDecoder::new(100);
    let line = format!("data: {}\n", "y".repeat(40));
    assert_eq!(decoder.push(line.as_bytes(), &mut events), Ok(()));
    assert_eq!(decoder.push(line.as_bytes(), &mut events), Ok(()));
    assert_eq!(decoder.push(line.as_bytes(), &mut events), Err(SseError::TooLarge { limit_bytes: 100 }));
    assert!(events.is_empty());

    let mut decoder = SseDecoder::new(100);
    for _ in 0..1_000 {
        decoder.push(b"data: small\n\n", &mut events).unwrap();
    }
    assert_eq!(events.len(), 1_000, "a limit on one event is none on their number");
}

#[test]
fn invalid_utf8_is_an_error_not_a_replacement_character() {
    assert_eq!(decode(&[b"data: \xff\n\n"]), Err(SseError::NotUtf8));
    assert_eq!(decode(&[b"data: \xc3\n\n"]), Err(SseError::NotUtf8));
}

/// Streams of sound and odd lines, with all three line endings.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "data: ?[a-zäöü€🦀 :]{0,12}",
        2 => "event: ?[a-z_]{0,8}",
        1 => ":[a-z ]{0,8}",
        1 => "[a-z]{1,5}(: ?[a-z]{0,5})?",
        4 => Just(String::new()),
    ];
    let ending = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    prop::collection::vec((line, ending), 0..30)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, ending)| (line + ending).into_bytes()).collect())
}

/// The specification, written as plainly as possible: whole text, split into lines, one pass.
fn plain_decode(stream: &[u8]) -> Vec<SseEvent> {
    let text = String::from_utf8(stream.to_vec()).unwrap().replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut name, mut data) = (String::new(), Vec::new());
    for line in text.split_inclusive('\n') {
        let Some(line) = line.strip_suffix('\n') else { break };
        if line.is_empty() {
            if !data.is_empty() {
                events.push(event(&name, &data.join("\n")));
            }
            name.clear();
            data.clear();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match field {
            "event" => name = value,
            "data" => data.push(value),
            _ => {}
        }
    }
    events
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(stream in streams(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let whole = decode(&[&stream]).unwrap();
        prop_assert_eq!(&whole, &plain_decode(&stream));

        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts {
            chunks.push(&stream[from..cut]);
            from = cut;
        }
        chunks.push(&stream[from..]);
        prop_assert_eq!(&decode(&chunks).unwrap(), &whole);

        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(&decode(&bytes).unwrap(), &whole);
    }

    #[test]
    fn any_bytes_never_panic_and_never_grow_beyond_the_limit(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
        let mut decoder = SseDecoder::new(64);
        let mut events = Vec::new();
        for chunk in &chunks {
            if decoder.push(chunk, &mut events).is_err() {
                break;
            }
        }
        for event in events {
            prop_assert!(event.data.len() + event.event.len() <= 64);
        }
    }
}
