//! Hits as programs read them: one object a line, always with the same fields.
//!
//! | field | |
//! |---|---|
//! | `key` | its name in the index, unique |
//! | `kind` | `prompt`, `answer`, `thinking`, `call`, `result`, `note`, `summary` or `code` |
//! | `session`, `stream`, `title` | the session it is from; `null` for code |
//! | `workspace` | the folder the session works in, or whose code it is |
//! | `seq`, `last_seq` | the event's number in its session; of a summary the first and the last |
//! | `event` | the event's id; `null` for summaries and code |
//! | `path`, `paths` | the file it is in, or the first it is about; all of them |
//! | `first_line`, `last_line` | of code; otherwise `null` |
//! | `at` | when, in UTC; for code, when the file was changed |
//! | `tool`, `exit` | the tool, and how its command ended |
//! | `score`, `parts` | the score, and what it is made of |
//! | `snippet`, `highlights` | the words around what matched, and the places in them as `[from, to]` in characters |

use super::hit_list::short_session;
use super::origins::Origins;
use super::passage::Passage;
use retrace_events::Timestamp;
use retrace_events::redact::Redactor;
use retrace_indexer::{Hit, HitSource};
use serde_json::{Map, Value, json};

/// The object of one hit. Secrets are taken out; whatever else could disturb a terminal is escaped where it is printed.
#[must_use]
pub(super) fn object(hit: &Hit, origins: &Origins, redactor: &Redactor) -> Value {
    let clean = |text: &str| redactor.redact(text).into_owned();
    let passage = Passage::new(&hit.snippet.text, &hit.snippet.highlights).redacted(redactor);
    let parts: Map<String, Value> =
        hit.parts.named().into_iter().map(|(name, value)| (name.to_owned(), number(value))).collect();
    let paths: Vec<String> = hit.paths.iter().map(|path| clean(path)).collect();
    let mut object = json!({
        "key": clean(&hit.key),
        "kind": hit.kind.name(),
        "session": null, "stream": null, "title": null,
        "workspace": origins.workspace(hit).map(clean),
        "seq": null, "last_seq": null, "event": null,
        "path": paths.first(), "paths": paths,
        "first_line": null, "last_line": null,
        "at": Timestamp(u64::try_from(hit.at_ms).unwrap_or(0)).to_string(),
        "tool": hit.tool.as_deref().map(clean),
        "exit": hit.exit,
        "score": number(hit.score),
        "parts": parts,
        "snippet": passage.text,
        "highlights": passage.marks_in_chars(),
    });
    let of_session = |stream: &str| {
        let title = origins.title(hit).map(clean);
        [("session", json!(short_session(stream))), ("stream", json!(stream)), ("title", json!(title))]
    };
    let own: Vec<(&str, Value)> = match &hit.source {
        HitSource::Event { stream, seq, event } => {
            let event = [("seq", json!(seq)), ("last_seq", json!(seq)), ("event", json!(event))];
            of_session(stream).into_iter().chain(event).collect()
        }
        HitSource::Summary { stream, first_seq, last_seq, .. } => {
            let range = [("seq", json!(first_seq)), ("last_seq", json!(last_seq))];
            of_session(stream).into_iter().chain(range).collect()
        }
        HitSource::File { path, first_line, last_line } => {
            vec![("path", json!(clean(path))), ("first_line", json!(first_line)), ("last_line", json!(last_line))]
        }
    };
    for (name, value) in own {
        object[name] = value;
    }
    object
}

/// A score with the digits that mean something; one that is no number is `null`.
fn number(score: f32) -> Value {
    let rounded = (f64::from(score) * 10_000.0).round() / 10_000.0;
    serde_json::Number::from_f64(rounded).map_or(Value::Null, Value::Number)
}
