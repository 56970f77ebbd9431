//! What prompts, answers and the ends of turns are remembered by.

use super::decisions::decisions;
use super::digest_item::{DigestItem, DigestKind};
use super::reading::Reading;
use retrace_events::payload::Turn;
use retrace_events::payload::turn::{TurnAnswered, TurnOutcome, TurnPrompted};
use serde::Deserialize;
use std::borrow::Cow;

/// How Claude Code begins the prompt that stands for what it compacted.
const COMPACTED: &str = "This session is being continued from a previous conversation";

/// How Claude Code begins prompts that nobody wrote: commands of its own, and what they said.
const NOT_WRITTEN: [&str; 3] = ["<local-command-", "<command-name>", "<command-message>"];

/// What an event of a turn is remembered by.
pub(super) fn items(turn: &Turn, reading: &Reading<'_>, first_prompt: bool) -> Vec<DigestItem> {
    match turn {
        Turn::Prompted(prompt) => vec![words(prompt, reading, first_prompt)],
        Turn::Answered(answer) => said(answer, reading),
        Turn::Failed(failed) if failed.retry_in_ms.is_none() => {
            vec![reading.item(DigestKind::Error, &format!("request: {}", failed.message), 1)]
        }
        Turn::Interrupted(by) => {
            vec![reading.item(DigestKind::Decision, &format!("interrupted ({}) during {}", by.by, by.during), 3)]
        }
        Turn::Ended(ended) => match how(ended.outcome) {
            Some(how) => vec![reading.item(DigestKind::Error, &format!("the turn ended: {how}: {}", ended.note), 2)],
            None => Vec::new(),
        },
        Turn::Warned(warned) => {
            vec![reading.item(DigestKind::Error, &format!("warned of going in circles: {}", warned.note), 1)]
        }
        Turn::Failed(_) | Turn::Requested(_) | Turn::Queued(_) => Vec::new(),
    }
}

fn words(prompt: &TurnPrompted, reading: &Reading<'_>, first: bool) -> DigestItem {
    if prompt.text.trim_start().starts_with(COMPACTED) {
        return reading.item(DigestKind::Decision, &prompt.text, 1);
    }
    let names: Vec<&str> = prompt.attachments.iter().map(|attached| attached.name.as_str()).collect();
    let text =
        if names.is_empty() { prompt.text.clone() } else { format!("{} [with {}]", prompt.text, names.join(", ")) };
    let mut item = reading.item(DigestKind::Words, &text, 2);
    // "go on" says less than a sentence, and the first words of a session set its task.
    item.weight = match item.text.chars().count() {
        _ if NOT_WRITTEN.iter().any(|tag| item.text.starts_with(tag)) => 0,
        _ if first => 3,
        0..16 => 1,
        _ => 2,
    };
    item
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
}

fn said(answer: &TurnAnswered, reading: &Reading<'_>) -> Vec<DigestItem> {
    let blocks: Vec<Block<'_>> = serde_json::from_str(&answer.content).unwrap_or_default();
    let last = !blocks.iter().any(|block| block.kind == "tool_use");
    let texts: Vec<&str> =
        blocks.iter().filter(|block| block.kind == "text").filter_map(|block| block.text.as_deref()).collect();
    let text = texts.join("\n");
    let sentences = decisions(&reading.redacted(&text), last, DigestKind::Decision.max_bytes(0));
    let item = |(text, weight)| DigestItem::new(DigestKind::Decision, reading.seq, reading.event, text, weight);
    sentences.into_iter().map(item).collect()
}

/// How a turn ended that did not end well.
const fn how(outcome: TurnOutcome) -> Option<&'static str> {
    match outcome {
        TurnOutcome::Completed => None,
        TurnOutcome::Refused => Some("refused"),
        TurnOutcome::AnswerTooLong => Some("answer too long"),
        TurnOutcome::ContextFull => Some("context full"),
        TurnOutcome::BudgetReached => Some("budget reached"),
        TurnOutcome::RequestFailed => Some("request failed"),
        TurnOutcome::RuntimeFailed => Some("runtime failed"),
        TurnOutcome::Stuck => Some("stuck"),
    }
}
