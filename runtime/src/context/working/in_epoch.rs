//! What stands in the present epoch, by the session's events; and what it lacks, as passages for its tail.

use super::happening::{Action, Outcome};
use super::missing::{FoundIn, FoundLines, FoundRun, MissingRoom};
use super::outputs::MAX_LINES;
use super::results::numbered;
use super::standing::LinesOf;
use super::working_set::WorkingSet;
use retrace_events::Event;
use retrace_events::payload::context::{ContextEpochStarted, ContextPassage, ContextSource};
use retrace_events::payload::{Context, Payload};
use retrace_events::redact::Redactor;
use std::fmt::Write as _;

/// What stands where lines are left out.
const GAP: &str = "…\n";

impl WorkingSet {
    /// Takes in what an event says of the context itself.
    pub(super) fn hear_of_context(&mut self, event: &Event) {
        let seq = event.envelope.seq;
        match event.payload.known() {
            Some(Payload::Context(Context::EpochStarted(start))) => self.begin_epoch(start, seq),
            Some(Payload::Context(Context::Retrieved(retrieved))) => {
                retrieved.passages.iter().for_each(|passage| self.mark_passage(passage, seq));
            }
            _ => {}
        }
    }

    fn begin_epoch(&mut self, start: &ContextEpochStarted, seq: u64) {
        self.epoch_from = start.from_seq;
        self.standing.keep_from(start.from_seq);
        start.seed.iter().for_each(|passage| self.mark_passage(passage, seq));
    }

    fn mark_passage(&mut self, passage: &ContextPassage, seq: u64) {
        let of = match &passage.source {
            ContextSource::File { path, .. } => LinesOf::file(path),
            ContextSource::Event(_)
            | ContextSource::Summary(_)
            | ContextSource::Instructions(_)
            | ContextSource::Prompt(_)
            | ContextSource::Notes(_) => LinesOf::OUTPUTS,
        };
        let views = numbered(&passage.text);
        for view in &views {
            self.standing.mark(of, view.lines.iter().copied(), seq);
        }
        if views.is_empty() {
            self.standing.mark(of, passage.text.split('\n'), seq);
        }
    }

    /// A result stands in the epoch.
    pub(super) fn mark_result(&mut self, action: &Action, outcome: &Outcome<'_>, text: &str) {
        let seq = self.seq;
        match (action, outcome) {
            (Action::Read { path, .. }, Outcome::Shown { views, .. })
            | (Action::Edit { path, .. } | Action::Write { path, .. }, Outcome::Changed { views }) => {
                for view in views {
                    self.standing.mark(LinesOf::file(&path.known), view.lines.iter().copied(), seq);
                }
            }
            (Action::Search { place, .. }, Outcome::Hits(hits)) => {
                for hit in hits {
                    let path = if hit.path.is_empty() { place.as_deref().unwrap_or_default() } else { hit.path };
                    let known = super::calls::within(self.calls.workspace(), path);
                    self.standing.mark(LinesOf::file(&known), [hit.text], seq);
                }
            }
            (Action::Run { .. } | Action::Other { .. }, _) => {
                self.standing.mark(LinesOf::OUTPUTS, text.split('\n').take(MAX_LINES), seq);
            }
            _ => {}
        }
    }

    /// What the present epoch lacks of what the next step most likely needs, within `room`; nothing while all that happened
    /// stands in it.
    pub(crate) fn lacking(&self, room: MissingRoom, redactor: &Redactor) -> Vec<ContextPassage> {
        if self.epoch_from == 0 {
            return Vec::new();
        }
        let found = self.windows_now().missing(&self.standing, room, self.before(self.epoch_from));
        found.iter().filter_map(|found| self.passage_of(found, redactor)).collect()
    }

    fn passage_of(&self, found: &FoundLines<'_>, redactor: &Redactor) -> Option<ContextPassage> {
        let (mut text, mut next, mut first, mut last) = (String::new(), None, None, 0);
        for FoundRun { first: number, lines } in &found.runs {
            let redacted: Vec<_> = lines.iter().map(|line| redactor.redact(line)).collect();
            let shown: Vec<&str> = redacted.iter().map(AsRef::as_ref).collect();
            // What is redacted stands in the epoch redacted, and would seem to be missing again and again.
            if shown != *lines && self.standing.missing(found.within.lines(), &shown).runs.is_empty() {
                continue;
            }
            if next.is_some() && next != *number {
                text.push_str(GAP);
            }
            for (line, place) in shown.iter().zip(0_u32..) {
                match (found.within, number) {
                    (FoundIn::File { .. }, Some(number)) => {
                        last = number.saturating_add(place);
                        first.get_or_insert(last);
                        // Writing to a String cannot fail.
                        let _ = writeln!(text, "{last}\t{line}");
                    }
                    (FoundIn::File { .. }, None) | (FoundIn::Output { .. }, _) => {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
            }
            next = number.map(|number| number.saturating_add(u32::try_from(lines.len()).unwrap_or(u32::MAX)));
        }
        let source = match (found.within, first) {
            (FoundIn::File { known, .. }, Some(first_line)) => {
                ContextSource::File { path: known.to_owned(), first_line, last_line: last }
            }
            (FoundIn::File { known, .. }, None) => ContextSource::Notes(format!("written to {known}")),
            (FoundIn::Output { event, .. }, _) => ContextSource::Notes(format!("from event {event}")),
        };
        (!text.is_empty()).then(|| super::passages::passage(text, source, found.score))
    }
}
