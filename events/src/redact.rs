//! Takes secrets out of text: the ones this process knows, and what looks like one of the usual kinds.
//!
//! Invariants: time is linear in the text (no backtracking); redacting twice changes nothing more; what is replaced
//! becomes `[redacted:<kind>]`. It is conservative where names are all it has to go by (`password = …`): source code,
//! hashes and UUIDs stay as they are. So it is a net, not a proof: keys are kept out of logs by not being handed
//! around in the first place.

mod patterns;
#[cfg(test)]
mod tests;

use patterns::{ALTERNATIVES, Alternative};
use regex::{Captures, Regex, RegexBuilder};
use std::borrow::Cow;
use std::ops::Range;

/// The shortest known value that is replaced; shorter ones would be found in ordinary words.
const MIN_KNOWN_BYTES: usize = 8;

/// What is already redacted, and stays.
const MARKER: &str = r"(?P<marker>\[redacted:[a-z_]+\])";

/// The most memory the compiled patterns may take.
const SIZE_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Replaces secrets in text.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// One alternation over everything; `None` when it could not be built, and then nothing gets through.
    pattern: Option<Regex>,
    /// The groups of `pattern` that hold what is replaced.
    groups: Vec<Group>,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    index: usize,
    kind: &'static str,
    is_secret: fn(&str, &str) -> bool,
}

impl Redactor {
    /// Knows the values in `known_secrets` (those of at least 8 bytes) beside the usual patterns.
    #[must_use]
    pub fn new(mut known_secrets: Vec<String>) -> Self {
        // A known value inside raw JSON looks different when it holds quotes or line ends.
        let escaped: Vec<String> = known_secrets.iter().filter_map(|secret| json_escaped(secret)).collect();
        known_secrets.extend(escaped);
        known_secrets.retain(|secret| secret.len() >= MIN_KNOWN_BYTES && !secret.contains("[redacted:"));
        // Where one value begins another, the longer one has to be tried first.
        known_secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let known: Vec<String> = known_secrets.iter().map(|secret| regex::escape(secret)).collect();
        let mut alternatives = vec![MARKER.to_owned()];
        if !known.is_empty() {
            alternatives.push(format!("(?P<known>{})", known.join("|")));
        }
        alternatives.extend(ALTERNATIVES.iter().map(|alternative| alternative.pattern.to_owned()));
        let pattern = RegexBuilder::new(&alternatives.join("|")).size_limit(SIZE_LIMIT_BYTES).build();
        let pattern = pattern.inspect_err(|e| tracing::error!(%e, "cannot build the redaction patterns")).ok();
        let groups = pattern.as_ref().map(groups_of).unwrap_or_default();
        Self { pattern, groups }
    }

    /// `text` without secrets.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(pattern) = &self.pattern else { return Cow::Borrowed("[redacted:unchecked]") };
        let mut cleaned = String::new();
        // After each replacement the rest is looked at as a text of its own, just as a second run would see it behind
        // the `]`: that makes one run enough.
        let (mut rest, mut from) = (text, 0);
        while let Some(found) = pattern.captures_at(rest, from) {
            match self.secret_in(&found, rest) {
                Ok((kind, span)) => {
                    cleaned.push_str(&rest[..span.start]);
                    cleaned.push_str("[redacted:");
                    cleaned.push_str(kind);
                    cleaned.push(']');
                    (rest, from) = (&rest[span.end..], 0);
                }
                Err(resume_at) => from = resume_at,
            }
        }
        if rest.len() == text.len() {
            return Cow::Borrowed(text);
        }
        cleaned.push_str(rest);
        Cow::Owned(cleaned)
    }

    /// What of a match is to be replaced; otherwise where to go on.
    fn secret_in(&self, found: &Captures<'_>, text: &str) -> Result<(&'static str, Range<usize>), usize> {
        let whole = found.get(0).map_or(0..text.len(), |whole| whole.range());
        let group = self.groups.iter().find_map(|group| Some((group, found.get(group.index)?)));
        let Some((group, value)) = group else { return Err(whole.end) };
        if (group.is_secret)(value.as_str(), &text[value.end()..]) {
            return Ok((group.kind, value.range()));
        }
        // The value itself may hold something else. It starts behind the name it is given to, or it is the match.
        let next = if value.start() > whole.start { value.start() } else { value.end() };
        Err(next)
    }
}

fn groups_of(pattern: &Regex) -> Vec<Group> {
    let index_of = |name: &str| pattern.capture_names().position(|group| group == Some(name));
    let known = index_of("known").map(|index| Group { index, kind: "known", is_secret: |_, _| true });
    let usual = ALTERNATIVES.iter().filter_map(|Alternative { kind, group, is_secret, .. }| {
        Some(Group { index: index_of(group)?, kind, is_secret: *is_secret })
    });
    known.into_iter().chain(usual).collect()
}

/// How `secret` looks inside a JSON string, when that is different.
fn json_escaped(secret: &str) -> Option<String> {
    let quoted = serde_json::to_string(secret).ok()?;
    let inner = quoted.get(1..quoted.len() - 1)?;
    (inner != secret).then(|| inner.to_owned())
}
