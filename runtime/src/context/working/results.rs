//! Results as outcomes: the lines of files in them, and whether the call did what it should.

use super::happening::{Action, Hit, Outcome, View};
use regex::Regex;
use std::sync::LazyLock;

/// How much of a result is looked through, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// No file has more lines than this.
const MAX_NUMBER: u32 = 50_000_000;

/// A line that was found: `path:number:text`, around it `path-number-text`; in one file without the path.
static HIT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:(/?(?-u:[\w./@+-])+?\.(?-u:\w)+)[:-])?([0-9]{1,9})[:-](.*)$").ok());

/// The beginning of a place in a unified diff.
static HUNK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^@@ -[0-9]+(?:,[0-9]+)? \+([0-9]{1,9})(?:,[0-9]+)? @@").ok());

/// What came of `action` when the model was told `text`. `failed` says whether it did; `None` when nobody says so and the
/// text must show it.
pub(crate) fn outcome<'a>(action: &Action, text: &'a str, failed: Option<bool>, ending: Option<String>) -> Outcome<'a> {
    let searched = super::words::first(text, MAX_BYTES);
    match action {
        Action::Read { whole, .. } if failed != Some(true) => {
            let views = numbered(searched);
            let is_all = *whole && views.first().is_some_and(|view| view.first == 1) && !goes_on(searched);
            Outcome::Shown { whole: is_all, views }
        }
        Action::Edit { .. } if !failed.unwrap_or_else(|| !was_edited(text)) => {
            // The lines of a diff may look as if they had numbers; numbered lines never look like a diff.
            let views = hunks(searched);
            Outcome::Changed { views: if views.is_empty() { numbered(searched) } else { views } }
        }
        Action::Write { .. } if !failed.unwrap_or_else(|| !was_written(text)) => Outcome::Changed { views: Vec::new() },
        Action::Search { .. } if failed != Some(true) => Outcome::Hits(hits(searched)),
        Action::Read { .. } | Action::Edit { .. } | Action::Write { .. } | Action::Search { .. } => Outcome::Failed,
        Action::Run { .. } => Outcome::Printed { ending: ending.or_else(|| written_ending(text)) },
        Action::Plan | Action::Other { .. } => Outcome::Printed { ending: None },
    }
}

/// The numbered lines in a text: `12<tab>text` or `12→text`.
pub(crate) fn numbered(text: &str) -> Vec<View<'_>> {
    let mut views: Vec<View<'_>> = Vec::new();
    for line in text.split('\n') {
        let Some((number, rest)) = numbered_line(line) else { continue };
        match views.last_mut() {
            Some(view) if u64::from(number) == u64::from(view.first) + view.lines.len() as u64 => view.lines.push(rest),
            Some(_) | None => views.push(View { first: number, lines: vec![rest] }),
        }
    }
    views
}

fn numbered_line(line: &str) -> Option<(u32, &str)> {
    let line = line.trim_start_matches([' ', '\t']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let rest = rest.strip_prefix(['\t', '\u{2192}'])?;
    let number = number.parse().ok().filter(|number| (1..=MAX_NUMBER).contains(number))?;
    Some((number, rest.strip_suffix('\r').unwrap_or(rest)))
}

/// The lines of a unified diff as they are after it.
fn hunks(text: &str) -> Vec<View<'_>> {
    let mut views: Vec<View<'_>> = Vec::new();
    let mut inside = false;
    for line in text.split('\n') {
        if let Some(found) = HUNK.as_ref().and_then(|hunk| hunk.captures(line)) {
            let first = found.get(1).and_then(|number| number.as_str().parse().ok());
            inside = first.is_some();
            views.extend(first.map(|first| View { first, lines: Vec::new() }));
            continue;
        }
        let mark = line.as_bytes().first();
        match (inside, mark) {
            (true, Some(b' ' | b'+')) => {
                if let Some(view) = views.last_mut() {
                    view.lines.push(line[1..].trim_end_matches('\r'));
                }
            }
            (true, Some(b'-' | b'\\')) | (false, _) => {}
            // Something was left out of the diff; where it goes on, nobody knows.
            (true, Some(_) | None) => inside = false,
        }
    }
    views.retain(|view| !view.lines.is_empty());
    views
}

/// The lines that a search found, as far as it says where they stand.
fn hits(text: &str) -> Vec<Hit<'_>> {
    let hit = |line| {
        let found = HIT.as_ref()?.captures(line)?;
        let number = found.get(2)?.as_str().parse().ok().filter(|number| (1..=MAX_NUMBER).contains(number))?;
        let path = found.get(1).map_or("", |path| path.as_str());
        Some(Hit { path, number, text: found.get(3)?.as_str().trim_end_matches('\r') })
    };
    text.split('\n').filter_map(hit).collect()
}

/// Whether the last line says that the file has more lines than were shown.
fn goes_on(text: &str) -> bool {
    let end = text.trim_end().rsplit('\n').next().unwrap_or_default();
    end.starts_with("[lines ")
}

/// Whether an agent that does not say so otherwise says that a file was edited.
fn was_edited(text: &str) -> bool {
    let head = super::words::first(text, 300);
    head.starts_with("The file")
        || head.contains("has been updated")
        || super::words::first(head, 100).contains("Applied")
        || head.starts_with("edited ")
}

/// Whether it says that a file was written.
fn was_written(text: &str) -> bool {
    !super::words::first(text, 60).contains("doesn't want") && !super::words::first(text, 20).contains("rror")
}

/// How a command ended, where the first line says it.
fn written_ending(text: &str) -> Option<String> {
    let line = super::words::first(text.split('\n').next().unwrap_or_default(), 80);
    let code = ["Exit code ", "exit code: "].into_iter().find_map(|mark| line.strip_prefix(mark))?;
    let code = code.split(|c: char| c != '-' && !c.is_ascii_digit()).next()?;
    (!code.is_empty()).then(|| format!("exit {code}"))
}
