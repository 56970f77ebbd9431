//! The history file: private, without secrets, and never a reason to fail.

use super::super::history::GuardedHistory;
use super::super::paste::Pastes;
use reedline::{History, HistoryItem, SearchDirection, SearchQuery};
use retrace_events::redact::Redactor;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

const SECRET: &str = "hunter2-correct-horse";

fn open(file: &Path, pastes: &Arc<Mutex<Pastes>>) -> (GuardedHistory, Option<String>) {
    GuardedHistory::open(file, Arc::new(Redactor::new(vec![SECRET.to_owned()])), Arc::clone(pastes))
}

fn lines(history: &GuardedHistory) -> Vec<String> {
    let found = history.search(SearchQuery::everything(SearchDirection::Forward, None)).unwrap();
    found.into_iter().map(|item| item.command_line).collect()
}

fn mode(file: &Path) -> u32 {
    std::fs::metadata(file).unwrap().permissions().mode() & 0o777
}

#[test]
fn lines_are_kept_for_the_next_time_and_for_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/history");
    let pastes = Arc::default();
    let (mut history, why) = open(&file, &pastes);
    assert_eq!(why, None);
    for line in ["one", "two\nlines", "/cost"] {
        history.save(HistoryItem::from_command_line(line)).unwrap();
    }
    history.sync().unwrap();
    assert_eq!(mode(&file), 0o600);
    assert_eq!(lines(&open(&file, &pastes).0), ["one", "two\nlines", "/cost"]);
}

#[test]
fn a_file_that_others_may_read_is_closed_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history");
    std::fs::write(&file, "old\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (history, why) = open(&file, &Arc::default());
    assert_eq!((lines(&history), why, mode(&file)), (vec!["old".to_owned()], None, 0o600));
}

#[test]
fn what_holds_a_secret_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history");
    let pastes: Arc<Mutex<Pastes>> = Arc::default();
    let (mut history, _) = open(&file, &pastes);
    let pasted = pastes.lock().unwrap().take(&format!("1\n2\n3\n4\n5\n{SECRET}\n")).insert;
    for line in [format!("the password is {SECRET}"), format!("see {pasted}"), "harmless".to_owned()] {
        history.save(HistoryItem::from_command_line(line)).unwrap();
    }
    history.sync().unwrap();
    assert_eq!(lines(&history), ["harmless"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "harmless\n");
}

#[test]
fn a_paste_is_kept_as_what_it_was_unless_it_is_long() {
    let folder = tempfile::tempdir().unwrap();
    let pastes: Arc<Mutex<Pastes>> = Arc::default();
    let (mut history, _) = open(&folder.path().join("history"), &pastes);
    let (short, long) = ("s\n".repeat(6), "long line\n".repeat(5_000));
    let take = |text: &str| pastes.lock().unwrap().take(text).insert;
    let (short_mark, long_mark) = (take(&short), take(&long));
    history.save(HistoryItem::from_command_line(format!("see {short_mark}"))).unwrap();
    history.save(HistoryItem::from_command_line(format!("see {long_mark}"))).unwrap();
    assert_eq!(lines(&history), [format!("see {short}")]);
}

#[test]
fn a_file_that_cannot_be_used_is_said_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut history, why) = open(folder.path(), &Arc::default());
    assert!(why.unwrap().starts_with(&format!("history is not kept: {}: ", folder.path().display())));
    history.save(HistoryItem::from_command_line("for now")).unwrap();
    history.sync().unwrap();
    assert_eq!(lines(&history), ["for now"]);
}
