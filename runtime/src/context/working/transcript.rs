//! The newest steps in few words: what was said, run, edited and printed, but no text of files. Bounded: the oldest go first.

use super::excerpt::{Excerpt, cut};
use super::happening::{Action, Happening, Outcome, Replacement, Speaker};
use super::weights as caps;
use super::words::hash_long;
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};

/// The most steps that are kept.
const MAX_STEPS: usize = 1_000;

/// Where an output is cut: more of its end is kept, since what failed stands there; of hits more of the beginning.
const OUTPUT_HEAD: f64 = 0.4;
const HITS_HEAD: f64 = 0.7;
const EVEN_HEAD: f64 = 0.5;

/// With less room than this nothing is begun, in bytes.
const CRUMB_BYTES: usize = 200;

/// What a step is: how much of it is shown depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum StepKind {
    Said,
    Asked,
    Summary,
    /// With the number of the command: each is shown once.
    Command(u64),
    Plan,
    Call,
    Output,
    Hits,
    Failure,
    /// Shown as it is.
    Line,
}

#[derive(Debug, Serialize, Deserialize)]
struct Step {
    number: u64,
    kind: StepKind,
    excerpt: Excerpt,
}

/// The newest steps, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Transcript {
    steps: VecDeque<Step>,
    is_off: bool,
}

impl Transcript {
    /// One that keeps nothing, for those who never show it.
    pub(super) const fn off() -> Self {
        Self { steps: VecDeque::new(), is_off: true }
    }

    /// Takes in what happened as number `number`.
    pub(super) fn add(&mut self, number: u64, happening: &Happening<'_>) {
        let Some((kind, excerpt)) = (if self.is_off { None } else { step(happening) }) else { return };
        self.steps.push_back(Step { number, kind, excerpt });
        if self.steps.len() > MAX_STEPS {
            self.steps.pop_front();
        }
    }

    /// The newest steps within `bytes`, in order.
    pub(super) fn text(&self, bytes: usize) -> String {
        let (mut shown, mut used, mut state) = (Vec::new(), 0, Shown::default());
        for step in self.steps.iter().rev() {
            let Some(text) = state.show(step) else { continue };
            let text = format!("[{}] {text}", step.number);
            if used + text.len() + 1 > bytes {
                let room = bytes.saturating_sub(used + 32);
                if room > CRUMB_BYTES {
                    let cut = cut(&text, room / 4, EVEN_HEAD);
                    shown.extend((cut.len() < bytes - used).then_some(cut));
                }
                break;
            }
            used += text.len() + 1;
            shown.push(text);
        }
        shown.reverse();
        shown.join("\n")
    }
}

/// What was shown so far, from the newest on.
#[derive(Default)]
struct Shown {
    said: usize,
    asked: usize,
    outputs: usize,
    hits: usize,
    planned: bool,
    commands: HashSet<u64>,
}

impl Shown {
    fn show(&mut self, step: &Step) -> Option<String> {
        let mut none = 0;
        let (caps, count, mark, head) = match step.kind {
            StepKind::Line => return Some(step.excerpt.cut(usize::MAX / 8, EVEN_HEAD)),
            StepKind::Said => (caps::SAID_CAPS, &mut self.said, "", OUTPUT_HEAD),
            StepKind::Asked => (caps::ASKED_CAPS, &mut self.asked, "user: ", EVEN_HEAD),
            StepKind::Summary => (caps::SUMMARY_CAPS, &mut none, "", EVEN_HEAD),
            StepKind::Command(command) if !self.commands.insert(command) => return None,
            StepKind::Command(_) => (caps::COMMAND_CAPS, &mut none, "$ ", EVEN_HEAD),
            StepKind::Plan if std::mem::replace(&mut self.planned, true) => return None,
            StepKind::Plan => (caps::PLAN_CAPS, &mut none, "todo: ", EVEN_HEAD),
            StepKind::Call => (caps::CALL_CAPS, &mut none, "", EVEN_HEAD),
            StepKind::Output => (caps::OUTPUT_CAPS, &mut self.outputs, "-> ", OUTPUT_HEAD),
            StepKind::Hits => (caps::HITS_CAPS, &mut self.hits, "-> ", HITS_HEAD),
            StepKind::Failure => (caps::FAILURE_CAPS, &mut none, "-> ", EVEN_HEAD),
        };
        let cap = caps.get(*count).or(caps.last()).copied().unwrap_or(0);
        *count += 1;
        (cap > 0).then(|| format!("{mark}{}", step.excerpt.cut(cap, head)))
    }
}

fn step(happening: &Happening<'_>) -> Option<(StepKind, Excerpt)> {
    let step = |kind, text: &str| Some((kind, Excerpt::of(text)));
    match happening {
        Happening::Said { by: Speaker::Model | Speaker::Thought, text } => step(StepKind::Said, text),
        Happening::Said { by: Speaker::User, text } => step(StepKind::Asked, text),
        Happening::Said { by: Speaker::Summary, text } => step(StepKind::Summary, text),
        Happening::Said { by: Speaker::Program, .. } => None,
        Happening::Called { action, text } => match action {
            Action::Run { command } => step(StepKind::Command(hash_long(command)), command),
            Action::Plan => step(StepKind::Plan, text),
            Action::Read { path, from, .. } => {
                let from = from.map(|from| format!(" {from}")).unwrap_or_default();
                step(StepKind::Line, &format!("read {}{from}", path.known))
            }
            Action::Edit { path, edits } => {
                let shown: String = edits.iter().filter_map(shown_edit).collect();
                step(StepKind::Line, &format!("edit {}{shown}", path.known))
            }
            Action::Write { path, .. } => step(StepKind::Line, &format!("write {}", path.known)),
            Action::Search { what, .. } => step(StepKind::Line, &format!("search {what}")),
            Action::Other { name, .. } => step(StepKind::Call, &format!("{name} {text}")),
        },
        Happening::Came { action, outcome, text } => match (action, outcome) {
            (Action::Read { .. } | Action::Plan, _)
            | (Action::Edit { .. } | Action::Write { .. }, Outcome::Changed { .. }) => None,
            (Action::Edit { .. } | Action::Write { .. }, _) => step(StepKind::Failure, text),
            (Action::Search { .. }, _) => step(StepKind::Hits, text),
            (Action::Run { .. } | Action::Other { .. }, _) => step(StepKind::Output, text),
        },
    }
}

fn shown_edit(edit: &Replacement) -> Option<String> {
    let is_short = (edit.old.len() + edit.new.len()) / 4 <= caps::EDIT_TOKENS;
    is_short.then(|| format!("\n{}\n=>\n{}", edit.old, edit.new))
}
