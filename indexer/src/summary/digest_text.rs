//! Nodes in words: a heading, then a list for each kind of item, each with the number of its event.

use super::budget;
use super::digest::Digest;
use super::digest_item::{DigestItem, DigestKind};
use super::digest_plan::DigestPlan;
use super::excerpt;
use super::summary_node::SummaryNode;
use std::fmt::Write as _;

/// The longest text, in characters.
const MAX_CHARS: usize = 1 << 20;

/// The node's text.
pub(super) fn node(node: &SummaryNode, max_chars: usize) -> String {
    // No node has as much to say; this keeps the sums below from overflowing.
    let max_chars = max_chars.min(MAX_CHARS);
    let mut text = heading(node);
    if let Some(words) = &node.words {
        // With words of a model the digest is what they rest on: it gets at least a third.
        let room = max_chars.saturating_sub(text.len()) * 2 / 3;
        let words = if node.digest.is_empty() { words.clone() } else { excerpt::cut(words, room) };
        text.push_str(&words);
        text.push('\n');
    }
    let room = max_chars.saturating_sub(text.chars().count());
    text.push_str(&fitted(&node.digest, room));
    let text = text.trim_end();
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => text[..end].to_owned(),
    }
}

/// Which steps and events it covers, and when they were.
fn heading(node: &SummaryNode) -> String {
    let (first, steps) = node.steps();
    let steps = match (node.open, steps) {
        (true, _) => format!("step {first} (going on)"),
        (false, 1) => format!("step {first}"),
        (false, steps) => format!("steps {first}–{}", first.saturating_add(steps - 1)),
    };
    format!("{steps}, events #{}–#{}, {}\n", node.first_seq, node.last_seq, when(node.first_at_ms, node.last_at_ms))
}

/// A stretch of time in UTC, to the minute.
fn when(first_ms: i64, last_ms: i64) -> String {
    let moment = |ms| match jiff::Timestamp::from_millisecond(ms) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%MZ").to_string(),
        Err(_) => format!("{ms} ms"),
    };
    let (first, last) = (moment(first_ms), moment(last_ms));
    if first == last { first } else { format!("{first} to {last}") }
}

/// The digest's text in at most `max_chars` characters, as far as whole lines can be left out for that.
fn fitted(digest: &Digest, max_chars: usize) -> String {
    let mut budget_bytes = max_chars;
    loop {
        let mut fits = digest.clone();
        fits.items = budget::fit(fits.items, budget_bytes, &mut fits.dropped);
        if budget_bytes < max_chars / 2 {
            fits.plan = None;
        }
        let text = whole(&fits);
        if text.chars().count() <= max_chars || fits.items.is_empty() {
            return text;
        }
        budget_bytes = budget_bytes * 4 / 5;
    }
}

fn whole(digest: &Digest) -> String {
    let mut text = String::new();
    for kind in DigestKind::ALL {
        let mut items = digest.of_kind(kind).peekable();
        if items.peek().is_some() {
            text.push_str(kind.heading());
            text.push('\n');
        }
        items.for_each(|item| one(&mut text, item));
    }
    if let Some(plan) = &digest.plan {
        tasks(&mut text, plan);
    }
    let dropped: Vec<String> =
        digest.dropped.iter().map(|(kind, count)| format!("{} {count}", kind.plural())).collect();
    if !dropped.is_empty() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "left out: {}", dropped.join(", "));
    }
    text
}

fn one(text: &mut String, item: &DigestItem) {
    let mut notes = vec![format!("#{}", item.seq)];
    notes.extend(item.end.clone());
    if item.count > 1 {
        notes.push(format!("×{}", item.count));
        if item.failed > 0 && item.kind == DigestKind::Command {
            notes.push(format!("{} failed", item.failed));
        }
    }
    let _ = writeln!(text, "- {} ({})", item.text, notes.join(", "));
}

fn tasks(text: &mut String, plan: &DigestPlan) {
    if plan.open.is_empty() {
        return;
    }
    let _ = writeln!(text, "open tasks (#{}, {} done)", plan.seq, plan.done);
    for task in &plan.open {
        let _ = writeln!(text, "- [{}] {}", if task.in_progress { "~" } else { " " }, task.text);
    }
    if plan.more > 0 {
        let _ = writeln!(text, "- and {} more", plan.more);
    }
}
