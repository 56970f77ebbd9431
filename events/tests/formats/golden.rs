//! Golden files: the bytes of every kind as released versions wrote them, kept for ever.
//!
//! `UPDATE_GOLDEN=1` writes the files that are missing, and never touches one that is there: a test that fails means
//! that the format has changed, and the answer is a new schema number with an upcaster, not a new file.

use retrace_events::codec::{Decoded, decode_envelope, decode_payload, encode_envelope};
use retrace_events::jsonl::{Line, export_line, import_line};
use retrace_events::payload::settings::Budget;
use retrace_events::testing::{EventMaker, example_payloads, example_stream};
use retrace_events::{Envelope, Event, Hash, Payload};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(schema: u16) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/v{schema}"))
}

/// The file's content; written first when it is missing and may be written.
fn golden(file: &Path, content: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    if !file.exists() && std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content()).unwrap();
    }
    fs::read(file)
        .unwrap_or_else(|e| panic!("{}: {e}\nhint: a new kind? UPDATE_GOLDEN=1 writes its file", file.display()))
}

fn pretty(value: &serde_json::Value) -> Vec<u8> {
    let mut text = serde_json::to_string_pretty(value).unwrap();
    text.push('\n');
    text.into_bytes()
}

#[test]
fn every_kind_has_an_example() {
    let kinds: Vec<&str> = Payload::kinds().map(|(kind, _)| kind).collect();
    let examples: Vec<&str> = example_payloads().iter().map(Payload::kind).collect();
    assert_eq!(examples, kinds);
    assert_eq!(kinds.iter().collect::<BTreeSet<_>>().len(), kinds.len(), "a kind stands twice");
}

#[test]
fn every_kind_is_read_and_written_as_it_always_was() {
    for payload in example_payloads() {
        let kind = payload.kind();
        let schema = Payload::schema_of(kind).unwrap();
        let bytes = golden(&folder(schema).join(format!("{kind}.bin")), || payload.encode().unwrap());
        let json = golden(&folder(schema).join(format!("{kind}.json")), || pretty(&payload.to_json()));
        let Decoded::Known(decoded) = decode_payload(kind, schema, &bytes).unwrap() else {
            panic!("{kind} is not known")
        };
        let expected: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(decoded.to_json(), expected, "{kind}");
        assert_eq!(*decoded, payload, "{kind}: the example has changed");
        assert_eq!(decoded.encode().unwrap(), bytes, "{kind}");
    }
}

/// The bytes that schema 1 wrote are understood for ever, with what was added since at its neutral value.
#[test]
fn what_older_schemas_wrote_is_lifted() {
    let mut lifted = 0;
    for payload in example_payloads() {
        let kind = payload.kind();
        for schema in 1..Payload::schema_of(kind).unwrap() {
            let file = folder(schema).join(format!("{kind}.bin"));
            let Ok(bytes) = fs::read(&file) else { panic!("{}: no golden file", file.display()) };
            let Decoded::Known(decoded) = decode_payload(kind, schema, &bytes).unwrap() else { panic!("{kind}") };
            let mut old: serde_json::Value =
                serde_json::from_slice(&fs::read(file.with_extension("json")).unwrap()).unwrap();
            add_what_is_new(kind, &mut old);
            assert_eq!(decoded.to_json(), old, "{kind}, schema {schema}");
            lifted += 1;
        }
    }
    assert_eq!(lifted, 9);
}

fn add_what_is_new(kind: &str, old: &mut serde_json::Value) {
    if kind == "context.epoch_started" && old.get("output_config").is_none() {
        old["output_config"] = serde_json::Value::Null;
    }
    if kind == "context.epoch_started" {
        old["compacted"] = serde_json::Value::Null;
    }
    if let Some(settings) = old.get_mut("settings") {
        settings["effort"] = serde_json::Value::Null;
        settings["approvals"] = "auto".into();
        settings["tree_budget"] = serde_json::to_value(Budget::default()).unwrap();
    }
}

#[test]
fn every_golden_file_is_of_a_kind_we_know() {
    let kinds: BTreeSet<&str> = Payload::kinds().map(|(kind, _)| kind).collect();
    let versions = fs::read_dir(folder(1).parent().unwrap()).unwrap();
    let mut seen = 0;
    for file in versions.flat_map(|version| fs::read_dir(version.unwrap().path()).unwrap()) {
        let path = file.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(stem == "envelope" || kinds.contains(stem), "{} is of no kind", path.display());
        seen += 1;
    }
    assert!(seen >= 2 * kinds.len(), "{seen}");
}

/// An event with every field set.
fn example_envelope() -> Envelope {
    let mut maker = EventMaker::new(example_stream("golden"), 2_026);
    let first = maker.prompt("first");
    let example = example_payloads().into_iter().find(|payload| payload.kind() == "turn.prompted").unwrap();
    maker.payload(&example, Some(first.id))
}

#[test]
fn an_envelope_and_its_hash_are_what_they_always_were() {
    let envelope = example_envelope();
    let bytes = golden(&folder(1).join("envelope.bin"), || encode_envelope(&envelope).unwrap());
    let decoded = decode_envelope(&bytes).unwrap();
    assert_eq!(decoded, envelope);
    assert_eq!(encode_envelope(&decoded).unwrap(), bytes);
    // The open format's line names the hash too, so that a change of either is noticed.
    let line = golden(&folder(1).join("envelope.json"), || export_line(&envelope).unwrap().into_bytes());
    let line = String::from_utf8(line).unwrap();
    assert_eq!(export_line(&decoded).unwrap(), line);
    assert_eq!(import_line(&line).unwrap(), Line::Event(Box::new(decoded.clone())));
    let stored: serde_json::Value = serde_json::from_str(&line).unwrap();
    let hash: Hash = stored["hash"].as_str().unwrap().parse().unwrap();
    assert_eq!(decoded.hash().unwrap(), hash);
    assert_eq!(Hash::of(&bytes), hash);
    assert_eq!(Event::decode(decoded).unwrap().hash, hash);
}
