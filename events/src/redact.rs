//! Takes secrets out of text: the ones this process knows, and what looks like one of the usual kinds.
//!
//! Invariants: time is linear in the text (no backtracking); redacting twice changes nothing more; what is replaced
//! becomes `[redacted:<kind>]`. It is conservative where names are all it has to go by (`password = …`): source code,
//! hashes and UUIDs stay as they are. So it is a net, not a proof: keys are kept out of logs by not being handed
//! around in the first place.

mod patterns;
#[cfg(test)]
mod tests;

use aho_corasick::{AhoCorasick, MatchKind};
use patterns::{ALTERNATIVES, Alternative};
use regex::{Captures, Regex, RegexBuilder};
use std::borrow::Cow;
use std::ops::Range;

/// The shortest known value that is replaced; shorter ones would be found in ordinary words.
const MIN_KNOWN_BYTES: usize = 8;

/// What is already redacted, and stays.
const MARKER: &str = r"\[redacted:[a-z_]+\]";

/// The most memory the compiled patterns may take.
const SIZE_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Replaces secrets in text.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// `None` when something in it could not be built, and then nothing gets through.
    finders: Option<Finders>,
    fingerprint: u16,
}

#[derive(Debug, Clone)]
struct Finders {
    marker: Regex,
    known: AhoCorasick,
    usual: Regex,
    /// The groups of `usual` that hold what is replaced.
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
        let finders = Finders::build(&known_secrets);
        let finders = finders.inspect_err(|why| tracing::error!(%why, "cannot build the redaction patterns"));
        let fingerprint = fingerprint(known_secrets);
        Self { finders: finders.ok(), fingerprint }
    }

    /// Tells two redactors with other known values apart, for whoever keeps redacted text. So few bits that it says nothing of
    /// the values.
    #[must_use]
    pub const fn fingerprint(&self) -> u16 {
        self.fingerprint
    }

    /// `text` without secrets.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(finders) = &self.finders else { return Cow::Borrowed("[redacted:unchecked]") };
        let mut output = Output { text, cleaned: String::new(), copied: 0 };
        let mut from = 0;
        // What stands between two markers is looked at by itself, so that a second run finds the same pieces.
        for marker in finders.marker.find_iter(text) {
            finders.redact_known(from..marker.start(), &mut output);
            from = marker.end();
        }
        finders.redact_known(from..text.len(), &mut output);
        output.finish()
    }
}

fn fingerprint(mut known_secrets: Vec<String>) -> u16 {
    known_secrets.sort_unstable();
    known_secrets.dedup();
    let mut hasher = blake3::Hasher::new_derive_key("retrace 2026 which values a redactor knows");
    for secret in &known_secrets {
        hasher.update(&(secret.len() as u64).to_le_bytes());
        hasher.update(secret.as_bytes());
    }
    let hash = hasher.finalize();
    u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]])
}

impl Finders {
    fn build(known_secrets: &[String]) -> Result<Self, Box<dyn std::error::Error>> {
        // Where one value begins another, the longer one has to go.
        let known = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(known_secrets)?;
        let usual: Vec<&str> = ALTERNATIVES.iter().map(|alternative| alternative.pattern).collect();
        let usual = RegexBuilder::new(&usual.join("|")).size_limit(SIZE_LIMIT_BYTES).build()?;
        let groups = groups_of(&usual);
        Ok(Self { marker: Regex::new(MARKER)?, known, usual, groups })
    }

    /// Replaces known values in a piece of the text, and what looks like a secret between them.
    fn redact_known(&self, piece: Range<usize>, output: &mut Output<'_>) {
        let mut from = piece.start;
        for found in self.known.find_iter(&output.text[piece.clone()]) {
            let span = piece.start + found.start()..piece.start + found.end();
            self.redact_usual(from..span.start, output);
            from = span.end;
            output.replace(span, "known");
        }
        self.redact_usual(from..piece.end, output);
    }

    /// Replaces what looks like a secret in a piece of the text. After each replacement the rest is a piece of its
    /// own, just as a second run would see it behind the marker. So is what stands before it when something there was
    /// let go because of how it went on: cut off, it may be a secret after all.
    fn redact_usual(&self, piece: Range<usize>, output: &mut Output<'_>) {
        let (mut start, mut from, mut let_go) = (piece.start, 0, false);
        while let Some(found) = self.usual.captures_at(&output.text[start..piece.end], from) {
            match self.secret_in(&found, &output.text[start..piece.end]) {
                Ok((kind, span)) => {
                    let span = start + span.start..start + span.end;
                    if let_go {
                        self.redact_usual(start..span.start, output);
                    }
                    (start, from, let_go) = (span.end, 0, false);
                    output.replace(span, kind);
                }
                Err(resume_at) => (from, let_go) = (resume_at, true),
            }
        }
    }

    /// What of a match is to be replaced; otherwise where to go on.
    fn secret_in(&self, found: &Captures<'_>, piece: &str) -> Result<(&'static str, Range<usize>), usize> {
        let whole = found.get(0).map_or(0..piece.len(), |whole| whole.range());
        let group = self.groups.iter().find_map(|group| Some((group, found.get(group.index)?)));
        let Some((group, value)) = group else { return Err(whole.end) };
        if (group.is_secret)(value.as_str(), &piece[value.end()..]) {
            return Ok((group.kind, value.range()));
        }
        // The value itself may hold something else. It starts behind the name it is given to, or it is the match.
        let next = if value.start() > whole.start { value.start() } else { value.end() };
        Err(next)
    }
}

/// The text as far as it was looked at.
struct Output<'a> {
    text: &'a str,
    cleaned: String,
    /// Up to here the text is in `cleaned`.
    copied: usize,
}

impl<'a> Output<'a> {
    fn replace(&mut self, span: Range<usize>, kind: &str) {
        self.cleaned.push_str(&self.text[self.copied..span.start]);
        self.cleaned.push_str("[redacted:");
        self.cleaned.push_str(kind);
        self.cleaned.push(']');
        self.copied = span.end;
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.copied == 0 {
            return Cow::Borrowed(self.text);
        }
        self.cleaned.push_str(&self.text[self.copied..]);
        Cow::Owned(self.cleaned)
    }
}

fn groups_of(pattern: &Regex) -> Vec<Group> {
    let index_of = |name: &str| pattern.capture_names().position(|group| group == Some(name));
    let group = |alternative: &Alternative| {
        Some(Group { index: index_of(alternative.group)?, kind: alternative.kind, is_secret: alternative.is_secret })
    };
    ALTERNATIVES.iter().filter_map(group).collect()
}

/// How `secret` looks inside a JSON string, when that is different.
fn json_escaped(secret: &str) -> Option<String> {
    let quoted = serde_json::to_string(secret).ok()?;
    let inner = quoted.get(1..quoted.len() - 1)?;
    (inner != secret).then(|| inner.to_owned())
}
