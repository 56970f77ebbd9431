//! Tests of following a workspace.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::debounce::{Debounce, Due};
use super::{WatchEvent, WatchSettings};
use crate::code::{CodeIndex, CodeWatch};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const QUIET: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(60);

fn settings() -> WatchSettings {
    WatchSettings { quiet: QUIET, at_most: QUIET * 10, rescan: Duration::from_secs(3_600), max_folders: 1_000 }
}

struct Followed {
    dir: tempfile::TempDir,
    index: Arc<CodeIndex>,
    heard: Receiver<WatchEvent>,
    watch: Option<CodeWatch>,
}

impl Followed {
    fn new(settings: WatchSettings, prepare: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspace");
        fs::create_dir(&root).unwrap();
        prepare(&root);
        let index = Arc::new(CodeIndex::open(&dir.path().join("index"), &root).unwrap());
        let (sender, heard) = channel();
        let watch = index.watch(settings, move |event| drop(sender.send(event))).unwrap();
        Self { dir, index, heard, watch: Some(watch) }
    }

    fn root(&self) -> std::path::PathBuf {
        self.dir.path().join("workspace")
    }

    fn has(&self, key: &str, word: &str) -> bool {
        let Some(keyword) = self.index.keyword().unwrap() else { return false };
        keyword.by_key(key).unwrap().is_some_and(|document| document.text.contains(word))
    }

    /// Waits for something to become true, each time the watch says that it did something.
    fn until(&self, mut is_so: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = self.heard.recv_timeout(left).expect("it became true in time");
            assert!(!matches!(event, WatchEvent::Failed(_)), "{event:?}");
        }
    }

    /// What the watch says first.
    fn mode(&self) -> WatchEvent {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }
}

#[test]
fn what_others_write_rename_and_delete_is_found() {
    let followed = Followed::new(settings(), |root| fs::write(root.join("a.rs"), "fn first() {}\n").unwrap());
    assert!(matches!(followed.mode(), WatchEvent::Following(1)));
    followed.until(|it| it.has("code/a.rs#1", "first"));
    fs::write(followed.root().join("a.rs"), "fn second() {}\n").unwrap();
    followed.until(|it| it.has("code/a.rs#1", "second"));
    fs::rename(followed.root().join("a.rs"), followed.root().join("b.rs")).unwrap();
    followed.until(|it| it.has("code/b.rs#1", "second") && !it.has("code/a.rs#1", ""));
    fs::remove_file(followed.root().join("b.rs")).unwrap();
    followed.until(|it| !it.has("code/b.rs#1", ""));
}

#[test]
fn new_folders_are_followed_and_ignored_ones_are_not() {
    let followed = Followed::new(settings(), |root| {
        fs::write(root.join(".gitignore"), "target/\n").unwrap();
        fs::create_dir_all(root.join("target/deep")).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
    });
    assert!(matches!(followed.mode(), WatchEvent::Following(2)), "the root and src");
    let deep = followed.root().join("src/new/deeper");
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("a.rs"), "fn one() {}\n").unwrap();
    followed.until(|it| it.has("code/src/new/deeper/a.rs#1", "one"));
    // The folder that was made is followed by now, not only read once.
    fs::write(deep.join("a.rs"), "fn two() {}\n").unwrap();
    followed.until(|it| it.has("code/src/new/deeper/a.rs#1", "two"));
    fs::rename(followed.root().join("src/new"), followed.root().join("src/moved")).unwrap();
    followed.until(|it| it.has("code/src/moved/deeper/a.rs#1", "two") && !it.has("code/src/new/deeper/a.rs#1", ""));
    fs::write(followed.root().join("src/moved/deeper/a.rs"), "fn three() {}\n").unwrap();
    followed.until(|it| it.has("code/src/moved/deeper/a.rs#1", "three"));
}

#[test]
fn rules_that_change_are_obeyed_at_once() {
    let followed = Followed::new(settings(), |root| {
        fs::create_dir(root.join("out")).unwrap();
        fs::write(root.join("out/a.rs"), "fn a() {}\n").unwrap();
    });
    followed.until(|it| it.has("code/out/a.rs#1", "a"));
    fs::write(followed.root().join(".gitignore"), "out/\n").unwrap();
    followed.until(|it| !it.has("code/out/a.rs#1", ""));
    fs::remove_file(followed.root().join(".gitignore")).unwrap();
    followed.until(|it| it.has("code/out/a.rs#1", "a"));
}

#[test]
fn with_too_many_folders_it_walks_now_and_then_and_says_so() {
    let settings = WatchSettings { max_folders: 3, rescan: QUIET, ..settings() };
    let followed = Followed::new(settings, |root| {
        for folder in 0..5 {
            fs::create_dir(root.join(format!("d{folder}"))).unwrap();
        }
    });
    let WatchEvent::Rescanning(why) = followed.mode() else { panic!("it did not say so") };
    assert_eq!(why, "more than 3 folders");
    fs::write(followed.root().join("d4/a.rs"), "fn a() {}\n").unwrap();
    followed.until(|it| it.has("code/d4/a.rs#1", "a"));
}

#[test]
fn dropping_it_ends_it() {
    let mut followed = Followed::new(settings(), |_| {});
    followed.mode();
    drop(followed.watch.take());
    // Its thread is gone, and with it the sender.
    while followed.heard.recv_timeout(PATIENCE).is_ok() {}
    assert_eq!(Arc::strong_count(&followed.index), 1);
}

fn paths(paths: &[&str]) -> Due {
    Due::Paths(paths.iter().map(|path| (*path).to_owned()).collect())
}

#[test]
fn changes_wait_until_it_is_quiet_but_not_for_ever() {
    let (start, ms) = (Instant::now(), Duration::from_millis);
    let mut waiting = Debounce::new(ms(100), ms(1_000));
    assert_eq!((waiting.deadline(), waiting.take(start)), (None, None));
    waiting.add("b".to_owned(), start);
    waiting.add("a".to_owned(), start + ms(50));
    waiting.add("b".to_owned(), start + ms(60));
    assert_eq!(waiting.take(start + ms(159)), None);
    assert_eq!(waiting.take(start + ms(160)), Some(paths(&["a", "b"])));
    assert_eq!(waiting.take(start + ms(2_000)), None, "they are taken once");
    for at in 0..30 {
        waiting.add("c".to_owned(), start + ms(at * 50));
    }
    assert_eq!(waiting.deadline(), Some(start + ms(1_000)), "it is never quiet");
}

#[test]
fn very_many_changes_are_a_change_of_everything() {
    let now = Instant::now();
    let mut waiting = Debounce::new(QUIET, PATIENCE);
    for path in 0..3_000 {
        waiting.add(path.to_string(), now);
    }
    assert_eq!(waiting.take(now + QUIET), Some(Due::All));
    waiting.add("a".to_owned(), now);
    waiting.add_all(now);
    waiting.add("b".to_owned(), now);
    assert_eq!(waiting.take(now + QUIET), Some(Due::All));
    waiting.add("a".to_owned(), now);
    assert_eq!(waiting.take(now + QUIET), Some(paths(&["a"])));
}
