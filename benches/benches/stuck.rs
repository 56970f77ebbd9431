//! The stuck detector on real sessions: how often it would warn and stop, by rule, and each place where it would.
//!
//! `STUCK_SESSIONS=events.jsonl.gz cargo bench -p retrace-benches --bench stuck`, or the file as an argument; without one there is
//! nothing to do. The file has one JSON object a line (`session`, `kind`, `tool`, `path`, `text`), in order of time, and is only
//! read. Calls and results have no ids there: a result belongs to the oldest open call of the same tool and path.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use retrace_events::CallId;
use retrace_events::fold::{CallApproval, CallProgress, OpenCall, StepRecord, keep_step};
use retrace_runtime::agent::stuck::{detect, rule_names};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many of the longest sessions must go on without a stop.
const LONGEST: usize = 20;

#[derive(Deserialize)]
struct Line {
    session: String,
    i: usize,
    kind: String,
    tool: Option<String>,
    path: Option<String>,
    text: String,
}

/// A step with the place of its first line, and whether a prompt stands before it.
struct Step {
    record: StepRecord,
    place: usize,
    begins_turn: bool,
}

/// Makes steps of the lines of one session.
#[derive(Default)]
struct Rebuilt {
    steps: Vec<Step>,
    words: Vec<String>,
    calls: Vec<(OpenCall, Option<String>)>,
    results: Vec<(CallId, String, bool, bool)>,
    place: usize,
    prompted: bool,
}

impl Rebuilt {
    fn take(&mut self, line: Line) {
        match line.kind.as_str() {
            "user" => {
                self.end_step();
                self.prompted = true;
            }
            // An answer begins with what was thought; text and calls begin one when the calls before have their results.
            "thinking" => self.end_step(),
            "assistant" => {
                self.begin(line.i, true);
                self.words.push(line.text);
            }
            "tool_call" => {
                self.begin(line.i, self.calls.len() == self.results.len());
                let id = CallId(format!("toolu_{}", line.i));
                let (tool, input) = (as_ours(line.tool.as_deref()).to_owned(), line.text);
                let (progress, approval) = (CallProgress::Asked, CallApproval::Undecided);
                self.calls.push((OpenCall { id, tool, input, progress, approval }, line.path));
            }
            "tool_result" => self.take_result(&line),
            _ => {}
        }
    }

    fn begin(&mut self, place: usize, may_begin: bool) {
        if may_begin && !self.results.is_empty() {
            self.end_step();
        }
        if self.words.is_empty() && self.calls.is_empty() {
            self.place = place;
        }
    }

    fn take_result(&mut self, line: &Line) {
        let tool = as_ours(line.tool.as_deref());
        let open = self.calls.iter().find(|(call, path)| {
            call.tool == tool && *path == line.path && self.results.iter().all(|(id, ..)| *id != call.id)
        });
        if let Some((call, _)) = open {
            let failed = ["Exit code", "<tool_use_error>", "Error", "The user doesn't want"];
            let is_error = failed.iter().any(|sign| line.text.starts_with(sign));
            let wrote = ["Bash", "Edit", "Write", "Task"].contains(&tool);
            self.results.push((call.id.clone(), line.text.clone(), is_error, wrote));
        }
    }

    fn end_step(&mut self) {
        let (words, results) = (std::mem::take(&mut self.words), std::mem::take(&mut self.results));
        // A call without a result was interrupted.
        let answered = |call: &OpenCall| results.iter().any(|(id, ..)| *id == call.id);
        let calls = std::mem::take(&mut self.calls).into_iter().map(|(call, _)| call);
        let calls: Vec<OpenCall> = calls.filter(answered).collect();
        if words.is_empty() && calls.is_empty() {
            return;
        }
        let blocks: Vec<_> = words.iter().map(|text| serde_json::json!({"type": "text", "text": text})).collect();
        let mut record = StepRecord::answered(&serde_json::to_string(&blocks).unwrap(), &calls);
        for (id, text, is_error, wrote) in &results {
            record.finished(id, text, *is_error, *wrote);
        }
        let begins_turn = std::mem::take(&mut self.prompted);
        self.steps.push(Step { record, place: self.place, begins_turn });
    }
}

/// A look at the background is a wait.
fn as_ours(tool: Option<&str>) -> &str {
    match tool {
        Some("TaskOutput" | "BashOutput") => "read_output",
        Some(tool) => tool,
        None => "",
    }
}

/// What the detector said.
#[derive(Default)]
struct Tally {
    sessions: usize,
    turns: usize,
    steps: usize,
    warned: BTreeMap<&'static str, usize>,
    stopped: BTreeMap<&'static str, usize>,
    places: Vec<String>,
    took: Duration,
}

impl Tally {
    /// Drives a session as the agent does, and goes on after a stop with a new turn.
    fn drive(&mut self, name: &str, steps: &[Step], one_turn: bool) {
        let (mut kept, mut warned) = (VecDeque::new(), Vec::new());
        self.sessions += 1;
        for step in steps {
            if kept.is_empty() || (step.begins_turn && !one_turn) {
                self.turns += 1;
                kept.clear();
                warned.clear();
            }
            self.steps += 1;
            keep_step(&mut kept, step.record.clone());
            let begun = Instant::now();
            let stuck = detect(kept.iter());
            self.took += begun.elapsed();
            let Some(stuck) = stuck else { continue };
            let known = warned.contains(&stuck.rule);
            let place = format!("{} line {}: {}", name.get(..8).unwrap_or(name), step.place, stuck.note);
            if stuck.stop && known {
                *self.stopped.entry(stuck.rule).or_default() += 1;
                self.places.push(format!("stop {place}"));
                kept.clear();
            } else if !known {
                *self.warned.entry(stuck.rule).or_default() += 1;
                self.places.push(format!("warn {place}"));
                warned.push(stuck.rule);
            }
        }
    }

    fn print(&self, title: &str) {
        let each = self.took.as_secs_f64() * 1e6 / self.steps.max(1) as f64;
        println!(
            "\n{title}: {} sessions, {} turns, {} steps, {each:.0} µs a step",
            self.sessions, self.turns, self.steps
        );
        for rule in rule_names() {
            let count = |counts: &BTreeMap<&str, usize>| counts.get(rule).copied().unwrap_or(0);
            println!("  {rule:14} {:4} warnings {:4} stops", count(&self.warned), count(&self.stopped));
        }
        let (warnings, stops) = (self.warned.values().sum::<usize>(), self.stopped.values().sum::<usize>());
        let share = |count: usize| 100.0 * count as f64 / self.turns.max(1) as f64;
        println!("  of 100 turns {:.2} are warned, {:.2} stopped", share(warnings), share(stops));
        for place in &self.places {
            println!("    {place}");
        }
    }
}

/// Every session up to its middle, and from there its last steps again and again: whether that is stopped, and how soon.
fn injected(sessions: &[(&String, &Vec<Step>)]) {
    println!("\nhalf of each session, and then its last steps for ever");
    for period in 1..=6 {
        let (mut tried, mut after) = (0, Vec::new());
        for (_, steps) in sessions {
            let half = &steps[..steps.len() / 2];
            let Some(round) = half.len().checked_sub(period).map(|start| &half[start..]) else { continue };
            tried += 1;
            let (mut kept, mut warned) = (VecDeque::new(), false);
            half.iter().for_each(|step| keep_step(&mut kept, step.record.clone()));
            after.extend(round.iter().cycle().take(60).enumerate().find_map(|(extra, step)| {
                keep_step(&mut kept, step.record.clone());
                let stuck = detect(kept.iter())?;
                let stops = stuck.stop && warned;
                warned = true;
                stops.then_some(extra + 1)
            }));
        }
        let mean = after.iter().sum::<usize>() as f64 / after.len().max(1) as f64;
        let most = after.iter().max().copied().unwrap_or(0);
        let stopped = after.len();
        println!("  the last {period}: {stopped} of {tried} stopped, after {mean:.1} further steps, at most {most}");
    }
}

fn sessions(input: impl Read) -> BTreeMap<String, Vec<Step>> {
    let mut sessions: BTreeMap<String, Rebuilt> = BTreeMap::new();
    for line in BufReader::new(input).lines() {
        let line: Line = serde_json::from_str(&line.unwrap()).unwrap();
        sessions.entry(line.session.clone()).or_default().take(line);
    }
    let ended = sessions.into_iter().map(|(name, mut session)| {
        session.end_step();
        (name, session.steps)
    });
    ended.collect()
}

fn main() {
    let argument = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let Some(path) = argument.or_else(|| std::env::var("STUCK_SESSIONS").ok()) else {
        println!("stuck: skipped: no sessions (STUCK_SESSIONS=events.jsonl.gz)");
        return;
    };
    let mut unpack = Command::new("gzip").args(["-dcf", &path]).stdout(Stdio::piped()).spawn().unwrap();
    let sessions = sessions(unpack.stdout.take().unwrap());
    assert!(unpack.wait().unwrap().success(), "cannot read {path}");
    let mut by_length: Vec<(&String, &Vec<Step>)> = sessions.iter().collect();
    by_length.sort_by_key(|(name, steps)| (std::cmp::Reverse(steps.len()), *name));
    let longest = by_length.get(..LONGEST).unwrap_or(&by_length);
    let measure = |title: &str, sessions: &[(&String, &Vec<Step>)], one_turn: bool| {
        let mut tally = Tally::default();
        sessions.iter().for_each(|(name, steps)| tally.drive(name, steps, one_turn));
        tally.print(title);
    };
    measure("the longest", longest, false);
    measure("all", &by_length, false);
    // Harder than what happens: as if nobody had said a word since the first prompt.
    measure("all, each as one turn", &by_length, true);
    injected(&by_length);
}
