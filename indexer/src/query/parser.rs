//! From text to a query. Total: every text is a query, and what a query prints as is read as the same query again.

use crate::query::clause::Clause;
use crate::query::fields::{Field, FieldValue};
use crate::query::filter::Filter;
use crate::query::{QUERY_BYTES, Query};
use retrace_events::Timestamp;

/// The most words and phrases that are taken.
const CLAUSES: usize = 512;
/// The most words of a plain text that are taken.
const PLAIN_WORDS: usize = 4096;
/// The most notes that are kept.
const NOTES: usize = 8;
/// The longest word, in bytes.
const WORD_BYTES: usize = 1024;
/// The longest phrase, in bytes.
const PHRASE_BYTES: usize = 4096;

pub(super) fn parse(text: &str, now: Timestamp) -> Query {
    let mut parser = Parser { query: Query::default(), now, most: CLAUSES };
    let text = parser.bounded(text).replace(['\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}'], "\"");
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        rest = parser.clause(rest).trim_start();
    }
    parser.query
}

pub(super) fn plain(text: &str) -> Query {
    let mut parser = Parser { query: Query::default(), now: Timestamp::default(), most: PLAIN_WORDS };
    for word in parser.bounded(text).split_whitespace() {
        parser.add(word, false, false);
    }
    parser.query
}

struct Parser {
    query: Query,
    now: Timestamp,
    most: usize,
}

impl Parser {
    fn bounded<'a>(&mut self, text: &'a str) -> &'a str {
        if text.len() > QUERY_BYTES {
            self.note(format!("only the first {QUERY_BYTES} bytes of the query are read"));
        }
        &text[..text.floor_char_boundary(QUERY_BYTES)]
    }

    /// Reads one clause and returns what follows it.
    fn clause<'a>(&mut self, rest: &'a str) -> &'a str {
        match rest.strip_prefix('-') {
            Some(body) if !is_plain_dash(body) => self.body(body, true),
            Some(_) | None => self.body(rest, false),
        }
    }

    fn body<'a>(&mut self, rest: &'a str, negated: bool) -> &'a str {
        if let Some(opened) = rest.strip_prefix('"') {
            if let Some((phrase, after)) = opened.split_once('"') {
                self.add(phrase, true, negated);
                return after;
            }
            self.note("a quotation mark has no partner: what follows it is read as words".to_owned());
            let opened = opened.trim_start_matches(|c: char| c.is_whitespace() || c == '-');
            return if negated { self.token(opened, true) } else { opened };
        }
        self.token(rest, negated)
    }

    /// Reads what ends at the next white space: a word, or a field with its value.
    fn token<'a>(&mut self, rest: &'a str, negated: bool) -> &'a str {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        let Some((name, value)) = token.split_once(':') else {
            self.add(token, false, negated);
            return after;
        };
        let Some(field) = Field::of_name(name) else {
            if is_field_like(name, value) {
                self.note(format!("unknown field `{name}`: searched as words; hint: fields are {}", Field::list()));
            }
            self.add(token, false, negated);
            return after;
        };
        if value.is_empty() {
            self.note(format!("`{name}:` has no value: searched as a word"));
            self.add(token, false, negated);
            return after;
        }
        let Some(opened) = rest[name.len() + 1..].strip_prefix('"') else {
            self.filter(field, value, negated);
            return after;
        };
        if let Some((value, after)) = opened.split_once('"') {
            self.filter(field, value, negated);
            return after;
        }
        self.note("a quotation mark has no partner: the value ends at the next space".to_owned());
        self.filter(field, value, negated);
        after
    }

    fn filter(&mut self, field: Field, value: &str, negated: bool) {
        match field.read(value, self.now) {
            Ok(values) => values.into_iter().for_each(|value| set(&mut self.query.filter, value, negated)),
            Err(note) => self.note(note),
        }
    }

    fn add(&mut self, text: &str, phrase: bool, negated: bool) {
        let text = &text[..text.floor_char_boundary(if phrase { PHRASE_BYTES } else { WORD_BYTES })];
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.chars().any(char::is_alphanumeric) {
            return;
        }
        if self.query.clauses.len() == self.most {
            return self.note(format!("only the first {} words and phrases are used", self.most));
        }
        // A single letter after a dash reads as a flag; in quotation marks it stays excluded.
        let phrase = phrase || negated && is_plain_dash(&text);
        self.query.clauses.push(Clause { text, phrase, negated });
    }

    fn note(&mut self, note: String) {
        let notes = &mut self.query.notes;
        if notes.len() < NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    }
}

/// Whether a dash before `body` does not exclude: a lone dash, `--option`, and a one-letter flag of a pasted command.
fn is_plain_dash(body: &str) -> bool {
    let token = body.split(char::is_whitespace).next().unwrap_or_default();
    let mut letters = token.chars();
    match (letters.next(), letters.next()) {
        (None | Some('-'), _) => true,
        (Some(letter), None) => letter.is_alphanumeric(),
        (Some(_), Some(_)) => false,
    }
}

/// Whether `name:value` looks like a filter that was meant, and not like a path in code, an address or a time.
fn is_field_like(name: &str, value: &str) -> bool {
    name.len() > 1
        && name.bytes().all(|byte| byte.is_ascii_lowercase())
        && value.starts_with(|first: char| first.is_alphanumeric())
}

fn set(filter: &mut Filter, value: FieldValue, negated: bool) {
    fn push<T: PartialEq>(list: &mut Vec<T>, entry: T) {
        if !list.contains(&entry) {
            list.push(entry);
        }
    }
    match (value, negated) {
        (FieldValue::Kind(kind), false) => push(&mut filter.kinds, kind),
        (FieldValue::Kind(kind), true) => push(&mut filter.not_kinds, kind),
        (FieldValue::Within(part), false) => push(&mut filter.within, part),
        (FieldValue::Within(part), true) => push(&mut filter.not_within, part),
        (FieldValue::Tool(name), false) => push(&mut filter.tools, name),
        (FieldValue::Tool(name), true) => push(&mut filter.not_tools, name),
        (FieldValue::Path(path), false) => push(&mut filter.paths, path),
        (FieldValue::Path(path), true) => push(&mut filter.not_paths, path),
        (FieldValue::Session(name), false) => push(&mut filter.sessions, name),
        (FieldValue::Session(name), true) => push(&mut filter.not_sessions, name),
        (FieldValue::Exit(code), false) | (FieldValue::NotExit(code), true) => push(&mut filter.exit, code),
        (FieldValue::Exit(code), true) | (FieldValue::NotExit(code), false) => push(&mut filter.not_exit, code),
        // Excluding what is since a moment leaves what is before it.
        (FieldValue::Since(at_ms), false) | (FieldValue::Until(at_ms), true) => {
            filter.since_ms = filter.since_ms.max(Some(at_ms));
        }
        (FieldValue::Until(at_ms), false) | (FieldValue::Since(at_ms), true) => {
            filter.until_ms = Some(filter.until_ms.map_or(at_ms, |known| known.min(at_ms)));
        }
    }
}
