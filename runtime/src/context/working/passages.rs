//! The working set as passages, for the seed of a fresh epoch: the files, the commands, and the windows that the next step
//! most likely needs, one passage for each file. What the epoch keeps word for word is not repeated.

use super::known_file::{KnownFile, Moment};
use super::lists::Command;
use super::outputs::OutputWindow;
use super::ranking::Source;
use super::windows::Place;
use super::words::first;
use super::working_set::WorkingSet;
use retrace_events::payload::context::{ContextPassage, ContextSource};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// About how many bytes make a token.
const BYTES_PER_TOKEN: usize = 4;

/// What stands around a passage in a request, in tokens, and one token for rounding up.
const FRAME_TOKENS: u64 = 40;
const FRAME_BYTES: usize = (FRAME_TOKENS as usize + 1) * BYTES_PER_TOKEN;

/// The shares of the lists, in percent, and the most files that are listed.
const FILES_PERCENT: usize = 8;
const COMMANDS_PERCENT: usize = 12;
const MAX_FILES: usize = 60;

/// How much of a command is shown, in bytes.
const COMMAND_BYTES: usize = 300;

/// With less room than this nothing else is looked for, in bytes.
const CRUMB_BYTES: usize = 100;

/// What stands where lines are left out.
const GAP: &str = "…\n";

/// The chosen lines of a file: from one place among its lines to before another, with the best rank of them.
struct ChosenFile<'a> {
    file: &'a KnownFile,
    cells: Vec<(usize, usize)>,
    score: f64,
}

impl WorkingSet {
    /// What an epoch should begin with beside its conversation, which begins at event `kept_from_seq`: at most `room_tokens`
    /// with 40 for what stands around each passage.
    #[must_use]
    pub fn passages(&self, room_tokens: u64, kept_from_seq: u64) -> Vec<ContextPassage> {
        let room = usize::try_from(room_tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
        let kept = self.before(kept_from_seq);
        let mut left = room;
        let mut passages = Vec::new();
        let lists = [
            ("files", self.touched(room.saturating_mul(FILES_PERCENT) / 100)),
            ("commands", self.ran(room.saturating_mul(COMMANDS_PERCENT) / 100, kept_from_seq)),
        ];
        for (name, text) in lists {
            if !text.is_empty() && text.len() + FRAME_BYTES <= left {
                left -= text.len() + FRAME_BYTES;
                passages.push(passage(text, ContextSource::Notes(name.to_owned()), 0.0));
            }
        }
        let (files, outputs) = self.choose(left, kept);
        passages.extend(outputs_passage(&outputs));
        passages.extend(files.into_iter().map(|(path, chosen)| chosen.passage(path)));
        passages
    }

    /// The files that were touched, those that were changed first, the newest first of either.
    fn touched(&self, bytes: usize) -> String {
        let mut files: Vec<(&str, &KnownFile)> = self.files.iter().filter(|(_, file)| file.touched > 0).collect();
        files.sort_by_key(|(_, file)| (file.writes == 0, std::cmp::Reverse(file.touched)));
        let line = |(path, file): (&str, &KnownFile)| match file.writes {
            0 => format!("{path}: read\n"),
            1 => format!("{path}: changed\n"),
            times => format!("{path}: changed {times} times\n"),
        };
        fitting(files.into_iter().take(MAX_FILES).map(line), bytes).concat()
    }

    /// The commands that were run before `kept_from_seq`, the newest last.
    fn ran(&self, bytes: usize, kept_from_seq: u64) -> String {
        let line = |Command { text, ending, .. }: &Command| {
            let cut = if text.len() > COMMAND_BYTES { " […]" } else { "" };
            let ending = ending.as_ref().map_or_else(String::new, |ending| format!("  [{ending}]"));
            format!("$ {}{cut}{ending}\n", first(text, COMMAND_BYTES))
        };
        let before = self.commands.newest().filter(|command| command.seq < kept_from_seq);
        let mut lines = fitting(before.map(line), bytes);
        lines.reverse();
        lines.concat()
    }

    /// The best windows that fit, of files and of outputs, without those that were seen after `kept`.
    fn choose(&self, mut left: usize, kept: Moment) -> (BTreeMap<&str, ChosenFile<'_>>, Vec<&OutputWindow>) {
        let (mut files, mut outputs) = (BTreeMap::<&str, ChosenFile<'_>>::new(), Vec::new());
        for ranked in self.ranked() {
            if left < CRUMB_BYTES {
                break;
            }
            match ranked.source {
                Source::File { path, file, window } => {
                    let Place::Lines(start, end) = window.place else { continue };
                    if file.lines()[start..end].iter().all(|line| line.seen() > kept) {
                        continue;
                    }
                    let frame = if files.contains_key(path) { 0 } else { FRAME_BYTES };
                    let cost = numbered(file, start, end).len() + GAP.len() + frame;
                    if cost <= left {
                        left -= cost;
                        let chosen =
                            files.entry(path).or_insert(ChosenFile { file, cells: Vec::new(), score: ranked.score });
                        chosen.cells.push((start, end));
                    }
                }
                Source::Output(output) if output.said || output.at > kept => {}
                Source::Output(output) => {
                    let cost = output.text.len() + 1 + GAP.len() + if outputs.is_empty() { FRAME_BYTES } else { 0 };
                    if cost <= left {
                        left -= cost;
                        outputs.push(output);
                    }
                }
            }
        }
        (files, outputs)
    }
}

impl ChosenFile<'_> {
    fn passage(mut self, path: &str) -> ContextPassage {
        self.cells.sort_unstable();
        let mut text = String::new();
        let mut before: Option<u32> = None;
        let number = |place: usize| self.file.lines().get(place).map_or(0, |line| line.number);
        for (start, end) in &self.cells {
            if before.is_some_and(|before| before + 1 != number(*start)) {
                text.push_str(GAP);
            }
            text.push_str(&numbered(self.file, *start, *end));
            before = Some(number(end - 1));
        }
        let first_line = self.cells.first().map_or(0, |(start, _)| number(*start));
        let last_line = before.unwrap_or(first_line);
        passage(text, ContextSource::File { path: path.to_owned(), first_line, last_line }, self.score)
    }
}

/// Lines with their numbers.
fn numbered(file: &KnownFile, start: usize, end: usize) -> String {
    let mut text = String::new();
    for line in &file.lines()[start..end] {
        let (shown, all) = (line.text.shown(), line.text.text());
        let cut = if shown.len() < all.len() { " […]" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}\t{shown}{cut}", line.number);
    }
    text
}

fn outputs_passage(outputs: &[&OutputWindow]) -> Option<ContextPassage> {
    let mut outputs: Vec<&OutputWindow> = outputs.to_vec();
    outputs.sort_by_key(|output| (output.number, output.first));
    let mut text = String::new();
    let mut next = None;
    for output in outputs {
        if next.is_some_and(|next| next != (output.number, output.first)) {
            text.push_str(GAP);
        }
        text.push_str(&output.text);
        text.push('\n');
        next = Some((output.number, output.first + super::windows::GRID as usize));
    }
    (!text.is_empty()).then(|| passage(text, ContextSource::Notes("outputs".to_owned()), 0.0))
}

/// A passage with its rank.
pub(super) fn passage(text: String, source: ContextSource, score: f64) -> ContextPassage {
    // What is too small or too large for the field ends at its ends.
    ContextPassage::new(text, source, (score * 1_000.0) as u32)
}

/// The first of `lines` that fit.
fn fitting(lines: impl Iterator<Item = String>, bytes: usize) -> Vec<String> {
    let mut left = bytes;
    lines
        .map_while(|line| {
            left = left.checked_sub(line.len())?;
            Some(line)
        })
        .collect()
}
