//! Lines that stand in the user's name or in Claude Code's own: prompts, notes, interruptions, summaries.

use super::blocks::{Content, ImageSource};
use super::converter::{Converter, Turn, Waiting};
use super::outcome::attached;
use super::record::Record;
use super::words::Said;
use retrace_events::payload::context::{ContextCompacted, ContextPassage, ContextRetrieved, ContextSource};
use retrace_events::payload::turn::{PromptSource, TurnInterrupted, TurnPrompted};
use serde_json::Value;

/// Who says what no user said.
const CLAUDE_CODE: &str = "claude-code";
/// About how many bytes of text make a token.
const BYTES_PER_TOKEN: usize = 4;

impl Converter {
    pub(super) fn user(&mut self, name: &str, record: &Record<'_>, at_ms: u64) {
        let Some(message) = record.message() else { return self.left_out.add("user lines without a message") };
        let mut content = Content::of(message.content);
        let outcomes = std::mem::take(&mut content.outcomes);
        let only = outcomes.len() == 1;
        for mut outcome in outcomes {
            // What stands beside a result is about the one result of its line.
            if let Some(raw) = record.tool_use_result.filter(|_| only) {
                outcome.detail(raw);
            }
            self.outcome(name, at_ms, outcome);
        }
        let text = content.text();
        if record.is_compact_summary {
            return self.compacted(name, at_ms, &text);
        }
        let said = match Self::said(&text, record.is_meta) {
            Said::Nothing if !content.images.is_empty() => Said::Prompt(String::new()),
            said => said,
        };
        let said = match said {
            Said::Prompt(words) => Said::Prompt(words + &content.left_out()),
            said => said,
        };
        self.hear(name, at_ms, said, &content.images);
    }

    fn hear(&mut self, name: &str, at_ms: u64, said: Said, images: &[ImageSource]) {
        if said != Said::Nothing {
            self.flush();
        }
        match said {
            Said::Nothing => {}
            Said::Prompt(text) => self.prompt(name, at_ms, text, PromptSource::Local, images),
            Said::Notice(text) => self.prompt(name, at_ms, text, PromptSource::Control, images),
            Said::Command(text) => self.wait(name, at_ms, text, true),
            Said::Note(text) if self.turn == Turn::Open && self.open.is_empty() => self.note(name, at_ms, &text),
            Said::Note(text) => self.wait(name, at_ms, text, false),
            Said::LocalOutput => {
                self.waiting.retain(|waiting| !waiting.is_command);
                self.left_out.add("local commands");
            }
            Said::Interrupted => self.interrupted(name, at_ms),
            Said::Caveat => self.left_out.add("caveats"),
        }
    }

    fn wait(&mut self, name: &str, at_ms: u64, text: String, is_command: bool) {
        self.waiting.push(Waiting { record: name.to_owned(), at_ms, text, is_command });
    }

    fn prompt(&mut self, name: &str, at_ms: u64, mut text: String, source: PromptSource, images: &[ImageSource]) {
        self.end_turn();
        self.settle(name, at_ms, "no result of this call stands in the transcript");
        for waiting in std::mem::take(&mut self.waiting) {
            if waiting.is_command {
                self.left_out.add("local commands");
            } else {
                self.note(&waiting.record, waiting.at_ms, &waiting.text);
            }
        }
        for (place, image) in images.iter().enumerate() {
            match attached(image, &format!("prompt {}", place + 1), None) {
                Ok(payload) => self.say(name, &format!("image {place}"), at_ms, payload),
                Err(why) => text.push_str(&format!("\n[image left out: {why}]")),
            }
        }
        let text = self.redactor.redact(text.trim()).into_owned();
        self.say(name, "prompt", at_ms, TurnPrompted { text, source, attachments: Vec::new() });
        self.turn = Turn::Open;
    }

    /// An answer comes: if no turn is open, what waited last has asked for it.
    pub(super) fn begin_turn(&mut self, name: &str, at_ms: u64) {
        self.end_turn();
        if self.turn == Turn::Open {
            // What came while calls were open.
            for waiting in std::mem::take(&mut self.waiting) {
                self.note(&waiting.record, waiting.at_ms, &waiting.text);
            }
            return;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        // A command asked; what it was expanded to is for the model to know.
        let asked = waiting.iter().rposition(|waiting| waiting.is_command).or_else(|| waiting.len().checked_sub(1));
        let asked = asked.map(|place| waiting.remove(place));
        let (record, at_ms, text, source) = match asked {
            Some(asked) if asked.is_command => (asked.record, asked.at_ms, asked.text, PromptSource::Local),
            Some(asked) => (asked.record, asked.at_ms, asked.text, PromptSource::Control),
            None => (name.to_owned(), at_ms, String::new(), PromptSource::Control),
        };
        let text = self.redactor.redact(&text).into_owned();
        self.say(&record, "prompt", at_ms, TurnPrompted { text, source, attachments: Vec::new() });
        self.turn = Turn::Open;
        for waiting in waiting {
            self.note(&waiting.record, waiting.at_ms, &waiting.text);
        }
    }

    /// Something for the model to know that is nobody's prompt.
    fn note(&mut self, name: &str, at_ms: u64, text: &str) {
        let text = self.redactor.redact(text).into_owned();
        let tokens = u32::try_from(text.len() / BYTES_PER_TOKEN).unwrap_or(u32::MAX);
        let source = ContextSource::Summary(CLAUDE_CODE.to_owned());
        let passages = vec![ContextPassage { text, source, tokens, score_milli: 0 }];
        let query = "what claude-code told the model".to_owned();
        self.say(name, "note", at_ms, ContextRetrieved { query, passages, index_position: 0 });
    }

    fn interrupted(&mut self, name: &str, at_ms: u64) {
        if self.turn == Turn::None {
            return self.left_out.add("interruptions outside a turn");
        }
        let during = if self.open.is_empty() { "a request" } else { "tool calls" };
        self.settle(name, at_ms, "the user interrupted the turn");
        let interrupted = TurnInterrupted { by: "user".to_owned(), during: during.to_owned() };
        self.say(name, "interruption", at_ms, interrupted);
        self.turn = Turn::None;
    }

    fn compacted(&mut self, name: &str, at_ms: u64, text: &str) {
        self.flush();
        self.end_turn();
        self.settle(name, at_ms, "no result of this call stands in the transcript");
        let summary = self.redactor.redact(text).into_owned();
        let why = self.compacted_by.take().unwrap_or_else(|| "unknown trigger".to_owned());
        self.say(name, "compacted", at_ms, ContextCompacted { summary, by: format!("{CLAUDE_CODE}: {why}") });
    }

    pub(super) fn system(&mut self, name: &str, record: &Record<'_>, at_ms: u64) {
        match record.subtype.as_deref().unwrap_or_default() {
            "turn_duration" => {
                self.flush();
                self.end_turn();
            }
            "stop_hook_summary" => self.flush(),
            "compact_boundary" => {
                self.flush();
                let trigger = value(record.compact_metadata.map(|raw| raw.get()));
                let trigger = trigger.get("trigger").and_then(Value::as_str).unwrap_or("compaction");
                self.compacted_by = Some(trigger.chars().take(40).collect());
                return;
            }
            "api_error" => {
                let retry_ms = record.retry_in_ms.filter(|ms| ms.is_finite() && (0.0..1e12).contains(ms));
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be small")]
                let retry_ms = retry_ms.map_or(0, |ms| ms as u64);
                return self.failed(name, record, "", at_ms, Some(retry_ms));
            }
            _ => {}
        }
        self.left_out.add("system");
    }

    /// A prompt that was typed while a turn was open stands in an attachment.
    pub(super) fn attachment(&mut self, name: &str, record: &Record<'_>, at_ms: u64) {
        let attachment = value(record.attachment.map(|raw| raw.get()));
        let is_queued = attachment.get("type").and_then(Value::as_str) == Some("queued_command");
        let prompt = attachment.get("prompt").and_then(Value::as_str).filter(|_| is_queued);
        match prompt.map(|prompt| Self::said(prompt, false)) {
            Some(said) => self.hear(name, at_ms, said, &[]),
            None => self.left_out.add("attachment"),
        }
    }
}

fn value(raw: Option<&str>) -> Value {
    raw.and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default()
}
