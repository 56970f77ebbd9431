//! The fields a query can filter by, and how their values are read.

use crate::document::DocumentKind;
use crate::query::filter::Within;
use crate::query::moment::{Edge, moment_ms};
use retrace_events::Timestamp;

/// The longest value, in bytes.
const VALUE_BYTES: usize = 512;
/// The most values in one list.
const VALUES: usize = 64;

/// A field of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Kind,
    Tool,
    Path,
    Session,
    Since,
    Until,
    Exit,
    In,
}

/// One value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FieldValue {
    Kind(DocumentKind),
    Within(Within),
    Tool(String),
    Path(String),
    Session(String),
    Since(i64),
    Until(i64),
    Exit(i64),
    NotExit(i64),
}

impl Field {
    const ALL: [(&'static str, Self); 8] = [
        ("kind", Self::Kind),
        ("tool", Self::Tool),
        ("path", Self::Path),
        ("session", Self::Session),
        ("since", Self::Since),
        ("until", Self::Until),
        ("exit", Self::Exit),
        ("in", Self::In),
    ];

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, field)| *field)
    }

    pub(super) fn list() -> String {
        Self::ALL.map(|(name, _)| name).join(" ")
    }

    /// Reads a value, or says in one line why it is left out.
    pub(super) fn read(self, value: &str, now: Timestamp) -> Result<Vec<FieldValue>, String> {
        let value = value[..value.floor_char_boundary(VALUE_BYTES)].replace('"', "");
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = || value.split(',').map(str::trim).filter(|word| !word.is_empty()).take(VALUES);
        let found = match self {
            Self::Kind => words().map(kind).collect::<Result<_, _>>()?,
            Self::In => words().map(part).collect::<Result<_, _>>()?,
            Self::Exit => words().map(exit).collect::<Result<_, _>>()?,
            Self::Tool => words().map(|name| FieldValue::Tool(name.to_owned())).collect(),
            Self::Session => words().map(|name| FieldValue::Session(name.to_owned())).collect(),
            Self::Path if value.chars().any(char::is_alphanumeric) => vec![FieldValue::Path(value.clone())],
            Self::Path => Vec::new(),
            Self::Since => vec![FieldValue::Since(time("since", &value, now, Edge::Start)?)],
            Self::Until => vec![FieldValue::Until(time("until", &value, now, Edge::End)?)],
        };
        if found.is_empty() { Err("a filter without a value is left out".to_owned()) } else { Ok(found) }
    }
}

fn kind(word: &str) -> Result<FieldValue, String> {
    let known = || DocumentKind::ALL.map(DocumentKind::name).join(" ");
    DocumentKind::of_name(word)
        .map(FieldValue::Kind)
        .ok_or_else(|| format!("unknown kind `{word}` is left out; hint: kinds are {}", known()))
}

fn part(word: &str) -> Result<FieldValue, String> {
    Within::ALL
        .into_iter()
        .find(|part| {
            part.name().eq_ignore_ascii_case(word) || part.name().trim_end_matches('s').eq_ignore_ascii_case(word)
        })
        .or_else(|| word.eq_ignore_ascii_case("summary").then_some(Within::Summaries))
        .map(FieldValue::Within)
        .ok_or_else(|| format!("unknown place `in:{word}` is left out; hint: in:events, in:summaries or in:code"))
}

fn exit(word: &str) -> Result<FieldValue, String> {
    if let Some(code) = word.strip_prefix('!').map(|rest| rest.trim_start_matches('=')) {
        return code.parse().map(FieldValue::NotExit).map_err(|_| no_exit(word));
    }
    match word.to_ascii_lowercase().as_str() {
        "ok" | "success" => Ok(FieldValue::Exit(0)),
        "fail" | "failed" | "error" | "nonzero" => Ok(FieldValue::NotExit(0)),
        number => number.parse().map(FieldValue::Exit).map_err(|_| no_exit(word)),
    }
}

fn no_exit(word: &str) -> String {
    format!("`exit:{word}` is left out; hint: a number, `ok` or `fail`")
}

fn time(name: &str, value: &str, now: Timestamp, edge: Edge) -> Result<i64, String> {
    moment_ms(value, now, edge).ok_or_else(|| {
        format!("`{name}:{value}` is left out: no moment; hint: 2026-01-05, 2026-01-05T14:30, yesterday, 3d, 2h, 30m")
    })
}
