//! Chooses the step to play: a pure function of the conversation, so that a retry, a resumed session and a fork get the
//! same answer as the first time.
//!
//! The walk starts before the first step and takes one step for each assistant message in the conversation, plus one
//! for the answer that is due. What the user side said between two assistant messages (texts, tool results) is what
//! `when` is matched with. Candidates are the steps that the last one names in `next`, in that order; without `next`, all
//! later steps in file order. The first candidate that fits is taken.

use regex::{Captures, Regex};
use serde_json::Value;

use super::canonical::texts_or_blocks;
use super::script::{Script, Step};

/// Where a walk ended.
#[derive(Debug)]
pub(super) struct Played<'a> {
    /// The step's position in the script.
    pub(super) index: usize,
    /// The step to play.
    pub(super) step: &'a Step,
    /// What its `when` captured.
    pub(super) captures: Captured,
    /// The step of the newest assistant message in the conversation.
    pub(super) previous: Option<&'a Step>,
}

/// No step fits the conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoStep {
    /// The assistant turn, counted from 1, that no step fits.
    pub(super) turn: usize,
    /// What the user side said, shortened.
    pub(super) said: String,
}

/// The groups of `when` that took part in its match, by number and by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Captured(Vec<(String, String)>);

impl Script {
    /// The step for the answer that `request` asks for.
    pub(super) fn walk(&self, request: &Value) -> Result<Played<'_>, NoStep> {
        let mut turn = 1;
        let mut previous: Option<usize> = None;
        let mut said: Vec<String> = Vec::new();
        for message in request.get("messages").and_then(Value::as_array).into_iter().flatten() {
            match message.get("role").and_then(Value::as_str) {
                Some("user") => said.extend(texts_of(message)),
                Some("assistant") => {
                    previous = Some(self.choose(previous, turn, &said)?.0);
                    turn += 1;
                    said.clear();
                }
                Some(_) | None => {}
            }
        }
        let (index, captures) = self.choose(previous, turn, &said)?;
        let previous = previous.map(|previous| &self.steps[previous]);
        Ok(Played { index, step: &self.steps[index], captures, previous })
    }

    fn choose(&self, previous: Option<usize>, turn: usize, said: &[String]) -> Result<(usize, Captured), NoStep> {
        let text = said.join("\n");
        let candidates: Vec<usize> = match previous.map(|index| (index, &self.steps[index].next)) {
            Some((_, next)) if !next.is_empty() => next.clone(),
            Some((index, _)) => (index + 1..self.steps.len()).collect(),
            None => (0..self.steps.len()).collect(),
        };
        for index in candidates {
            match &self.steps[index].when {
                None => return Ok((index, Captured::default())),
                Some(when) => {
                    if let Some(captures) = when.captures(&text) {
                        return Ok((index, Captured::of(when, &captures)));
                    }
                }
            }
        }
        Err(NoStep { turn, said: text.chars().take(200).collect() })
    }
}

impl Captured {
    fn of(when: &Regex, captures: &Captures<'_>) -> Self {
        let text = |group: Option<regex::Match<'_>>| group.map(|group| group.as_str().to_owned());
        let numbered = (1..captures.len()).filter_map(|n| Some((n.to_string(), text(captures.get(n))?)));
        let named = when.capture_names().flatten().filter_map(|n| Some((n.to_owned(), text(captures.name(n))?)));
        Self(numbered.chain(named).collect())
    }

    /// `template` with `$1`, `${1}` and `${name}` replaced by what was captured. A `$` that names no captured group stays
    /// (so that shell commands survive), and `$$` before a group's name stands for one `$`.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some((_, length)) = rest.strip_prefix('$').and_then(|rest| self.group(rest)) {
                out.push_str(&rest[1..=length]);
                rest = &rest[1 + length..];
            } else if let Some((value, length)) = self.group(rest) {
                out.push_str(value);
                rest = &rest[length..];
            } else {
                out.push('$');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        out
    }

    /// The captured text that the reference at the start of `text` names, and the reference's length in bytes.
    fn group(&self, text: &str) -> Option<(&str, usize)> {
        let after = text.strip_prefix('$')?;
        let (name, length) = match after.strip_prefix('{') {
            Some(braced) => braced.find('}').map(|end| (&braced[..end], end + 3))?,
            None => {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                (&after[..digits], digits + 1)
            }
        };
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some((value, length))
    }

    /// [`fill`](Self::fill) for every string in `value`, keys excepted.
    pub(super) fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_json(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), self.fill_json(value))).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

/// The texts of a message: of its text blocks, and of its tool results.
fn texts_of(message: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    collect_texts(&texts_or_blocks(message.get("content")), &mut texts);
    texts
}

fn collect_texts(blocks: &[Value], texts: &mut Vec<String>) {
    for block in blocks {
        if let Some(text) = block.get("text").and_then(Value::as_str) {
            texts.push(text.to_owned());
        }
        if let Some(inner) = block.get("content").and_then(Value::as_array) {
            collect_texts(inner, texts);
        }
    }
}
