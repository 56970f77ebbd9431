//! Watches what commands add to the disk that the workspace is on, and kills them when it is too much.
//!
//! A folder of an ordinary file system cannot be given a hard quota, so this looks at it while commands run: every
//! [`LOOK_PAUSE`] at the free space, which costs nothing; and when that fell by the limit, at what was written in the
//! workspace since the sandbox began (files by their change time). Only both together are a hit, so that neither other
//! programs' writes nor large files that were there before count. A disk that is nearly full ends the commands without
//! further looking. What a command writes between two looks comes on top; what it wrote stays.
//!
//! After a hit commands may run, so that they can delete what is not needed: one is killed only when it adds to what is
//! there already. What it adds before the next look is then missing to the next command, which can be killed for it.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::WalkBuilder;
use tokio::task::spawn_blocking;

/// Between two looks at the free space.
const LOOK_PAUSE: Duration = Duration::from_millis(250);
/// What a command must leave free on the disk, in bytes and in files.
const RESERVE_BYTES: u64 = 256 * 1024 * 1024;
const RESERVE_FILES: u64 = 2_000;

/// Ends a command.
type Kill = Box<dyn Fn() + Send + Sync>;

/// Watches one sandbox's workspace.
pub(crate) struct DiskWatch {
    workspace: PathBuf,
    limit_bytes: u64,
    /// Files changed from here on are the commands', in nanoseconds since 1970.
    since_ns: i128,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: HashMap<u64, Kill>,
    next_id: u64,
    hits: u64,
    /// The free space from which a fall counts; `None` until somebody looked.
    base_bytes: Option<u64>,
    /// What is above a bound since it was hit: in the workspace, and on the disk as a whole.
    written: Excess,
    occupied: Excess,
    watched: bool,
}

/// How far above a bound it was at the last look, if it was.
#[derive(Default)]
struct Excess(Option<u64>);

impl Excess {
    /// Whether this is a hit: above the bound for the first time, or still further than at the last look.
    fn is_hit(&mut self, level: u64) -> bool {
        let is_hit = self.0.is_none_or(|before| level > before);
        // What is killed may write on for a moment: the next look tells what there is to start from.
        self.0 = Some(if is_hit { u64::MAX } else { level });
        is_hit
    }

    fn end(&mut self) {
        self.0 = None;
    }
}

/// A command that is watched until this is dropped.
pub(crate) struct Watched {
    watch: Arc<DiskWatch>,
    id: u64,
    hits_before: u64,
}

/// What a file system has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Free {
    bytes: u64,
    files: u64,
    /// Some file systems do not count files.
    counts_files: bool,
}

impl DiskWatch {
    /// A watch that lets commands add `limit_bytes`.
    pub(crate) fn new(workspace: &Path, limit_bytes: u64) -> Arc<Self> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since_ns = i128::try_from(since.as_nanos()).unwrap_or(i128::MAX);
        Arc::new(Self { workspace: workspace.to_path_buf(), limit_bytes, since_ns, state: Mutex::default() })
    }

    /// Watches over a command; `kill` ends it.
    pub(crate) fn enter(self: &Arc<Self>, kill: impl Fn() + Send + Sync + 'static) -> Watched {
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.running.insert(id, Box::new(kill));
        if !std::mem::replace(&mut state.watched, true) {
            tokio::spawn(watch(Arc::clone(self)));
        }
        Watched { watch: Arc::clone(self), id, hits_before: state.hits }
    }

    /// Looks once; false when it need not look again, because nothing runs.
    fn look(&self) -> bool {
        let free = free_space(&self.workspace);
        let mut state = self.lock();
        if state.running.is_empty() {
            state.watched = false;
            return false;
        }
        let Some(free) = free else { return true };
        let base = state.base_bytes.unwrap_or(free.bytes).max(free.bytes);
        state.base_bytes = Some(base);
        if state.judge_disk(free, base) {
            return true;
        }
        if base - free.bytes < self.limit_bytes {
            state.written.end();
            return true;
        }
        drop(state);
        self.judge_workspace(free);
        true
    }

    fn judge_workspace(&self, free: Free) {
        let written = written_since(&self.workspace, self.since_ns);
        let mut state = self.lock();
        if written < self.limit_bytes {
            // Somebody else's writes: what is ours may still grow by the rest.
            state.base_bytes = Some(free.bytes + written);
            state.written.end();
        } else if state.written.is_hit(written) {
            state.hit();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether the disk is nearly full; then nothing else counts.
    fn judge_disk(&mut self, free: Free, base: u64) -> bool {
        let bytes_are_short = free.bytes < RESERVE_BYTES.min(base / 2);
        let is_short = bytes_are_short || (free.counts_files && free.files < RESERVE_FILES);
        if !is_short {
            self.occupied.end();
        } else if self.occupied.is_hit(u64::MAX - if bytes_are_short { free.bytes } else { free.files }) {
            self.hit();
        }
        is_short
    }

    fn hit(&mut self) {
        self.hits += 1;
        for kill in self.running.values() {
            kill();
        }
    }
}

impl Watched {
    /// Whether the limit was hit while the command ran.
    pub(crate) fn was_hit(&self) -> bool {
        self.watch.lock().hits > self.hits_before
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.lock().running.remove(&self.id);
    }
}

impl std::fmt::Debug for DiskWatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DiskWatch").field("limit_bytes", &self.limit_bytes).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Watched").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Looks until nothing runs any more.
async fn watch(watch: Arc<DiskWatch>) {
    loop {
        let looking = Arc::clone(&watch);
        // On a thread of its own, since a file system can be slow. A look that panics ends the watch, not the program.
        if !spawn_blocking(move || looking.look()).await.unwrap_or(false) {
            return;
        }
        tokio::time::sleep(LOOK_PAUSE).await;
    }
}

fn free_space(dir: &Path) -> Option<Free> {
    let found = rustix::fs::statvfs(dir).ok()?;
    Some(Free {
        bytes: found.f_bavail.saturating_mul(found.f_frsize),
        files: found.f_favail,
        counts_files: found.f_files > 0,
    })
}

/// Space of the files below `dir` that were changed from `since_ns` on.
fn written_since(dir: &Path, since_ns: i128) -> u64 {
    let (mut total, mut linked) = (0_u64, HashSet::new());
    let walk = WalkBuilder::new(dir).standard_filters(false).follow_links(false).same_file_system(true).build();
    for metadata in walk.flatten().filter_map(|entry| entry.metadata().ok()).filter(Metadata::is_file) {
        let changed_ns = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
        let is_new = changed_ns >= since_ns && (metadata.nlink() < 2 || linked.insert(metadata.ino()));
        if is_new {
            total = total.saturating_add(metadata.blocks().saturating_mul(512));
        }
    }
    total
}

#[cfg(test)]
#[path = "disk_watch_tests.rs"]
mod disk_watch_tests;
