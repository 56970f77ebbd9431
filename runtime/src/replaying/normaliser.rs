//! What may differ between two runs of one command without their being different: each of them has a name, and takes itself
//! out of a text.
//!
//! A normaliser is applied to both sides, and only when these differ as they are; whoever says that two texts are the same says by
//! which ones. Patterns are linear in the length of the text, whatever it is.

use regex::Regex;
use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

/// A kind of difference that means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Normaliser {
    /// A line that a terminal shows again and again, such as a progress bar: its last state counts.
    Redraws,
    /// Dates, times of day, seconds since 1970, and durations.
    Times,
    /// Where the workspace is, and names of temporary files.
    Paths,
    /// Names drawn at random or derived from a time: UUIDs, ids of commits, cargo's build hashes.
    Ids,
    /// Addresses in memory.
    Addresses,
    /// Network ports.
    Ports,
    /// Process and thread ids.
    Pids,
}

impl Normaliser {
    /// All of them, in the order in which they are applied: what a later one takes out must not be part of an earlier one's.
    pub const ALL: [Self; 7] =
        [Self::Redraws, Self::Paths, Self::Ids, Self::Times, Self::Addresses, Self::Ports, Self::Pids];

    /// Its name, in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redraws => "redraws",
            Self::Times => "times",
            Self::Paths => "paths",
            Self::Ids => "ids",
            Self::Addresses => "addresses",
            Self::Ports => "ports",
            Self::Pids => "pids",
        }
    }

    /// `text` without what it takes out.
    pub(super) fn apply<'t>(self, text: &'t str, places: &Places) -> Cow<'t, str> {
        match self {
            Self::Redraws => without_redraws(text),
            Self::Times => replaced(text, &TIMES),
            Self::Paths => replaced(&places.apply(text), &PATHS).into_owned().into(),
            Self::Ids => without_commits(&replaced(text, &IDS)).into(),
            Self::Addresses => replaced(text, &ADDRESSES),
            Self::Ports => replaced(text, &PORTS),
            Self::Pids => replaced(text, &PIDS),
        }
    }
}

/// `text` without all that `normalisers` take out.
pub(super) fn normalised(text: &str, normalisers: &[Normaliser], places: &Places) -> String {
    let mut text = Cow::Borrowed(text);
    for normaliser in Normaliser::ALL.iter().filter(|normaliser| normalisers.contains(normaliser)) {
        if let Cow::Owned(changed) = normaliser.apply(&text, places) {
            text = Cow::Owned(changed);
        }
    }
    text.into_owned()
}

/// Where the workspace was then, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Places {
    /// The longest first, so that one that lies in another is found.
    folders: Vec<String>,
}

impl Places {
    /// The places at which the same workspace has been.
    #[must_use]
    pub(super) fn new(folders: &[&Path]) -> Self {
        let mut folders: Vec<String> = folders.iter().filter_map(|path| Some(path.to_str()?.to_owned())).collect();
        folders.retain(|folder| folder.len() > 1);
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        folders.dedup();
        Self { folders }
    }

    fn apply(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for folder in &self.folders {
            if let Cow::Owned(changed) = moved(&text, folder, "<workspace>") {
                text = Cow::Owned(changed);
            }
        }
        text.into_owned()
    }
}

/// `text` with the path `from` replaced by `to` wherever it stands as a path of its own, or as the beginning of one.
pub(super) fn moved<'t>(text: &'t str, from: &str, to: &str) -> Cow<'t, str> {
    if from.is_empty() || !text.contains(from) {
        return Cow::Borrowed(text);
    }
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut changed = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(from) {
        let (before, after) = (&text[..at], &text[at + from.len()..]);
        let mut rest = after.chars();
        let ends = match rest.next() {
            // The end of a sentence, or `name.txt`, which is another file.
            Some('.') => rest.next().is_none_or(|c| !of_name(c) && c != '.'),
            Some(c) => !of_name(c),
            None => true,
        };
        if at >= done && ends && begins_path(before) {
            changed.push_str(&text[done..at]);
            changed.push_str(to);
            done = at + from.len();
        }
    }
    changed.push_str(&text[done..]);
    Cow::Owned(changed)
}

/// Whether an absolute path can begin behind this text: not in `/mnt`, `../x` or `$ROOT`, but in `file://`, `-I` and `dir=`.
fn begins_path(before: &str) -> bool {
    const DELIMITERS: &str = "\"'`=:,;()[]{<>|&";
    let token = before.rsplit(|c: char| c.is_whitespace() || DELIMITERS.contains(c)).next().unwrap_or_default();
    token.chars().all(|c| c == '/') || !token.contains(['/', '.', '~', '$', '}'])
}

/// Patterns, and what stands for what they find.
type Replacements = LazyLock<Vec<(Regex, &'static str)>>;

fn replacements(patterns: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    // A test goes through all of them, so none is left out here.
    patterns.iter().filter_map(|(pattern, with)| Some((Regex::new(pattern).ok()?, *with))).collect()
}

fn replaced<'t>(text: &'t str, replacements: &Replacements) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    for (pattern, with) in replacements.iter() {
        if let Cow::Owned(changed) = pattern.replace_all(&text, *with) {
            text = Cow::Owned(changed);
        }
    }
    text
}

pub(super) const TIME_PATTERNS: [(&str, &str); 8] = [
    // 2026-11-22T01:45:03.123+01:00, 2026-11-22 01:45, 2026-11-22
    (
        r"\b(?:19|20)\d{2}-\d{2}-\d{2}(?:[T _]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?)?",
        "<time>",
    ),
    // Sun Nov 22 01:45:03 UTC 2026
    (
        r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,4}(?: \d{2}:\d{2}:\d{2})?(?: [A-Z]{2,5}| [+-]\d{4})?(?: \d{4})?(?: [+-]\d{4})?",
        "<time>",
    ),
    // `ls -l`: Nov 22 01:45, Nov 22  2026
    (r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} +(?:\d{2}:\d{2}(?::\d{2})?|\d{4})\b", "<time>"),
    // 01:45:03.123
    (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b", "<time>"),
    // 2m 03s, 0m0.003s, 1h 2m
    (r"\b(?:\d+h ?)?\d+m ?\d+(?:[.,]\d+)?s\b|\b\d+h ?\d+m\b", "<duration>"),
    // 0.03s, 12 ms, 3.5 seconds
    (
        r"\b\d+(?:[.,]\d+)? ?(?:ns|µs|μs|us|ms|s|secs?|seconds?|mins?|minutes?|hours?|milliseconds?|microseconds?|nanoseconds?)\b",
        "<duration>",
    ),
    // Since 1970, in seconds and in thousandths, millionths, billionths of them; from 2017 to 2033.
    (r"\b1[5-9]\d{8}(?:\.\d+)?\b", "<time>"),
    (r"\b1[5-9]\d{11}(?:\d{3}){0,2}\b", "<time>"),
];
static TIMES: Replacements = LazyLock::new(|| replacements(&TIME_PATTERNS));

/// Temporary files: the first name below a folder for them that looks like drawn at random.
pub(super) const PATH_PATTERNS: [(&str, &str); 1] = [(
    r"(/tmp|/var/tmp|/dev/shm)/(?:\.?tmp[\w.-]*|[\w.-]*\d[\w.-]*|[\w.-]*[a-z][A-Z][\w.-]*|[\w-]+\.[A-Za-z0-9]{6,12}\b)",
    "$1/<temporary>",
)];
static PATHS: Replacements = LazyLock::new(|| replacements(&PATH_PATTERNS));

pub(super) const ID_PATTERNS: [(&str, &str); 5] = [
    (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "<uuid>"),
    // git: `commit 1a2b…`, `[main 1a2b3c4] …`, `HEAD is now at 1a2b3c4`
    (
        r"\b(commit|HEAD is now at|Merge:|Updating) [0-9a-f]{7,40}(?:\.\.\.?[0-9a-f]{7,40}| [0-9a-f]{7,40})?\b",
        "$1 <commit>",
    ),
    (r"(?m)^\[([^\]\s]+(?: \(root-commit\))?) [0-9a-f]{7,40}\]", "[$1 <commit>]"),
    // cargo: target/debug/deps/name-0123456789abcdef
    (r"-[0-9a-f]{16}\b", "-<hash>"),
    // Docker and others: sha256:…
    (r"\bsha256:[0-9a-f]{12,64}\b", "sha256:<hash>"),
];
static IDS: Replacements = LazyLock::new(|| replacements(&ID_PATTERNS));

/// Without the ids at the beginning of lines, as `git log --oneline` has them: letters and digits, or it is a number or a word.
fn without_commits(text: &str) -> String {
    static ONE_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(ONE_LINE_PATTERN).ok());
    let Some(pattern) = ONE_LINE.as_ref() else { return text.to_owned() };
    let shown = |found: &regex::Captures<'_>| {
        let id = &found[2];
        let is_id = id.contains(|c: char| c.is_ascii_digit()) && id.contains(|c: char| c.is_ascii_alphabetic());
        if is_id { format!("{}<commit> ", &found[1]) } else { found[0].to_owned() }
    };
    pattern.replace_all(text, shown).into_owned()
}

pub(super) const ONE_LINE_PATTERN: &str = r"(?m)^([*|/\\ ]*)([0-9a-f]{7,12}) ";

pub(super) const ADDRESS_PATTERNS: [(&str, &str); 1] = [(r"\b0x[0-9a-fA-F]{5,16}\b", "<address>")];
static ADDRESSES: Replacements = LazyLock::new(|| replacements(&ADDRESS_PATTERNS));

pub(super) const PORT_PATTERNS: [(&str, &str); 2] = [
    (r"(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|\[::ffff:127\.0\.0\.1\]):\d{2,5}\b", "$1:<port>"),
    (r"(?i)\b(ports?)([ =:]+)\d{2,5}\b", "$1$2<port>"),
];
static PORTS: Replacements = LazyLock::new(|| replacements(&PORT_PATTERNS));

pub(super) const PID_PATTERNS: [(&str, &str); 6] = [
    // pid 123, PID=123, "pid": 123, process 123, process id 123
    (r#"(?i)\b(p?pid|tid|process(?: id)?|thread id)("?[ =:#]{1,3})\d{1,7}\b"#, "$1$2<pid>"),
    // thread 'name' (123) panicked
    (r"(thread '[^'\n]*') \(\d{1,7}\)", "$1 (<pid>)"),
    // bash: [1] 123, and line 3: 123 Killed
    (r"(?m)^(\[\d+\][+-]?) \d{1,7}\b", "$1 <pid>"),
    (r"(line \d+:) +\d{1,7} (Killed|Terminated|Aborted|Segmentation)", "$1 <pid> $2"),
    (r"/proc/\d{1,7}\b", "/proc/<pid>"),
    // syslog: name[123]:
    (r"\b([a-zA-Z][\w.-]*)\[\d{1,7}\]:", "$1[<pid>]:"),
];
static PIDS: Replacements = LazyLock::new(|| replacements(&PID_PATTERNS));

/// Of adjacent lines that are states of one line on a terminal, the last.
fn without_redraws(text: &str) -> Cow<'_, str> {
    let mut kept: Vec<&str> = Vec::new();
    let mut last: Option<String> = None;
    for line in text.split('\n') {
        let skeleton = skeleton(line);
        if skeleton.is_some() && skeleton == last {
            kept.pop();
        }
        kept.push(line);
        last = skeleton;
    }
    Cow::Owned(kept.join("\n"))
}

/// What stays the same while a line of progress moves; `None` when it is none.
fn skeleton(line: &str) -> Option<String> {
    const BARS: &str = "=#>-.█▓▒░━╸╺⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⣾⣽⣻⢿⡿⣟⣯⣷|/\\";
    static PROGRESS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| replacements(&PROGRESS_PATTERNS));
    if !PROGRESS.iter().any(|(pattern, _)| pattern.is_match(line)) {
        return None;
    }
    Some(line.chars().filter(|c| !c.is_ascii_digit() && !c.is_whitespace() && !BARS.contains(*c)).collect())
}

/// What a line has that shows progress: a percentage, a bar, a spinner, a rate.
pub(super) const PROGRESS_PATTERNS: [(&str, &str); 4] = [
    (r"\d{1,3}(?:\.\d+)? ?%", ""),
    (r"\[[=#>\-. █▓▒░━╸╺]*\] *\d+ */ *\d+", ""),
    (r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⣾⣽⣻⢿⡿⣟⣯⣷]", ""),
    (r"\d ?[kKMG]i?B/s", ""),
];
