//! Following what others write in the workspace: a thread that hears of changes from the system, and looks at them.
//!
//! Where the system has no more watches to give, the workspace is walked now and then instead, and that is said.

mod debounce;
mod folders;
#[cfg(test)]
mod tests;

use super::code_error::CodeError;
use super::code_index::CodeIndex;
use super::code_report::CodeReport;
use super::ignore_rules::holds_rules;
use debounce::{Debounce, Due};
use folders::{OutOfWatches, WatchedFolders};
use notify::event::{AccessKind, AccessMode};
use notify::{Config, EventKind, RecommendedWatcher, Watcher as _};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// So many changes may wait to be put together; beyond that everything is looked at.
const CHANGES_IN_FLIGHT: usize = 8_192;
/// A walk takes at most this part of the time between two of them.
const REST: u32 = 20;

/// How a workspace is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchSettings {
    /// A change is looked at when nothing else was changed for this long…
    pub quiet: Duration,
    /// …or has waited for this long.
    pub at_most: Duration,
    /// How often the whole workspace is walked where nothing tells of changes. It is twenty times rarer where something
    /// does, for file systems that keep silent.
    pub rescan: Duration,
    /// The most folders that are watched.
    pub max_folders: usize,
}

impl Default for WatchSettings {
    fn default() -> Self {
        let (quiet, at_most) = (Duration::from_millis(200), Duration::from_secs(2));
        Self { quiet, at_most, rescan: Duration::from_secs(45), max_folders: 30_000 }
    }
}

/// What a watch has to say.
#[derive(Debug)]
pub enum WatchEvent {
    /// The system tells of changes in so many folders.
    Following(usize),
    /// The workspace is walked now and then instead: why.
    Rescanning(String),
    /// Something was looked at.
    Updated(CodeReport),
    /// That failed; it is tried again with the next change.
    Failed(CodeError),
}

/// Follows a workspace until it is dropped.
#[derive(Debug)]
pub struct CodeWatch {
    stop: Arc<AtomicBool>,
    wake: SyncSender<Change>,
    thread: Option<JoinHandle<()>>,
}

/// What the watcher's thread hears.
#[derive(Debug)]
enum Change {
    Paths(Vec<PathBuf>),
    /// The system lost count.
    Anything,
    Wake,
}

impl CodeIndex {
    /// Brings the index up to date and follows the workspace from then on, on a thread of its own, until what it returns is
    /// dropped. `tell` is called on that thread.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn watch(
        self: &Arc<Self>,
        settings: WatchSettings,
        tell: impl FnMut(WatchEvent) + Send + 'static,
    ) -> io::Result<CodeWatch> {
        let (wake, changes) = sync_channel(CHANGES_IN_FLIGHT);
        let stop = Arc::new(AtomicBool::new(false));
        let mut watch = Watch {
            index: Arc::clone(self),
            settings,
            tell: Box::new(tell),
            stop: Arc::clone(&stop),
            lost: Arc::new(AtomicBool::new(false)),
            folders: None,
            waiting: Debounce::new(settings.quiet, settings.at_most),
            next_scan: Instant::now(),
        };
        let sender = wake.clone();
        let thread =
            thread::Builder::new().name("code-watch".to_owned()).spawn(move || watch.run(&sender, &changes))?;
        Ok(CodeWatch { stop, wake, thread: Some(thread) })
    }
}

impl Drop for CodeWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // When the channel is full, the thread is awake.
        let _ = self.wake.try_send(Change::Wake);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Watch {
    index: Arc<CodeIndex>,
    settings: WatchSettings,
    tell: Box<dyn FnMut(WatchEvent) + Send>,
    stop: Arc<AtomicBool>,
    /// Whether changes did not fit into the channel.
    lost: Arc<AtomicBool>,
    /// `None` when the workspace is walked instead.
    folders: Option<WatchedFolders>,
    waiting: Debounce,
    next_scan: Instant,
}

impl Watch {
    fn run(&mut self, sender: &SyncSender<Change>, changes: &Receiver<Change>) {
        self.begin(sender);
        while !self.stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            if self.lost.swap(false, Ordering::Relaxed) || self.next_scan <= now {
                self.waiting.add_all(now);
            }
            if let Some(due) = self.waiting.take(now) {
                self.look(due);
                continue;
            }
            let until = self.waiting.deadline().unwrap_or(self.next_scan).min(self.next_scan);
            match changes.recv_timeout(until.saturating_duration_since(now)) {
                Ok(change) => self.hear(change),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Watches first and looks then, so that nothing is missed between.
    fn begin(&mut self, sender: &SyncSender<Change>) {
        let (sender, lost) = (sender.clone(), Arc::clone(&self.lost));
        let hear = move |event: notify::Result<notify::Event>| {
            if let Some(change) = change_of(event)
                && let Err(TrySendError::Full(_)) = sender.try_send(change)
            {
                lost.store(true, Ordering::Relaxed);
            }
        };
        match RecommendedWatcher::new(hear, Config::default().with_follow_symlinks(false)) {
            Ok(watcher) => {
                let mut folders = WatchedFolders::new(watcher, self.settings.max_folders);
                let followed = folders.follow(self.index.root(), "");
                let count = folders.count();
                self.folders = Some(folders);
                match followed {
                    Ok(()) => (self.tell)(WatchEvent::Following(count)),
                    Err(why) => self.give_up(why),
                }
            }
            Err(error) => (self.tell)(WatchEvent::Rescanning(error.to_string())),
        }
        self.look(Due::All);
    }

    fn give_up(&mut self, OutOfWatches(why): OutOfWatches) {
        self.folders = None;
        (self.tell)(WatchEvent::Rescanning(why));
    }

    fn hear(&mut self, change: Change) {
        let now = Instant::now();
        match change {
            Change::Wake => {}
            Change::Anything => self.waiting.add_all(now),
            Change::Paths(paths) => {
                let paths = paths.iter().filter_map(|path| self.index.relative(path));
                // The root itself says nothing that the folders in it do not.
                for path in paths.filter(|path| !path.is_empty()) {
                    if holds_rules(&path) { self.waiting.add_all(now) } else { self.waiting.add(path, now) }
                }
            }
        }
    }

    fn look(&mut self, due: Due) {
        let started = Instant::now();
        self.watch_new(&due);
        let result = match &due {
            Due::Paths(paths) => self.index.touch(paths),
            Due::All => {
                let stop = Arc::clone(&self.stop);
                self.index.update(&mut |_| {
                    if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
            }
        };
        if due == Due::All || result.is_err() {
            let rarely = if self.folders.is_some() && result.is_ok() { REST } else { 1 };
            let pause = (self.settings.rescan * rarely).max(started.elapsed() * REST);
            self.next_scan = Instant::now() + pause;
        }
        (self.tell)(result.map_or_else(WatchEvent::Failed, WatchEvent::Updated));
    }

    /// New folders are watched before they are read.
    fn watch_new(&mut self, due: &Due) {
        let Some(folders) = &mut self.folders else { return };
        let root = self.index.root();
        let followed = match due {
            Due::All => folders.follow(root, ""),
            Due::Paths(paths) => paths.iter().try_for_each(|path| {
                folders.forget(root, path);
                folders.follow(root, path)
            }),
        };
        if let Err(why) = followed {
            self.give_up(why);
        }
    }
}

/// What an event of the system means for us; `None` when nothing was changed.
fn change_of(event: notify::Result<notify::Event>) -> Option<Change> {
    let Ok(event) = event else { return Some(Change::Anything) };
    if event.need_rescan() {
        return Some(Change::Anything);
    }
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => Some(Change::Paths(event.paths)),
        EventKind::Access(_) => None,
    }
}
