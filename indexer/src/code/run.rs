//! One update of the code index: a walk, readers on all cores, and one writer.
//!
//! ```text
//! walk (1 thread) ──paths──► readers (a thread a core) ──documents──► this thread: tantivy, manifest, commits
//! ```
//! Both channels are bounded, so memory is, too. A commit every few seconds lets what is done be searched, and be kept
//! when the process is killed: the next update finds those files current.

use super::code_error::CodeError;
use super::code_report::CodeProgress;
use super::content::MAX_FILE_BYTES;
use super::manifest::{Known, Manifest};
use super::output::Output;
use super::reading::{Outcome, Reader, Work};
use super::root::FileStamp;
use super::skip::{SkipReason, Skipped};
use super::walk::{Seen, walk};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

/// Paths on their way to the readers.
const PATHS_IN_FLIGHT: usize = 256;
/// Files on their way to the writer; each has at most 1 MiB of text.
const FILES_IN_FLIGHT: usize = 16;
/// The most files that are looked at.
const MAX_FILES: u64 = 2_000_000;
/// The most readers.
const MAX_READERS: usize = 16;
/// How often the caller hears how far it is, at least.
const TICK: Duration = Duration::from_millis(100);

/// Hears how far an update is, and may end it.
pub(super) type Listen<'a> = dyn FnMut(&CodeProgress) -> ControlFlow<()> + 'a;

/// Paths that are to be brought up to date before anything else, asked for now and then.
pub(super) type Urgent<'a> = dyn Fn() -> Vec<String> + 'a;

/// What a walk came to.
#[derive(Debug, Default)]
struct Tally {
    skipped: Skipped,
    current: u64,
    /// Folders of which nothing is known.
    unknown: Vec<String>,
}

/// Brings what is beneath some paths up to date.
pub(super) fn update(
    reader: &Reader<'_>,
    manifest: &RwLock<Manifest>,
    output: &mut Output<'_>,
    scopes: &[String],
    urgent: &Urgent<'_>,
    listen: &mut Listen<'_>,
) -> Result<(), CodeError> {
    let (cancel, seen) = (&AtomicBool::new(false), &AtomicU64::new(0));
    let (paths, to_read) = sync_channel(PATHS_IN_FLIGHT);
    let (files, read) = sync_channel(FILES_IN_FLIGHT);
    let to_read = &Mutex::new(to_read);
    let number = output.walk;
    let (result, tally) = thread::scope(|threads| {
        let walker = threads.spawn(move || {
            let mut walker = Walker { manifest, number, paths, seen, cancel, tally: Tally::default() };
            walker.walk(reader, scopes);
            walker.tally
        });
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(MAX_READERS) {
            let files = files.clone();
            threads.spawn(move || read_all(reader, to_read, &files, cancel));
        }
        drop(files);
        let result = take_all(reader, output, &read, urgent, &mut |progress| {
            progress.seen = seen.load(Ordering::Relaxed);
            listen(progress)
        });
        // Whoever still wants to send finds nobody there, and ends.
        if !matches!(result, Ok(ControlFlow::Continue(()))) {
            cancel.store(true, Ordering::Relaxed);
        }
        drop(read);
        (result, walker.join().unwrap_or_default())
    });
    let is_over = result?.is_continue();
    finish(output, scopes, tally, is_over);
    output.progress.seen = seen.load(Ordering::Relaxed);
    output.progress.is_walked = is_over;
    if listen(&output.progress).is_break() {
        output.report.cancelled = true;
    }
    Ok(())
}

/// After the walk: what it did not come across is gone. When it was ended early, nothing is known of that.
fn finish(output: &mut Output<'_>, scopes: &[String], tally: Tally, is_over: bool) {
    output.report.files += tally.current;
    for (reason, count) in tally.skipped.0 {
        *output.report.skipped.0.entry(reason).or_default() += count;
    }
    output.report.incomplete |= !tally.unknown.is_empty();
    output.report.cancelled |= !is_over;
    if !is_over {
        return;
    }
    let is_unknown = |path: &str| {
        tally.unknown.iter().any(|dir| dir.is_empty() || path.strip_prefix(dir).is_some_and(|it| it.starts_with('/')))
    };
    for scope in scopes {
        let unseen = output.manifest().unseen(scope, output.walk);
        unseen.iter().filter(|path| !is_unknown(path)).for_each(|path| output.remove(path));
    }
}

struct Walker<'a> {
    manifest: &'a RwLock<Manifest>,
    number: u32,
    paths: SyncSender<Work>,
    seen: &'a AtomicU64,
    cancel: &'a AtomicBool,
    tally: Tally,
}

impl Walker<'_> {
    fn walk(&mut self, reader: &Reader<'_>, scopes: &[String]) {
        for scope in scopes {
            if walk(reader.root, scope, &mut |seen| self.take(seen)).is_break() {
                return;
            }
        }
    }

    fn take(&mut self, seen: Seen) -> ControlFlow<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        match seen {
            Seen::File { path, stamp } => return self.file(path, stamp),
            Seen::Skipped(reason) => self.tally.skipped.add(reason),
            Seen::Unknown(dir) => self.tally.unknown.push(dir),
            Seen::Folder(_) => {}
        }
        ControlFlow::Continue(())
    }

    fn file(&mut self, path: String, stamp: FileStamp) -> ControlFlow<()> {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        if stamp.size_bytes > MAX_FILE_BYTES || seen >= MAX_FILES {
            let reason = if seen >= MAX_FILES { SkipReason::TooMany } else { SkipReason::TooLarge };
            self.tally.skipped.add(reason);
            return ControlFlow::Continue(());
        }
        let known = self.manifest.read().unwrap_or_else(PoisonError::into_inner).see(&path, stamp, self.number);
        match known {
            Known::Current(None) => self.tally.current += 1,
            Known::Current(Some(reason)) => self.tally.skipped.add(reason),
            Known::Stale(known) => {
                if self.paths.send(Work { path, known }).is_err() {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }
}

fn read_all(
    reader: &Reader<'_>,
    to_read: &Mutex<Receiver<Work>>,
    files: &SyncSender<(String, Outcome)>,
    cancel: &AtomicBool,
) {
    loop {
        let next = to_read.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        if cancel.load(Ordering::Relaxed) {
            return;
        }
        let outcome = reader.read(&work);
        if files.send((work.path, outcome)).is_err() {
            return;
        }
    }
}

fn take_all(
    reader: &Reader<'_>,
    output: &mut Output<'_>,
    read: &Receiver<(String, Outcome)>,
    urgent: &Urgent<'_>,
    listen: &mut dyn FnMut(&mut CodeProgress) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, CodeError> {
    // What was brought up to date while older readings of it were on their way.
    let mut done: BTreeSet<String> = BTreeSet::new();
    loop {
        match read.recv_timeout(TICK) {
            Ok((path, _)) if is_within_any(&path, &done) => {}
            Ok((path, outcome)) => output.take(&path, outcome)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(ControlFlow::Continue(())),
        }
        for scope in urgent() {
            update_now(reader, output, &scope)?;
            output.commit()?;
            done.insert(scope);
        }
        if listen(&mut output.progress).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
}

/// Whether a path, or something around it, is one of these.
fn is_within_any(path: &str, scopes: &BTreeSet<String>) -> bool {
    !scopes.is_empty()
        && (scopes.contains("")
            || scopes.contains(path)
            || path.match_indices('/').any(|(end, _)| scopes.contains(&path[..end])))
}

/// Brings what is beneath a path up to date on this thread.
fn update_now(reader: &Reader<'_>, output: &mut Output<'_>, scope: &str) -> Result<(), CodeError> {
    let mut found = Vec::new();
    let _ = walk(reader.root, scope, &mut |seen| {
        if let Seen::File { path, stamp } = seen
            && stamp.size_bytes <= MAX_FILE_BYTES
        {
            found.push((path, stamp));
        }
        ControlFlow::Continue(())
    });
    let mut there = HashSet::new();
    for (path, stamp) in found {
        let known = output.manifest().see(&path, stamp, output.walk);
        if let Known::Stale(known) = known {
            let work = Work { path: path.clone(), known };
            output.take(&path, reader.read(&work))?;
        }
        there.insert(path);
    }
    let gone: Vec<String> =
        output.manifest().beneath(scope).filter(|path| !there.contains(*path)).map(str::to_owned).collect();
    gone.iter().for_each(|path| output.remove(path));
    Ok(())
}
