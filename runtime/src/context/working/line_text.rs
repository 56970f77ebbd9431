//! The text of a line, and what it has of words: counted when it is first asked for, and then shared by all that know it.

use super::words::{Word, first, hash, identifiers, set, words};
use regex::Regex;
use std::sync::{Arc, LazyLock, OnceLock};

/// How much of a line is kept, in bytes.
pub(super) const LINE_BYTES: usize = 2_000;

/// How much of a line is shown and counted, in bytes.
const SHOWN_BYTES: usize = 400;

/// How far a definition may stand from the margin, in spaces.
const MAX_INDENT: usize = 4;

/// The beginning of a definition, in most languages.
static DEFINITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:export |pub |pub\([a-z]+\) |async |static |abstract |unsafe |default )*",
        r"(func(?: \([^)]*\))?|type|class|def|fn|struct|enum|interface|function|const|var|impl|trait|mod)",
        r"\s+([A-Za-z_](?-u:\w)*)",
    ))
    .ok()
});

/// Definitions of these words are told of a file only at its margin; within functions they are everywhere.
const ONLY_AT_MARGIN: [&str; 5] = ["type", "const", "var", "mod", "struct"];

/// The text of a line.
#[derive(Debug)]
pub(super) struct LineText {
    text: Box<str>,
    facts: OnceLock<LineFacts>,
}

/// What a line has.
#[derive(Debug)]
pub(super) struct LineFacts {
    /// Its words.
    pub(super) words: Box<[Word]>,
    /// Its identifiers, each once.
    pub(super) ids: Box<[Word]>,
    /// The name that it defines.
    pub(super) defines: Option<Word>,
}

impl LineText {
    /// The text, as much of it as is kept.
    pub(super) fn new(text: &str) -> Arc<Self> {
        Arc::new(Self { text: kept(text).into(), facts: OnceLock::new() })
    }

    /// What is kept of it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What is shown of it.
    pub(super) fn shown(&self) -> &str {
        shown(&self.text)
    }

    /// What it has.
    pub(super) fn facts(&self) -> &LineFacts {
        self.facts.get_or_init(|| {
            let (text, mut all) = (self.shown(), Vec::new());
            words(text, |word| all.push(word));
            let ids = set(identifiers(text).map(hash));
            LineFacts { words: all.into_boxed_slice(), ids, defines: defines(text) }
        })
    }
}

/// A line's text as it is stored: without what is counted in it.
pub(super) mod one {
    use super::LineText;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub(in super::super) fn serialize<S: Serializer>(line: &Arc<LineText>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(line.text())
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<LineText>, D::Error> {
        String::deserialize(deserializer).map(|text| LineText::new(&text))
    }
}

/// Lines' texts as they are stored.
pub(super) mod several {
    use super::LineText;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub(in super::super) fn serialize<S: Serializer>(
        lines: &[Arc<LineText>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(lines.iter().map(|line| line.text()))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Arc<LineText>>, D::Error> {
        Ok(Vec::<String>::deserialize(deserializer)?.iter().map(|text| LineText::new(text)).collect())
    }
}

/// As much of a line as is shown.
pub(super) fn shown(text: &str) -> &str {
    first(text, SHOWN_BYTES)
}

/// As much of a line as is kept.
pub(super) fn kept(text: &str) -> &str {
    first(text, LINE_BYTES)
}

/// The name that a line defines.
fn defines(line: &str) -> Option<Word> {
    let bare = line.trim_start_matches([' ', '\t']);
    let indent = &line[..line.len() - bare.len()];
    if indent.len() > MAX_INDENT || indent.matches('\t').count() > 1 {
        return None;
    }
    let found = DEFINITION.as_ref()?.captures(bare)?;
    let word = found.get(1)?.as_str();
    let told = indent.is_empty() || !ONLY_AT_MARGIN.contains(&word);
    told.then(|| found.get(2).map(|name| hash(name.as_str()))).flatten()
}
