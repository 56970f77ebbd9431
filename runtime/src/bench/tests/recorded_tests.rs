//! Recordings: good ones, packed ones, damaged ones.

use super::super::recorded::{RecordedError, recorded_sessions, sessions};
use super::super::{BenchSession, ItemKind};
use super::{SMALL, small};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::Write as _;

fn line(session: &str, ts: &str, kind: &str) -> String {
    format!(
        "{{\"session\":\"{session}\",\"i\":0,\"ts\":\"{ts}\",\"kind\":\"{kind}\",\"tool\":null,\"path\":null,\"text\":\"x\",\"tok\":1}}\n"
    )
}

fn read(text: &str) -> Result<Vec<BenchSession>, RecordedError> {
    sessions(text.as_bytes())
}

const TIME: &str = "2026-01-05T12:00:00.000Z";

#[test]
fn sessions_stand_mixed_in_a_file() {
    let text =
        [line("b", TIME, "user"), line("a", TIME, "meta"), "\n".to_owned(), line("b", TIME, "thinking")].concat();
    let read = read(&text).unwrap();
    let kinds = |session: &BenchSession| session.items.iter().map(|item| item.kind).collect::<Vec<_>>();
    assert_eq!(read.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(kinds(&read[0]), [ItemKind::User, ItemKind::Thinking]);
    assert_eq!(read[0].items[0].at_ms, 1_767_614_400_000);
    let small = small();
    assert_eq!(small.items.len(), 160);
    assert_eq!((small.items[1].tool.as_str(), small.items[0].path.as_str()), (small.items[1].tool.as_str(), ""));
}

#[test]
fn time_does_not_go_backwards() {
    let read = read(&[line("a", TIME, "user"), line("a", "2026-01-05T11:00:00Z", "user")].concat()).unwrap();
    assert_eq!(read[0].items[0].at_ms, read[0].items[1].at_ms);
}

#[test]
fn a_damaged_line_is_named() {
    let good = line("a", TIME, "user");
    for (bad, what) in [
        ("{\"session\": \"a\"}\n".to_owned(), "missing field `ts`"),
        ("no json\n".to_owned(), "expected"),
        (good[..40].to_owned(), "EOF"),
        (line("a", "yesterday", "user"), "\"yesterday\" is no time"),
        (line("a", TIME, "tool"), "there is no kind \"tool\""),
        (line("a", TIME, "user").replace("\"x\"", "7"), "invalid type"),
    ] {
        let error = read(&format!("{good}{good}{bad}")).unwrap_err().to_string();
        assert!(error.starts_with("line 3: ") && error.contains(what), "{error}");
    }
    let error = sessions(&b"\xff\xfe\n"[..]).unwrap_err().to_string();
    assert!(error.starts_with("line 1: "), "{error}");
}

#[test]
fn packed_and_plain_files_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (folder.path().join("a.jsonl"), folder.path().join("a.jsonl.gz"));
    std::fs::write(&plain, SMALL).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(SMALL.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    std::fs::write(&packed, &bytes).unwrap();
    assert_eq!(recorded_sessions(&packed).unwrap(), recorded_sessions(&plain).unwrap());
    // Cut short it is damaged, and not a shorter recording.
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    let error = recorded_sessions(&packed).unwrap_err().to_string();
    assert!(error.starts_with("line ") && error.contains("damaged"), "{error}");
    assert!(matches!(recorded_sessions(folder.path()), Err(RecordedError::Io(_))));
    assert!(matches!(recorded_sessions(&folder.path().join("none")), Err(RecordedError::Io(_))));
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = sessions(&bytes[..]);
    }

    #[test]
    fn what_is_changed_in_a_line_is_read_or_named(at in 0_usize..150, byte in 0x20_u8..0x7f) {
        let mut bytes = line("a", TIME, "user").into_bytes();
        let place = at % bytes.len();
        bytes[place] = byte;
        if let Err(error) = sessions(&bytes[..]) {
            prop_assert!(error.to_string().starts_with("line 1: "), "{}", error);
        }
    }
}
