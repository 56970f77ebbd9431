//! What listing and searching share: the walk, its bounds, and sending results in batches.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::overrides::Override;
use ignore::{Walk, WalkBuilder};
use rustix::fs::OFlags;

use super::root::Root;
use crate::mailbox::Mailbox;
use crate::message::{Failure, FailureKind, Response, Truncation};
use crate::raw_path::RawPath;
use crate::server::Guest;

/// A batch is sent when its JSON may have become so large; well below the bound of a frame's header.
const BATCH_BYTES: usize = 256 * 1024;
/// The most an answer may carry altogether.
pub(super) const ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// Walks in a fixed order (by name), never follows links, and never enters `.git` unless everything is asked for.
pub(super) fn walk(
    root: &Root,
    path: &RawPath,
    respect_gitignore: bool,
    depth: Option<u32>,
    only: Option<Override>,
) -> Result<Walk, Failure> {
    let relative = root.relative(path)?;
    // A link that stays beneath the root is walked at the place it leads to.
    let place = root.locate(&relative, &root.open_at(&relative, OFlags::PATH)?)?;
    let start: PathBuf = if place == Path::new(".") { root.path().to_path_buf() } else { root.path().join(place) };
    let mut builder = WalkBuilder::new(start);
    builder
        .standard_filters(respect_gitignore)
        .hidden(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(depth.map(|depth| depth as usize))
        .sort_by_file_name(Ord::cmp);
    if respect_gitignore {
        builder.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    }
    if let Some(only) = only {
        builder.overrides(only);
    }
    Ok(builder.build())
}

/// Stops a walk that takes too long or is no longer wanted.
pub(super) struct Watch<'a> {
    mailbox: &'a Mailbox,
    deadline: Instant,
}

impl<'a> Watch<'a> {
    pub(super) fn new(mailbox: &'a Mailbox, at_most: Duration) -> Self {
        Self { mailbox, deadline: Instant::now() + at_most }
    }

    /// True when the time is over.
    ///
    /// # Errors
    /// `Cancelled` when the host ended the request.
    pub(super) fn is_over(&self) -> Result<bool, Failure> {
        if self.mailbox.killed() {
            return Err(Failure::new(FailureKind::Cancelled, "cancelled"));
        }
        Ok(Instant::now() >= self.deadline)
    }
}

/// Collects results and sends them in batches of bounded size.
pub(super) struct Batch<'a, T> {
    guest: &'a Guest,
    id: u64,
    wrap: fn(Vec<T>) -> Response,
    items: Vec<T>,
    batch_bytes: usize,
    answer_bytes: usize,
}

impl<'a, T> Batch<'a, T> {
    pub(super) fn new(guest: &'a Guest, id: u64, wrap: fn(Vec<T>) -> Response) -> Self {
        Self { guest, id, wrap, items: Vec::new(), batch_bytes: 0, answer_bytes: 0 }
    }

    /// Adds an item whose texts have `text_bytes` bytes; says whether the answer is too large for more.
    pub(super) fn push(&mut self, item: T, text_bytes: usize) -> Result<Option<Truncation>, Failure> {
        self.items.push(item);
        // In the worst case every byte becomes a six-character escape.
        self.batch_bytes += text_bytes.saturating_mul(6) + 128;
        self.answer_bytes += text_bytes + 64;
        if self.batch_bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok((self.answer_bytes >= ANSWER_BYTES).then_some(Truncation::Bytes))
    }

    /// Sends what has been collected.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.batch_bytes = 0;
        if self.items.is_empty() {
            return Ok(());
        }
        let message = (self.wrap)(std::mem::take(&mut self.items));
        self.guest.outbox.send(self.id, &message, &[]).map_err(|error| Failure::new(FailureKind::Io, error.to_string()))
    }
}
