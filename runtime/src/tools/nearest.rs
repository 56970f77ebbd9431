//! Why an edit's old text was not found: the same text with other white space, the line numbers of `read_file` in it,
//! or the most similar lines. The work is bounded: on a large file only a part is compared for similarity.

use super::output::cut_line;
use super::replace::to_lf;
use std::fmt::Write as _;

/// How many lines are compared for similarity.
const MAX_COMPARED_LINES: usize = 10_000;
/// How much of a line is compared, and shown, in characters.
const MAX_LINE_CHARS: usize = 200;
/// A line shorter than this is similar to too much.
const MIN_ANCHOR_BYTES: usize = 3;
/// How many lines are shown.
const MAX_SHOWN_LINES: usize = 20;
/// How many places are tried for a text with other white space.
const MAX_PLACES: usize = 200;
/// How similar (0 to 1) a line must be to be worth showing.
const CUTOFF: f32 = 0.6;

/// What to tell the model when `old` is not in `text`: a few lines that help it to a better edit.
pub(super) fn explain(text: &str, old: &str) -> String {
    let (text, old) = (to_lf(text), to_lf(old));
    if let Some(bare) = without_line_numbers(&old)
        && text.contains(&bare)
    {
        return "old_string has the line numbers of read_file in it; give the text alone, without number and tab"
            .to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    if let Some(first) = same_but_white_space(&lines, &old) {
        let count = old.trim().lines().count();
        return format!("the same text with other white space is here:\n{}", show(&lines, first, count));
    }
    match most_similar(&lines, &old) {
        Some((first, count)) => format!("the most similar lines are:\n{}", show(&lines, first, count)),
        None => "nothing in the file is similar to it; read the file again before the next edit".to_owned(),
    }
}

/// `text` without the `   12<tab>` that every one of its lines begins with; `None` when one does not.
fn without_line_numbers(text: &str) -> Option<String> {
    let bare = |line: &str| {
        let (number, rest) = line.split_once('\t')?;
        let number = number.trim_start();
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| rest.to_owned())
    };
    let lines: Option<Vec<String>> = text.lines().map(bare).collect();
    lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"))
}

/// The index of the first of the lines that are `old` when runs of white space count as one blank.
fn same_but_white_space(lines: &[&str], old: &str) -> Option<usize> {
    let wanted: Vec<String> = old.trim().lines().map(squeeze).collect();
    let first = wanted.first().filter(|line| !line.is_empty())?;
    let fits = |start: &usize| {
        let window = lines.get(*start..*start + wanted.len());
        window.is_some_and(|window| window.iter().zip(&wanted).all(|(line, wanted)| squeeze(line) == *wanted))
    };
    (0..lines.len()).filter(|start| squeeze(lines[*start]) == *first).take(MAX_PLACES).find(fits)
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The window of lines around the one most similar to the longest line of `old`: its first index and its length.
fn most_similar(lines: &[&str], old: &str) -> Option<(usize, usize)> {
    let old: Vec<&str> = old.lines().collect();
    let (anchor_index, anchor) = old.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let anchor = Some(beginning(anchor)).filter(|anchor| anchor.len() >= MIN_ANCHOR_BYTES)?;
    let compared: Vec<&str> = lines.iter().take(MAX_COMPARED_LINES).map(|line| beginning(line)).collect();
    let best = similar::get_close_matches(anchor, &compared, 1, CUTOFF).into_iter().next()?;
    let found = compared.iter().position(|line| *line == best)?;
    Some((found.saturating_sub(anchor_index), old.len()))
}

fn beginning(line: &str) -> &str {
    let line = line.trim();
    line.char_indices().nth(MAX_LINE_CHARS).map_or(line, |(end, _)| &line[..end])
}

/// `count` numbered lines from the index `first` on, and two around them.
fn show(lines: &[&str], first: usize, count: usize) -> String {
    let start = first.saturating_sub(2);
    let end = (first + count.min(MAX_SHOWN_LINES) + 2).min(lines.len());
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate().take(end).skip(start) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:>6}\t{}", index + 1, cut_line(line, MAX_LINE_CHARS));
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}
