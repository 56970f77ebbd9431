//! What a person is asked, and where the session stands: the block of a call that waits for a word, a question of the
//! model, the line of figures above a prompt.
//!
//! Invariant: what a person decides on is shown whole, or it says how much is missing; control characters are pictures
//! there, so that nothing in a command hides. Every line of foreign text stands behind a bar of ours and cannot pass
//! for one of our own. Nothing here reads an answer.

use super::{Style, clean, diff, other, units};
use retrace_events::SessionState;
use retrace_events::payload::sandbox::SandboxStarted;
use retrace_events::payload::tool::ToolApprovalAsked;
use retrace_events::redact::Redactor;
use serde_json::Value;

/// The most of a preview that is shown, in lines and in characters.
const PREVIEW_LINES: usize = 400;
const PREVIEW_CHARS: usize = 40_000;

/// A summary up to this size is certainly not cut on its way to the screen.
const WHOLE_SUMMARY_BYTES: usize = 500;

/// The most of a question, in characters, and of its options.
const QUESTION_CHARS: usize = 4_000;
const OPTIONS: usize = 20;
const OPTION_CHARS: usize = 300;

/// A call that waits for approval, as a person is asked: a framed block and the answers below it, whole lines. An approval
/// without a rule to store has no answer that reaches further than the call.
#[must_use]
pub(crate) fn approval(asked: &ToolApprovalAsked, style: Style, redactor: &Redactor) -> String {
    format!("{}{}", frame(asked, style, redactor), choices(asked, style, redactor))
}

/// Whether a decision on the call cannot reach further than the call: no rule covers it.
#[must_use]
pub(crate) fn only_once(asked: &ToolApprovalAsked, redactor: &Redactor) -> bool {
    rule(asked, redactor).is_none()
}

fn choices(asked: &ToolApprovalAsked, style: Style, redactor: &Redactor) -> String {
    let key = |key: &str| style.bold(&format!("[{key}]"));
    let further = match rule(asked, redactor) {
        None => String::new(),
        Some(rule) => format!("  {} this session: {rule}  {} always: the same", key("s"), key("a")),
    };
    let (yes, no) = (key("y"), key("n"));
    format!("{} {yes} once{further}  {no} no, or n and words for the model\n", style.yellow("└"))
}

/// The event of a call that waits for approval, whole lines: [`approval`] without the answers.
#[must_use]
pub(super) fn event(asked: &ToolApprovalAsked, style: Style, redactor: &Redactor) -> String {
    let mut text = frame(asked, style, redactor);
    if let Some(rule) = rule(asked, redactor) {
        text.push_str(&format!("{} {} {rule}\n", style.yellow("│"), style.dim("for this session or always:")));
    }
    text
}

fn rule(asked: &ToolApprovalAsked, redactor: &Redactor) -> Option<String> {
    let rule = clean::line(&redactor.redact(&asked.rule));
    (!rule.is_empty()).then_some(rule)
}

fn frame(asked: &ToolApprovalAsked, style: Style, redactor: &Redactor) -> String {
    let bar = style.yellow("│");
    let (tool, summary) = (other::short(redactor, &asked.tool, 40), clean::line(&redactor.redact(&asked.summary)));
    let mut text = format!("{} {}  {summary}\n", style.yellow("┌ allow?"), style.bold(&tool));
    // A preview that says the same as the line above it, which is whole, is left out.
    let preview = redactor.redact(&asked.preview);
    if preview.trim() != asked.summary.trim() || preview.len() > WHOLE_SUMMARY_BYTES {
        for line in preview_lines(&preview, style) {
            text.push_str(&format!("{bar} {line}\n"));
        }
    }
    text.push_str(&format!("{bar} {} {}\n", style.dim("asked because:"), clean::line(&redactor.redact(&asked.why))));
    text
}

/// The lines of a preview, coloured where it is a diff. What is left out is said.
fn preview_lines(preview: &str, style: Style) -> Vec<String> {
    let exact = clean::exact(preview.trim_end_matches('\n'));
    let lines: Vec<&str> = exact.lines().collect();
    let (mut shown, mut chars) = (Vec::new(), 0);
    for line in &lines {
        let long = line.chars().count();
        if shown.len() == PREVIEW_LINES || (chars + long > PREVIEW_CHARS && !shown.is_empty()) {
            break;
        }
        let room = PREVIEW_CHARS.saturating_sub(chars);
        chars += long;
        shown.push(line.chars().take(room).collect::<String>());
        if long > room {
            shown.push(style.red(&format!("… {} more of this line", units::of((long - room) as u64, "character"))));
            break;
        }
    }
    let begun: Vec<&str> = shown.iter().map(String::as_str).collect();
    let mut painted = diff::paint(&begun, "", style, str::to_owned);
    let left = lines.len().saturating_sub(shown.len());
    if left > 0 {
        painted.push(style.red(&format!("… {} more", units::of(left as u64, "line"))));
    }
    painted
}

/// A question of the model, from the raw JSON input of its call (`question`, and perhaps `options`), as whole lines.
#[must_use]
pub(crate) fn question(input_json: &str, style: Style, redactor: &Redactor) -> String {
    let input: Value = serde_json::from_str(input_json).unwrap_or_default();
    let words = input["question"].as_str().unwrap_or("(the model asks something that cannot be read)");
    let words = clean::text(&redactor.redact(words));
    let mut shown: String = words.trim().chars().take(QUESTION_CHARS).collect();
    if shown.len() < words.trim().len() {
        shown.push('…');
    }
    let (first, others) = shown.split_once('\n').unwrap_or((&shown, ""));
    let mut text = format!("{} {}\n", style.yellow("?"), style.bold(first));
    text.extend(others.lines().map(|line| format!("  {line}\n")));
    let options = input["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, option) in options.iter().take(OPTIONS).enumerate() {
        let option = option.as_str().map_or_else(|| option.to_string(), str::to_owned);
        let number = style.bold(&format!("{}.", at + 1));
        text.push_str(&format!("  {number} {}\n", other::short(redactor, &option, OPTION_CHARS)));
    }
    if options.len() > OPTIONS {
        text.push_str(&format!("  … {} more\n", units::of((options.len() - OPTIONS) as u64, "option")));
    }
    let how =
        if options.is_empty() { "answer in your own words" } else { "answer with a number, or in your own words" };
    text.push_str(&format!("  {}\n", style.dim(how)));
    text
}

/// Where the session stands, in one line with its end: model, steps, tokens, cost, what waits, and the sandbox that was
/// asked for. A session without one says so in red.
#[must_use]
pub(crate) fn status_line(state: &SessionState, style: Style) -> String {
    status_line_in(state, None, style)
}

/// As [`status_line`], with the isolation that was proven in `sandbox`.
#[must_use]
pub(crate) fn status_line_in(state: &SessionState, sandbox: Option<&SandboxStarted>, style: Style) -> String {
    let totals = &state.totals;
    let mut parts: Vec<String> = Vec::new();
    if let Some(settings) = &state.settings {
        let effort = settings.effort.as_ref().map(|effort| format!(" ({})", clean::short(effort, 20)));
        parts.push(format!("{}{}", clean::short(&settings.model, 80), effort.unwrap_or_default()));
    }
    parts.push(units::of(u64::from(totals.steps), "step"));
    let input = totals.usage.total_input_tokens();
    let cached = match totals.usage.cache_read_tokens {
        0 => String::new(),
        read => format!(" ({}% of input cached)", u128::from(read) * 100 / u128::from(input.max(read))),
    };
    parts.push(format!("{} tokens{cached}", units::count(totals.tokens())));
    let unknown = match totals.unknown_cost_microusd {
        0 => String::new(),
        cost => format!(" (and up to {} for lost answers)", units::cost(cost)),
    };
    parts.push(format!("{}{unknown}", units::cost(totals.cost_microusd)));
    if !state.queue.is_empty() {
        parts.push(format!("{} queued", units::count(state.queue.len() as u64)));
    }
    if !state.background.is_empty() {
        parts.push(format!("{} in background", units::count(state.background.len() as u64)));
    }
    let wanted = state.settings.as_ref().map(|settings| settings.sandbox.as_str());
    let sandbox = match (sandbox.map_or(wanted, |started| Some(&started.backend)), sandbox) {
        (Some("none"), _) => style.red("NO SANDBOX"),
        (Some(kind), Some(started)) if started.level != kind => {
            style.dim(&format!("sandbox {}, {}", clean::short(kind, 20), clean::short(&started.level, 40)))
        }
        (Some(kind), _) => style.dim(&format!("sandbox {}", clean::short(kind, 20))),
        (None, _) => style.dim("no session"),
    };
    format!("{}{sandbox}\n", style.dim(&format!("{} · ", parts.join(" · "))))
}
