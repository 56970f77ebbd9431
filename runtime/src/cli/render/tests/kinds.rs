//! Every kind of event in every style and detail: a line or none, harmless, bounded, without secrets where text is foreign.

use super::clean::assert_harmless;
use super::{SECRET, events, redactor, text, uncoloured};
use crate::cli::render::{Detail, Style, Transcript, units};
use crate::tools;
use proptest::prelude::*;
use retrace_events::Event;
use retrace_events::payload::Payload;
use retrace_events::testing::{EventMaker, example_payloads, example_stream};
use serde_json::Value;

const NASTY: &str = "a\u{1b}]0;t\u{7}b\u{1b}[2Jc\u{9b}31md\u{202e}e\u{0}f\r\ng\u{200b}\u{feff}h\u{2028}i";

/// The longest text of one event whose foreign words are short.
const MOST_CHARS: usize = 2_000;

fn coloured(payloads: &[Payload]) -> String {
    let mut transcript = Transcript::new(Style::Coloured, Detail::Full, redactor(), tools::all());
    events(payloads.to_vec()).iter().map(|event| transcript.event(event)).collect()
}

#[test]
fn every_kind_is_whole_lines_harmless_and_bounded() {
    for payload in example_payloads() {
        let kind = payload.kind();
        for detail in [Detail::Short, Detail::Full] {
            let shown = text(detail, vec![payload.clone()]);
            assert!(shown.is_empty() || shown.ends_with('\n'), "{kind}: {shown:?}");
            assert!(shown.chars().count() < MOST_CHARS, "{kind}: {} characters", shown.chars().count());
            assert_harmless(&shown);
        }
    }
}

#[test]
fn the_full_transcript_shows_what_the_short_one_does_and_more() {
    let (mut shorter, mut equal) = (0, 0);
    for payload in example_payloads() {
        let (short, full) = (text(Detail::Short, vec![payload.clone()]), text(Detail::Full, vec![payload.clone()]));
        // What a result says may be laid out differently; the first line is the same.
        if let Some(first) = short.lines().find(|line| !line.is_empty()) {
            assert!(full.contains(first), "{}: {first:?} is missing in {full:?}", payload.kind());
        }
        if short.len() < full.len() { shorter += 1 } else { equal += 1 }
    }
    assert!(shorter >= 10 && equal >= 10, "{shorter} kinds have more in the full transcript, {equal} have not");
}

#[test]
fn colours_change_nothing_but_the_colours() {
    for payload in example_payloads() {
        let plain = text(Detail::Full, vec![payload.clone()]);
        let shown = coloured(std::slice::from_ref(&payload));
        assert_eq!(uncoloured(&shown), plain, "{}", payload.kind());
        // What was begun is ended, before the line or the event is over.
        let begun = shown.matches("\u{1b}[").count() - shown.matches("\u{1b}[0m").count();
        assert_eq!(begun, shown.matches("\u{1b}[0m").count(), "{}: {shown:?}", payload.kind());
    }
}

/// Puts `words` in the place of every text in `value` that an event may have from elsewhere.
fn replaced(value: &Value, words: &str) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), replaced(value, words))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| replaced(item, words)).collect()),
        Value::String(_) => Value::String(words.to_owned()),
        other => other.clone(),
    }
}

#[test]
fn answers_and_calls_of_any_shape_are_harmless_and_redacted() {
    let json = serde_json::to_string(&format!("{NASTY} {SECRET}")).unwrap();
    let shapes = [
        "[]".to_owned(),
        "null".to_owned(),
        "not JSON".to_owned(),
        format!("[{json}]"),
        format!("{{\"type\":\"text\",\"text\":{json}}}"),
        format!("[{{\"type\":\"text\"}},{{\"text\":{json}}},{{\"type\":{json},\"text\":{json}}}]"),
        format!("[{{\"type\":\"text\",\"text\":{json}}},{{\"type\":\"thinking\",\"thinking\":{json}}}]"),
        format!("[{{\"type\":\"tool_use\",\"id\":{json},\"name\":{json},\"input\":{json}}}]"),
        format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000)),
    ];
    let input = replaced(
        &serde_json::json!({ "command": "", "path": "", "pattern": [""], "x": { "y": "" } }),
        &format!("{NASTY} {SECRET}"),
    );
    for detail in [Detail::Short, Detail::Full] {
        for shape in &shapes {
            let shown = text(detail, vec![super::answered(shape)]);
            assert_harmless(&shown);
            assert!(!shown.contains("hunter2"), "{shape}: {shown}");
        }
        for tool in ["bash", "read_file", "edit_file", "write_file", "search_files", "list_dir", "no such tool"] {
            for input in [input.to_string(), "null".to_owned(), "{".to_owned(), "[1]".to_owned(), String::new()] {
                let shown = text(detail, vec![super::called("1", tool, &input), super::finished("1", Some(1), NASTY)]);
                assert_harmless(&shown);
                assert!(!shown.contains("hunter2") && shown.contains(tool), "{tool} {input}: {shown}");
            }
        }
    }
}

#[test]
fn one_long_call_is_still_few_lines() {
    let long = "x".repeat(100_000);
    let input = serde_json::json!({ "command": long }).to_string();
    let output = "line\n".repeat(50_000);
    let shown = text(Detail::Short, vec![super::called("1", "bash", &input), super::finished("1", Some(1), &output)]);
    assert!(shown.lines().count() < 20 && shown.chars().count() < 4_000, "{} characters", shown.chars().count());
    assert!(shown.contains("exit 1 · 50,000 lines") && shown.contains("… 49,988 lines above"), "{shown}");
}

#[test]
fn unknown_kinds_of_any_name_are_one_line() {
    for kind in ["future.thing", NASTY, &"k".repeat(5_000)] {
        let mut maker = EventMaker::new(example_stream("a-b"), 1);
        let event = Event::decode(maker.opaque(kind, 10)).unwrap();
        let shown = super::transcript(Detail::Short).event(&event);
        assert_harmless(&shown);
        assert_eq!(shown.lines().count(), 1, "{shown:?}");
        assert!(shown.starts_with("? ") && shown.chars().count() < 150, "{shown:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn figures_are_narrow_and_in_order(one in any::<u64>(), other in any::<u64>()) {
        for shown in [units::duration(one), units::cost(one), units::size(one), units::count(one)] {
            prop_assert!(shown.chars().count() <= 26 && shown.is_ascii(), "{}", shown);
        }
        prop_assert_eq!(units::count(one).replace(',', ""), one.to_string());
        prop_assert!(units::count(one).split(',').skip(1).all(|group| group.len() == 3));
        // More money is never shown as less.
        let dollars = |microusd| units::cost(microusd)[1..].parse::<f64>().unwrap();
        let (less, more) = (one.min(other), one.max(other));
        prop_assert!(dollars(less) <= dollars(more));
    }

    #[test]
    fn a_cost_is_never_shown_as_less_than_it_is(microusd in 0_u64..1_000_000_000_000) {
        let shown = units::cost(microusd);
        let (whole, part) = shown[1..].split_once('.').unwrap();
        let value = format!("{whole}{part:0<6}").parse::<u64>().unwrap();
        prop_assert!(value >= microusd && value - microusd < 10_000, "{}", shown);
    }

    #[test]
    fn durations_keep_the_order_of_their_parts(ms in 0_u64..3_600_000) {
        let shown = units::duration(ms);
        let fits = match ms {
            0..1_000 => shown == format!("{ms}ms"),
            1_000..60_000 => shown.ends_with('s') && shown.contains('.'),
            _ => shown.contains("m ") && shown.len() <= "59m 59s".len(),
        };
        prop_assert!(fits, "{} for {}", shown, ms);
    }
}
