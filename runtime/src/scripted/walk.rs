//! Chooses the step to play: a pure function of the conversation, so that a retry, a resumed session and a fork get the
//! same answer as the first time.
//!
//! The walk starts before the first step and takes one step for each assistant message in the conversation, plus one
//! for the answer that is due. What the user side said between two assistant messages (texts, tool results) is what
//! `when` is matched with. Candidates are the steps that the last one names in `next`, in that order; without `next`,
//! all later steps in file order. The first candidate that fits is taken. A summary that stands first says where the
//! messages that it stands for had led.

use serde_json::Value;

use super::canonical::texts_or_blocks;
use super::captured::Captured;
use super::prefix_hash::PrefixHash;
use super::script::Script;
use super::step::Step;
use super::summarized::Summarized;

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

impl Script {
    /// The step for the answer that `request` asks for.
    pub(super) fn walk(&self, request: &Value) -> Result<Played<'_>, NoStep> {
        let summarized = Summarized::first_in(request);
        let known = |index: Option<usize>| index.filter(|index| *index < self.steps.len());
        let mut turn = 1 + summarized.as_ref().map_or(0, |summary| summary.turns);
        let mut previous: Option<usize> = summarized.as_ref().and_then(|summary| known(summary.previous));
        let mut due = summarized.as_ref().and_then(|summary| known(summary.due));
        let mut said: Vec<String> = Vec::new();
        let messages = request.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // A summary alone in its message is no answer of the script's.
        let alone = summarized.is_some() && messages[0]["content"].as_array().is_some_and(|blocks| blocks.len() == 1);
        for message in &messages[usize::from(alone)..] {
            match message.get("role").and_then(Value::as_str) {
                Some("user") => {
                    due = None;
                    said.extend(texts_of(message));
                }
                Some("assistant") => {
                    previous = match due.take() {
                        Some(due) => Some(due),
                        None => Some(self.choose(previous, turn, &said)?.0),
                    };
                    turn += 1;
                    said.clear();
                }
                Some(_) | None => {}
            }
        }
        let (index, captures) = match due {
            Some(due) => (due, Captured::default()),
            None => self.choose(previous, turn, &said)?,
        };
        let previous = previous.map(|previous| &self.steps[previous]);
        Ok(Played { index, step: &self.steps[index], captures, previous })
    }

    /// What a summary of the whole conversation in `request` stands for; `prefix` is the hash over it.
    pub(super) fn summarized(&self, request: &Value, prefix: &PrefixHash, preserved: bool) -> Summarized {
        let messages = request.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let before = Summarized::first_in(request);
        let ended_with_user = messages.last().is_some_and(|last| last["role"] != "assistant");
        let answers = messages.iter().filter(|message| message["role"] == "assistant").count();
        let played = self.walk(request).ok();
        let previous = played.as_ref().and_then(|played| played.previous).and_then(|step| self.place(step));
        Summarized {
            chain: prefix.chain(),
            turns: before.as_ref().map_or(answers, |before| before.turns + answers.saturating_sub(1)),
            previous: previous.or_else(|| before.as_ref().and_then(|before| before.previous)),
            due: played.filter(|_| ended_with_user).map(|played| played.index),
            ended_with_user,
            preserved,
        }
    }

    fn place(&self, step: &Step) -> Option<usize> {
        self.steps.iter().position(|known| std::ptr::eq(known, step))
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
