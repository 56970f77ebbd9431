//! Reads folder after folder until the room is used up or the sandbox is gone.

use super::excerpt::{Excerpt, excerpt};
use super::source::{Found, Gone, Source};
use super::{Instructions, NAMES};
use retrace_events::payload::context::{ContextPassage, ContextSource};
use retrace_events::redact::Redactor;

/// About how many bytes of text make a token; low, so that estimates are high.
const BYTES_PER_TOKEN: usize = 3;

/// What was found so far.
pub(super) struct Gathering<'a> {
    redactor: &'a Redactor,
    room_bytes: usize,
    found: Instructions,
    gone: bool,
}

impl<'a> Gathering<'a> {
    /// Nothing so far, and room for `room_bytes`.
    pub(super) fn new(redactor: &'a Redactor, room_bytes: usize) -> Self {
        Self { redactor, room_bytes, found: Instructions::default(), gone: false }
    }

    /// All that was found.
    pub(super) fn done(self) -> Instructions {
        self.found
    }

    /// Takes the files of a folder. With `leave_trace` one that cannot be used leaves a passage that says so.
    pub(super) async fn folder(&mut self, source: &Source<'_>, leave_trace: bool) {
        let mut taken: Vec<Found> = Vec::new();
        for name in NAMES {
            if self.gone {
                return;
            }
            let path = source.path_of(name);
            match source.read(name).await {
                Ok(Found::Nothing) => {}
                Ok(Found::Unusable(why)) => self.refuse(path, shown(&why), leave_trace),
                Ok(Found::File { bytes, total_bytes }) => {
                    // One is often a link to the other, or does nothing but name it.
                    let twin = Found::File { bytes: bytes.clone(), total_bytes };
                    if taken.contains(&twin) || (!taken.is_empty() && only_names_another(&bytes)) {
                        continue;
                    }
                    self.take(path, &bytes, total_bytes, leave_trace);
                    taken.push(twin);
                }
                Err(Gone(why)) => {
                    self.gone = true;
                    self.found.notices.push(format!("the instruction files cannot be read: {why}"));
                }
            }
        }
    }

    fn take(&mut self, path: String, bytes: &[u8], total_bytes: u64, leave_trace: bool) {
        match excerpt(&shown(&path), bytes, total_bytes, self.room_bytes, self.redactor) {
            Ok(Excerpt { text, notices }) => {
                self.found.notices.extend(notices);
                if !text.trim().is_empty() {
                    self.room_bytes = self.room_bytes.saturating_sub(text.len());
                    self.push(path, text);
                }
            }
            Err(why) => self.refuse(path, why, leave_trace),
        }
    }

    fn refuse(&mut self, path: String, why: String, leave_trace: bool) {
        if leave_trace {
            self.push(path, format!("[not shown: {why}]"));
        }
        self.found.notices.push(format!("{why}; it is not used"));
    }

    fn push(&mut self, path: String, text: String) {
        let tokens = u32::try_from(text.len().div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX);
        self.found.passages.push(ContextPassage {
            text,
            source: ContextSource::Instructions(path),
            tokens,
            score_milli: 1_000,
        });
    }
}

/// Whether a file says nothing but the name of another that is looked for.
fn only_names_another(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii();
    NAMES.iter().any(|name| text == format!("@{name}").as_bytes() || text == format!("@./{name}").as_bytes())
}

/// One line for people, whatever the name is.
fn shown(line: &str) -> String {
    line.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
