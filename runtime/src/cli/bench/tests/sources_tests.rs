//! Sessions from a file.

use crate::cli::bench::sources::Source;
use crate::cli::{CliError, Exit};
use std::path::PathBuf;

/// A file with three sessions of one item each.
fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorded.jsonl");
    let line =
        |id| format!("{{\"session\":\"{id}\",\"ts\":\"2026-01-05T12:00:00Z\",\"kind\":\"user\",\"text\":\"x\"}}\n");
    std::fs::write(&path, ["abc-1", "abc-12", "xyz"].map(line).concat()).unwrap();
    (folder, path)
}

fn named(names: &[&str]) -> Result<Vec<String>, CliError> {
    let (_folder, path) = file();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Ok(Source::file(&path, &names)?.ids().into_iter().map(str::to_owned).collect())
}

fn refused(names: &[&str]) -> CliError {
    named(names).unwrap_err()
}

#[test]
fn names_choose_sessions_in_the_order_of_the_file() {
    assert_eq!(named(&[]).unwrap(), ["abc-1", "abc-12", "xyz"]);
    assert_eq!(named(&["x", "abc-12"]).unwrap(), ["abc-12", "xyz"]);
    // A whole id, though another begins with it; and twice is once.
    assert_eq!(named(&["abc-1", "abc-1"]).unwrap(), ["abc-1"]);
}

#[test]
fn a_name_must_mean_one_session() {
    let (none, many) = (refused(&["q"]), refused(&["abc"]));
    assert_eq!((none.exit, many.exit), (Exit::NotFound, Exit::NotFound));
    assert!(none.message.starts_with("there is no session `q` in "), "{}", none.message);
    assert!(many.message.starts_with("more than one session is meant by `abc` in "), "{}", many.message);
    assert!(none.hint.is_some());
}

#[tokio::test]
async fn only_wanted_sessions_are_given_out() {
    let (_folder, path) = file();
    let mut source = Source::file(&path, &[]).unwrap();
    assert_eq!(source.len(), 3);
    let given = source.next(&|session| session.starts_with("abc")).await.unwrap().unwrap();
    assert_eq!(given.len(), 2);
    assert!(source.next(&|_| true).await.unwrap().is_none());
}

#[test]
fn a_file_that_is_not_there_or_damaged_is_said_in_a_line() {
    let (folder, path) = file();
    let error = Source::file(&folder.path().join("none"), &[]).err().unwrap();
    assert_eq!(error.exit, Exit::Usage);
    assert!(error.message.starts_with("there is no ") && error.hint.is_some(), "{}", error.message);
    std::fs::write(&path, "{\"session\":\"a\"}\n").unwrap();
    let error = Source::file(&path, &[]).err().unwrap();
    assert_eq!(error.exit, Exit::Failed);
    assert!(error.message.ends_with("recorded.jsonl:1: missing field `ts`"), "{}", error.message);
}
