//! What is exported can be imported, and what was changed is refused.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::CallId;
use crate::codec::BINCODE_2;
use crate::log::MemoryLog;
use crate::payload::tool;
use crate::testing::{EventMaker, example_payloads, example_stream};
use serde_json::json;

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn every_kind_survives_the_open_format() {
    let mut maker = EventMaker::new(example_stream("lines"), 1);
    for payload in example_payloads() {
        let envelope = maker.payload(&payload, None);
        let line = export_line(&envelope).unwrap();
        assert_eq!(parse(&line)["payload"], payload.to_json());
        assert_eq!(parse(&line)["at"], envelope.at.to_string());
        assert_eq!(import_line(&line).unwrap(), Line::Event(Box::new(envelope)));
    }
}

#[test]
fn an_unknown_kind_has_no_readable_payload_but_survives() {
    let mut maker = EventMaker::new(example_stream("lines"), 1);
    let unknown = maker.raw("dream.dreamt", 3, vec![BINCODE_2, 1, 2, 255], None);
    let newer = maker.raw("turn.prompted", 9, vec![7], None);
    for envelope in [unknown, newer] {
        let line = export_line(&envelope).unwrap();
        assert_eq!(parse(&line)["payload"], Value::Null);
        assert_eq!(import_line(&line).unwrap(), Line::Event(Box::new(envelope)));
    }
}

#[test]
fn fields_of_a_newer_export_are_passed_over() {
    let envelope = EventMaker::new(example_stream("lines"), 1).prompt("hello");
    let mut line = parse(&export_line(&envelope).unwrap());
    line["note"] = json!({ "from": "the future" });
    assert_eq!(import_line(&line.to_string()).unwrap(), Line::Event(Box::new(envelope)));
}

#[test]
fn any_changed_field_is_found() {
    let mut maker = EventMaker::new(example_stream("lines"), 1);
    let first = maker.prompt("one");
    let envelope = maker.payload(&example_payloads()[4], Some(first.id));
    let sound = parse(&export_line(&envelope).unwrap());
    let changes = [
        ("id", json!("0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")),
        ("stream", json!("ev.local.example.session.other")),
        ("seq", json!(2)),
        ("at_ms", json!(1)),
        ("kind", json!("turn.ended")),
        ("schema", json!(2)),
        ("cause", Value::Null),
        ("prev_hash", json!(Hash::of(b"x"))),
        ("hash", json!(Hash::of(b"x"))),
        ("payload_bytes", json!("AQ==")),
    ];
    for (field, value) in changes {
        let mut line = sound.clone();
        line[field] = value;
        let error = import_line(&line.to_string()).unwrap_err();
        assert!(matches!(&error, ImportError::Changed { what, .. } if what.contains("event")), "{field}: {error}");
    }
}

#[test]
fn what_is_no_line_is_refused() {
    let lines =
        ["", "{}", "[]", "null", "{\"id\":1}", "not json", "{\"blob\":3}", "{\"blob\":\"00\",\"size_bytes\":1}"];
    for line in lines {
        let error = import_line(line).unwrap_err();
        assert!(matches!(error, ImportError::Malformed(_)), "{line}: {error}");
    }
    let mut line = parse(&export_line(&EventMaker::new(example_stream("lines"), 1).prompt("x")).unwrap());
    line["payload_bytes"] = json!("***");
    assert!(matches!(import_line(&line.to_string()), Err(ImportError::Malformed(_))));
    line.as_object_mut().unwrap().remove("payload_bytes");
    let error = import_line(&line.to_string()).unwrap_err();
    assert!(error.to_string().contains("payload_bytes"), "{error}");
}

#[test]
fn blobs_travel_as_lines_too() {
    let bytes = b"\x00\xFFbinary".to_vec();
    let hash = Hash::of(&bytes);
    let line = export_blob_line(hash, &bytes, None);
    assert_eq!(import_line(&line).unwrap(), Line::Blob { hash, bytes });
    let mut changed = parse(&line);
    changed["bytes"] = json!("AQ==");
    let error = import_line(&changed.to_string()).unwrap_err();
    assert!(matches!(&error, ImportError::Changed { claimed, .. } if *claimed == hash), "{error}");
}

#[test]
fn a_redacted_line_hides_and_cannot_be_imported() {
    let secret = "correct-horse-battery";
    let redactor = Redactor::new(vec![secret.to_owned()]);
    let finished = tool::ToolFinished {
        call: CallId("toolu_1".to_owned()),
        is_error: false,
        content: format!("the password is {secret}."),
        exit: None,
        output: None,
        changed: vec![format!("notes/{secret}.txt")],
        duration_ms: 1,
    };
    let envelope = EventMaker::new(example_stream("lines"), 1).payload(&finished.into(), None);
    let line = export_line_redacted(&envelope, &redactor).unwrap();
    assert!(!line.contains(secret), "{line}");
    let shown = parse(&line);
    assert_eq!(shown["payload"]["content"], "the password is [redacted:known].");
    assert_eq!(shown["payload"]["changed"], json!(["notes/[redacted:known].txt"]));
    assert_eq!((&shown["redacted"], &shown["payload_bytes"]), (&json!(true), &Value::Null));
    let error = import_line(&line).unwrap_err();
    assert!(matches!(error, ImportError::Redacted), "{error}");
    assert!(error.to_string().contains("hint:"), "{error}");
    let blob = export_blob_line(Hash::of(b"x"), format!("also {secret}").as_bytes(), Some(&redactor));
    assert_eq!(parse(&blob)["text"], "also [redacted:known]");
    assert!(matches!(import_line(&blob), Err(ImportError::Redacted)));
    let binary = export_blob_line(Hash::of(b"x"), &[0xFF, 0xFE], Some(&redactor));
    assert_eq!((&parse(&binary)["text"], &parse(&binary)["size_bytes"]), (&Value::Null, &json!(2)));
}

/// A log with more events than a page, some of which name blobs.
async fn filled(stream: &StreamId) -> MemoryLog {
    let log = MemoryLog::new();
    let mut maker = EventMaker::new(stream.clone(), 1);
    for n in 0..130_u32 {
        let output = if n % 40 == 0 {
            Some(log.blobs().put(format!("output {}", n / 80).as_bytes()).await.unwrap())
        } else {
            None
        };
        let finished = tool::ToolFinished {
            call: CallId(format!("toolu_{n}")),
            is_error: false,
            content: "done".to_owned(),
            exit: None,
            output,
            changed: Vec::new(),
            duration_ms: 1,
        };
        log.append(&[maker.payload(&finished.into(), None)]).await.unwrap();
    }
    log
}

#[tokio::test]
async fn an_exported_stream_is_rebuilt_elsewhere() {
    let stream = example_stream("exported");
    let log = filled(&stream).await;
    let lines: Vec<String> = export_stream(&log, &stream, None).try_collect().await.unwrap();
    // Two different blobs, each once, and all events.
    assert_eq!(lines.len(), 132);
    // The strict log takes an event only when its blobs are there.
    let copy = MemoryLog::new();
    for line in &lines {
        match import_line(line).unwrap() {
            Line::Blob { hash, bytes } => assert_eq!(copy.blobs().put(&bytes).await.unwrap().hash, hash),
            Line::Event(envelope) => copy.append(&[*envelope]).await.unwrap(),
            Line::Snapshots(_) => panic!("of snapshots this knows nothing"),
        }
    }
    assert_eq!(copy.read(&stream, 0, 1_000).await.unwrap(), log.read(&stream, 0, 1_000).await.unwrap());
    crate::verify::verify_stream(&copy, &stream).await.unwrap();
    let none: Vec<String> = export_stream(&log, &example_stream("nothing"), None).try_collect().await.unwrap();
    assert!(none.is_empty());
}

#[tokio::test]
async fn damage_ends_an_export() {
    let stream = example_stream("exported");
    let log = filled(&stream).await;
    log.flip_byte(&stream, 110);
    let lines: Vec<Result<String, LogError>> = export_stream(&log, &stream, None).collect().await;
    assert!(matches!(lines.last(), Some(Err(LogError::Damaged { seq: 110, .. }))));
    assert!(lines.len() > 100);
}

#[test]
fn pieces_of_snapshots_are_lines_too() {
    let piece = SnapshotPiece { number: 7, is_last: false, bytes: vec![0, 255, 10] };
    let line = export_snapshot_line(7, &piece.bytes, false);
    assert_eq!(line, r#"{"snapshots":7,"bytes":"AP8K"}"#);
    assert_eq!(import_line(&line).unwrap(), Line::Snapshots(piece));
    let last = export_snapshot_line(0, b"", true);
    assert_eq!(
        import_line(&last).unwrap(),
        Line::Snapshots(SnapshotPiece { number: 0, is_last: true, bytes: Vec::new() })
    );
    let largest = vec![1; MAX_PIECE_BYTES];
    assert!(import_line(&export_snapshot_line(0, &largest, false)).is_ok());
    let larger = import_line(&export_snapshot_line(0, &[largest, vec![1; 4]].concat(), false));
    assert!(matches!(larger, Err(ImportError::TooLong { .. })), "{larger:?}");
    for odd in [r#"{"snapshots":-1,"bytes":""}"#, r#"{"snapshots":1}"#, r#"{"snapshots":"x","bytes":"!"}"#] {
        assert!(matches!(import_line(odd), Err(ImportError::Malformed(_))), "{odd}");
    }
}
