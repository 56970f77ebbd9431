//! Searching file contents, with ripgrep's libraries.

use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::overrides::{Override, OverrideBuilder};

use super::root::Root;
use super::walk::{ANSWER_BYTES, Batch, Watch, walk};
use crate::mailbox::Mailbox;
use crate::message::{Failure, FailureKind, Match, Response, SearchDone, SearchSpec, Truncation};
use crate::raw_path::RawPath;
use crate::server::Guest;

/// Longer lines are cut.
const MAX_LINE_BYTES: usize = 500;
/// The most lines of context on each side.
const MAX_CONTEXT_LINES: u32 = 20;
/// The most memory for a compiled pattern, and for its lazily built automaton.
const MAX_PATTERN_BYTES: usize = 10 * 1024 * 1024;
/// The most memory for one line; a file with a longer one counts as unreadable.
const MAX_LINE_BUFFER_BYTES: usize = 16 * 1024 * 1024;

/// Searches a file, or everything below a folder.
pub(crate) fn search(guest: &Guest, id: u64, spec: &SearchSpec, mailbox: &Mailbox) -> Result<Response, Failure> {
    let matcher = matcher(spec)?;
    let mut searcher = searcher(spec);
    let watch = Watch::new(mailbox, Duration::from_millis(spec.timeout_ms));
    let mut batch = Batch::new(guest, id, |matches| Response::Matches { matches });
    let mut done = SearchDone::default();
    for found in walk(&guest.root, &spec.path, spec.respect_gitignore, None, globs(&guest.root, spec)?)? {
        if watch.is_over()? {
            done.truncated = Some(Truncation::Time);
            break;
        }
        let Ok(found) = found else {
            done.unreadable += 1;
            continue;
        };
        if !found.file_type().is_some_and(|file_type| file_type.is_file()) {
            continue;
        }
        let Ok(path) = found.path().strip_prefix(guest.root.path()) else { continue };
        let Ok((file, _)) = guest.root.open_file(path) else {
            done.unreadable += 1;
            continue;
        };
        let mut hits = Hits::new(spec, path, spec.max_matches.saturating_sub(done.matches));
        let result = searcher.search_reader(&matcher, Watched { file, watch: &watch }, &mut hits);
        done.files_searched += 1;
        if hits.is_binary {
            done.binary_skipped += 1;
            continue;
        }
        if result.is_err() && !watch.is_over()? {
            done.unreadable += 1;
        }
        done.matches += hits.matches;
        let stopped = hits.stopped;
        done.truncated = deliver(&mut batch, hits)?.or(stopped);
        if done.truncated.is_some() {
            break;
        }
    }
    batch.flush()?;
    Ok(Response::SearchDone(done))
}

fn deliver(batch: &mut Batch<'_, Match>, hits: Hits<'_>) -> Result<Option<Truncation>, Failure> {
    let mut full = None;
    for line in hits.lines {
        let text_bytes = line.line.len() + line.path.as_path().as_os_str().as_bytes().len();
        full = batch.push(line, text_bytes)?;
        if full.is_some() {
            break;
        }
    }
    Ok(full)
}

fn matcher(spec: &SearchSpec) -> Result<RegexMatcher, Failure> {
    RegexMatcherBuilder::new()
        .case_insensitive(spec.case_insensitive)
        .line_terminator(Some(b'\n'))
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .build(&spec.pattern)
        .map_err(|error| Failure::new(FailureKind::BadRequest, format!("bad pattern: {error}")))
}

fn searcher(spec: &SearchSpec) -> Searcher {
    let context = if spec.files_with_matches { 0 } else { spec.context_lines.min(MAX_CONTEXT_LINES) as usize };
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .before_context(context)
        .after_context(context)
        .heap_limit(Some(MAX_LINE_BUFFER_BYTES))
        .line_number(true)
        .build()
}

fn globs(root: &Root, spec: &SearchSpec) -> Result<Option<Override>, Failure> {
    if spec.globs.is_empty() {
        return Ok(None);
    }
    let bad = |error: ignore::Error| Failure::new(FailureKind::BadRequest, format!("bad glob: {error}"));
    let mut builder = OverrideBuilder::new(root.path());
    for glob in &spec.globs {
        builder.add(glob).map_err(bad)?;
    }
    builder.build().map(Some).map_err(bad)
}

/// A file that stops being read when the time is over.
struct Watched<'a> {
    file: std::fs::File,
    watch: &'a Watch<'a>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.watch.is_over() {
            Ok(false) => self.file.read(buffer),
            Ok(true) | Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// What one file yields. Held back until the file is known not to be binary.
struct Hits<'a> {
    spec: &'a SearchSpec,
    path: &'a Path,
    room: u32,
    lines: Vec<Match>,
    lines_bytes: usize,
    matches: u32,
    is_binary: bool,
    stopped: Option<Truncation>,
}

impl<'a> Hits<'a> {
    fn new(spec: &'a SearchSpec, path: &'a Path, room: u32) -> Self {
        Self { spec, path, room, lines: Vec::new(), lines_bytes: 0, matches: 0, is_binary: false, stopped: None }
    }

    /// Adds a line; says whether there may be more.
    fn add(&mut self, line_number: u64, bytes: &[u8], is_context: bool) -> bool {
        let line = cut(bytes);
        self.lines_bytes += line.len() + self.path.as_os_str().len();
        self.lines.push(Match { path: RawPath::from(self.path), line_number, line, is_context });
        if self.lines_bytes >= ANSWER_BYTES {
            self.stopped = Some(Truncation::Bytes);
        }
        self.stopped.is_none()
    }
}

impl Sink for Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.matches >= self.room {
            self.stopped = Some(Truncation::Count);
            return Ok(false);
        }
        self.matches += 1;
        if self.spec.files_with_matches {
            self.add(0, b"", false);
            return Ok(false);
        }
        Ok(self.add(found.line_number().unwrap_or_default(), found.bytes(), false))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.add(context.line_number().unwrap_or_default(), context.bytes(), true))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.is_binary = true;
        Ok(false)
    }
}

/// A line for people: without its end, not too long, invalid UTF-8 replaced.
fn cut(line: &[u8]) -> String {
    let line = line.trim_ascii_end();
    match line.get(..MAX_LINE_BYTES) {
        Some(head) if line.len() > MAX_LINE_BYTES => format!("{} [line cut]", String::from_utf8_lossy(head)),
        _ => String::from_utf8_lossy(line).into_owned(),
    }
}
