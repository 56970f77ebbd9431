//! Random sessions as the agent loop could write them: turns of steps with parallel calls, images, warnings, passages,
//! commands in the background, failed requests, interruptions, and new epochs between turns.

use super::*;
use crate::claude::ModelTable;
use crate::context::{EpochPlan, new_epoch};
use crate::tools;
use proptest::prelude::*;
use retrace_events::payload::tool::{ToolDenied, ToolOutcomeUnknown};
use retrace_events::payload::turn::{TurnEnded, TurnInterrupted, TurnOutcome};
use std::path::Path;

/// Something that can stand between two steps.
#[derive(Debug, Clone)]
pub(super) enum Noise {
    Warning(String),
    Background(String),
    Passages(Vec<ContextPassage>),
}

/// The result of one call.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    kind: u8,
    text: String,
    images: usize,
}

/// A request and its answer.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// What is put in before the request.
    before: Vec<Noise>,
    /// What is put in after it has failed, before it is made again.
    retry: Option<Vec<Noise>>,
    thinking: bool,
    redacted: bool,
    words: Option<String>,
    calls: Vec<Outcome>,
    /// Whether results come in the opposite order.
    backwards: bool,
}

/// A prompt and what comes of it.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    epoch: Option<NewEpoch>,
    prompt: String,
    images: usize,
    steps: Vec<Step>,
    interrupted: bool,
}

/// Another epoch before a turn.
#[derive(Debug, Clone)]
pub(super) struct NewEpoch {
    model: &'static str,
    effort: Option<&'static str>,
    thinking: Option<&'static str>,
    seed: Vec<ContextPassage>,
    /// Keeps only what begins with this turn's prompt.
    cut: bool,
}

/// The payloads of a session; and after how many of them a request could be made.
pub(super) struct Session {
    pub(super) payloads: Vec<Payload>,
    pub(super) requests: Vec<usize>,
    pub(super) calls: usize,
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,20}", Just("</instructions>\n\"x\"\t".to_owned()), Just(String::new())]
}

fn passages() -> impl Strategy<Value = Vec<ContextPassage>> {
    let passage = prop_oneof![
        ("[a-z/]{1,9}", words()).prop_map(|(path, text)| instructions(&path, &text)),
        words().prop_map(|text| ContextPassage {
            text,
            source: ContextSource::File { path: "src/lib.rs".into(), first_line: 1, last_line: 2 },
            tokens: 1,
            score_milli: 1,
        }),
    ];
    prop::collection::vec(passage, 0..3)
}

fn noise() -> impl Strategy<Value = Vec<Noise>> {
    let one = prop_oneof![
        words().prop_map(Noise::Warning),
        words().prop_map(Noise::Background),
        passages().prop_map(Noise::Passages),
    ];
    prop::collection::vec(one, 0..3)
}

fn outcome() -> impl Strategy<Value = Outcome> {
    (0..4_u8, words(), 0..2_usize).prop_map(|(kind, text, images)| Outcome { kind, text, images })
}

fn step() -> impl Strategy<Value = Step> {
    // Sometimes more than the API looks back over.
    let many = prop::collection::vec(outcome(), 18..40);
    let calls = prop_oneof![8 => prop::collection::vec(outcome(), 0..5), 1 => many];
    let retry = prop::option::weighted(0.2, noise());
    let answer = (any::<bool>(), any::<bool>(), prop::option::of("[a-z]{1,5}"), any::<bool>());
    (noise(), retry, answer, calls).prop_map(|(before, retry, (thinking, redacted, words, backwards), calls)| Step {
        before,
        retry,
        thinking,
        redacted,
        words,
        calls,
        backwards,
    })
}

fn new_epochs() -> impl Strategy<Value = NewEpoch> {
    let models = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5", "claude-opus-4-6"];
    let efforts = prop::option::of(prop::sample::select(vec!["low", "high", "xhigh", "max", "no such"]));
    let kinds = vec![r#"{"type":"adaptive"}"#, r#"{"type":"disabled"}"#, r#"{"type":"between_tools"}"#];
    let thinking = prop::option::of(prop::sample::select(kinds));
    (prop::sample::select(models.to_vec()), efforts, thinking, passages(), any::<bool>())
        .prop_map(|(model, effort, thinking, seed, cut)| NewEpoch { model, effort, thinking, seed, cut })
}

/// Sessions; the first turn always has an epoch.
pub(super) fn sessions() -> impl Strategy<Value = Vec<Turn>> {
    let turn = (
        prop::option::weighted(0.4, new_epochs()),
        "\\PC{0,20}",
        0..3_usize,
        prop::collection::vec(step(), 1..4),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(epoch, prompt, images, steps, interrupted)| {
            // The agent takes no prompt that is blank.
            Turn { epoch, prompt: format!("please {prompt}"), images, steps, interrupted }
        });
    (prop::collection::vec(turn, 1..5), new_epochs()).prop_map(|(mut turns, first)| {
        turns[0].epoch.get_or_insert(first);
        turns
    })
}

impl Session {
    pub(super) fn of(turns: &[Turn]) -> Self {
        let mut session = Self { payloads: Vec::new(), requests: Vec::new(), calls: 0 };
        turns.iter().for_each(|turn| session.turn(turn));
        session
    }

    fn push(&mut self, payload: impl Into<Payload>) {
        self.payloads.push(payload.into());
    }

    fn turn(&mut self, turn: &Turn) {
        let from = self.payloads.len();
        (0..turn.images).for_each(|_| self.push(image(None)));
        self.push(prompt(&turn.prompt));
        if let Some(epoch) = &turn.epoch {
            self.epoch(epoch, if epoch.cut { from as u64 } else { 0 });
        }
        for (place, step) in turn.steps.iter().enumerate() {
            let is_last = place + 1 == turn.steps.len();
            self.step(step, is_last);
        }
        if turn.interrupted {
            self.push(TurnInterrupted { by: "signal".into(), during: "x".into() });
        } else {
            self.push(TurnEnded { outcome: TurnOutcome::Completed, note: String::new() });
        }
    }

    fn epoch(&mut self, epoch: &NewEpoch, from_seq: u64) {
        let settings = Settings {
            effort: epoch.effort.map(str::to_owned),
            thinking: epoch.thinking.map(str::to_owned),
            ..settings(epoch.model)
        };
        let plan = EpochPlan {
            number: 1,
            settings: &settings,
            row: &ModelTable::builtin().unwrap().row(epoch.model),
            tools_json: tools::tools_json(&tools::all()),
            workspace: Path::new("/w"),
            backend: "process",
            network: &[],
            seed: epoch.seed.clone(),
            from_seq,
            why: String::new(),
        };
        self.push(new_epoch(plan).unwrap().0);
    }

    fn step(&mut self, step: &Step, is_last: bool) {
        self.noise(&step.before);
        self.requests.push(self.payloads.len());
        if let Some(noise) = &step.retry {
            self.noise(noise);
            self.requests.push(self.payloads.len());
        }
        let first = self.calls;
        // An answer without calls ends its turn.
        let outcomes: &[Outcome] = if is_last { &[] } else { &step.calls };
        self.calls += outcomes.len();
        self.push(answer(&content(step, first, outcomes.len())));
        let mut order: Vec<usize> = (0..outcomes.len()).collect();
        if step.backwards {
            order.reverse();
        }
        for place in order {
            self.result(&format!("call_{}", first + place), &outcomes[place]);
        }
        if outcomes.is_empty() && !is_last {
            self.push(prompt("go on"));
        }
    }

    fn result(&mut self, call: &str, outcome: &Outcome) {
        let Outcome { kind, text, images } = outcome;
        (0..*images).for_each(|_| self.push(image(Some(call))));
        let (id, content) = (CallId(call.to_owned()), text.clone());
        match kind {
            0 => self.push(ToolDenied { call: id, by: "rule".into(), content }),
            1 => self.push(ToolOutcomeUnknown { call: id, content }),
            kind => self.push(result(call, text, *kind == 2)),
        }
    }

    fn noise(&mut self, noise: &[Noise]) {
        for one in noise {
            match one {
                Noise::Warning(note) => self.push(warned(note)),
                Noise::Background(command) => {
                    self.calls += 1;
                    let call = format!("call_{}", self.calls);
                    self.payloads.extend(background(&call, command, "exit code 0"));
                }
                Noise::Passages(passages) => self.push(retrieved(passages.clone())),
            }
        }
    }
}

fn content(step: &Step, first: usize, calls: usize) -> String {
    let mut blocks = Vec::new();
    if step.thinking {
        blocks.push(r#"{"type":"thinking","thinking":"","signature":"c2ln"}"#.to_owned());
    }
    if step.redacted {
        blocks.push(r#"{"type":"redacted_thinking","data":"eA=="}"#.to_owned());
    }
    if let Some(words) = &step.words {
        blocks.push(format!(r#"{{ "type":"text","text":"{words}"}}"#));
    }
    for call in first..first + calls {
        blocks.push(format!(r#"{{"type":"tool_use","id":"call_{call}","name":"bash","input":{{ "n": 1.0e2 }}}}"#));
    }
    format!("[{}]", blocks.join(", "))
}
