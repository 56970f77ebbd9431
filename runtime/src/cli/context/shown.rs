//! The parts of a request as people read them.

use crate::cli::render::{Style, clean, units};
use crate::context::ContextPart;
use retrace_events::SessionState;
use retrace_events::redact::Redactor;
use std::fmt::Write as _;

/// How much of a part's words is shown, in characters.
const WORDS_CHARS: usize = 60;
/// How much of where it is from, in characters.
const SOURCE_CHARS: usize = 44;

/// How parts are shown.
pub(super) struct Shown<'a> {
    pub(super) style: Style,
    pub(super) redactor: &'a Redactor,
}

impl Shown<'_> {
    /// All parts of a request.
    pub(super) fn parts(&self, seq: u64, state: &SessionState, parts: &[ContextPart]) -> String {
        let epoch = state.epoch.as_ref().map(|epoch| &epoch.start);
        let number = epoch.map_or(0, |start| start.number);
        let total: u64 = parts.iter().map(|part| part.tokens).sum();
        let mut text = self.style.bold(&format!(
            "request at event {seq}: epoch {number}, {}, about {} tokens\n",
            units::of(parts.len() as u64, "part"),
            units::count(total)
        ));
        if let Some(start) = epoch.filter(|start| start.number > 1) {
            let _ =
                writeln!(text, "{}", self.style.dim(&clean::short(&format!("the epoch began: {}", start.why), 160)));
        }
        text.push_str(&self.head());
        parts.iter().for_each(|part| text.push_str(&self.part(part, "")));
        for place in ["tools", "system", "seed", "kept", "tail"] {
            let tokens: u64 = parts.iter().filter(|part| part.place == place).map(|part| part.tokens).sum();
            if tokens > 0 {
                let percent = tokens * 100 / total.max(1);
                let _ = writeln!(text, "{place:<6} {:>8} tokens  {percent:>3}%", units::count(tokens));
            }
        }
        text
    }

    /// What is gone and what is new between two requests.
    pub(super) fn difference(
        &self,
        (earlier, later): (u64, u64),
        gone: &[&ContextPart],
        new: &[&ContextPart],
        before: usize,
    ) -> String {
        let kept = before - gone.len();
        let tokens = |parts: &[&ContextPart]| units::count(parts.iter().map(|part| part.tokens).sum());
        let mut text = self.style.bold(&format!(
            "from event {earlier} to event {later}: {} stay, {} gone ({} tokens), {} new ({} tokens)\n",
            units::of(kept as u64, "part"),
            gone.len(),
            tokens(gone),
            new.len(),
            tokens(new)
        ));
        text.push_str(&self.head());
        gone.iter().for_each(|part| text.push_str(&self.style.red(&self.part(part, "- "))));
        new.iter().for_each(|part| text.push_str(&self.style.green(&self.part(part, "+ "))));
        text
    }

    fn head(&self) -> String {
        self.style.dim(&format!(
            "{:>8} {:>6}  {:<6} {:<13} {:<SOURCE_CHARS$} words\n",
            "tokens", "score", "place", "what", "from"
        ))
    }

    fn part(&self, part: &ContextPart, mark: &str) -> String {
        let clean = |text: &str, chars: usize| clean::short(&self.redactor.redact(text), chars);
        let score = if part.score_milli > 0 {
            format!("{}.{:02}", part.score_milli / 1_000, part.score_milli % 1_000 / 10)
        } else {
            String::new()
        };
        let words = part.text.split_whitespace().take(40).collect::<Vec<_>>().join(" ");
        let line = format!(
            "{mark}{:>8} {score:>6}  {:<6} {:<13} {:<SOURCE_CHARS$} {}",
            units::count(part.tokens),
            part.place,
            part.what,
            clean(&part.source, SOURCE_CHARS),
            clean(&words, WORDS_CHARS)
        );
        format!("{}\n", line.trim_end())
    }
}
