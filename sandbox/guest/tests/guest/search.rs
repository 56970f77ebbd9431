//! Searching file contents.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use retrace_guest::message::{FailureKind, Match, Request, Response, SearchSpec, Truncation};
use retrace_guest::raw_path::RawPath;

use crate::client::{Client, kind};

fn find(pattern: &str) -> SearchSpec {
    SearchSpec {
        pattern: pattern.to_owned(),
        path: RawPath::from(""),
        globs: Vec::new(),
        case_insensitive: false,
        context_lines: 0,
        max_matches: 1000,
        files_with_matches: false,
        respect_gitignore: true,
        timeout_ms: 30_000,
    }
}

fn lines(matches: &[Match]) -> Vec<String> {
    let separator = |found: &Match| if found.is_context { '-' } else { ':' };
    matches.iter().map(|m| format!("{}{}{}{}{}", m.path, separator(m), m.line_number, separator(m), m.line)).collect()
}

fn write(dir: &Path, files: &[(&str, &str)]) {
    for (path, contents) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
}

#[test]
fn matches_come_in_order_with_context() {
    let mut client = Client::new();
    write(client.path(), &[("b.txt", "one\ntwo\nthree\nfour\n"), ("a.txt", "zero\nTHREE\n")]);
    let (matches, done) = client.search(SearchSpec { context_lines: 1, ..find("three") }).unwrap();
    assert_eq!(lines(&matches), ["b.txt-2-two", "b.txt:3:three", "b.txt-4-four"]);
    assert_eq!((done.matches, done.files_searched, done.truncated), (1, 2, None));
    let (matches, _) = client.search(SearchSpec { case_insensitive: true, ..find("^three$") }).unwrap();
    assert_eq!(lines(&matches), ["a.txt:2:THREE", "b.txt:3:three"]);
}

#[test]
fn globs_and_gitignore_choose_the_files() {
    let mut client = Client::new();
    let files = [
        ("src/a.rs", "hit"),
        ("src/a.md", "hit"),
        ("target/b.rs", "hit"),
        ("c.rs", "hit"),
        (".hidden/d.rs", "hit"),
        (".git/e.rs", "hit"),
        (".gitignore", "target\n"),
    ];
    write(client.path(), &files);
    let globs = |globs: &[&str]| SearchSpec { globs: globs.iter().map(|g| (*g).to_owned()).collect(), ..find("hit") };
    let names = |matches: Vec<Match>| matches.iter().map(|m| m.path.to_string()).collect::<Vec<_>>();
    assert_eq!(names(client.search(globs(&["*.rs"])).unwrap().0), [".hidden/d.rs", "c.rs", "src/a.rs"]);
    assert_eq!(names(client.search(globs(&["src/**"])).unwrap().0), ["src/a.md", "src/a.rs"]);
    assert_eq!(names(client.search(globs(&["!*.rs"])).unwrap().0), ["src/a.md"]);
    let all = SearchSpec { respect_gitignore: false, ..globs(&["*.rs"]) };
    assert_eq!(client.search(all).unwrap().0.len(), 5);
    assert_eq!(names(client.search(SearchSpec { path: RawPath::from("src"), ..find("hit") }).unwrap().0).len(), 2);
    let one = SearchSpec { path: RawPath::from("src/a.rs"), ..find("hit") };
    assert_eq!(names(client.search(one).unwrap().0), ["src/a.rs"]);
}

#[test]
fn binary_files_are_skipped_and_counted() {
    let mut client = Client::new();
    fs::write(client.path().join("binary"), b"needle\nneedle\n\0\x01\x02needle\n").unwrap();
    fs::write(client.path().join("late"), [b"needle\n", &b"filler\n".repeat(50_000)[..], b"\0"].concat()).unwrap();
    fs::write(client.path().join("text"), "needle\n").unwrap();
    let (matches, done) = client.search(find("needle")).unwrap();
    assert_eq!(lines(&matches), ["text:1:needle"]);
    assert_eq!((done.binary_skipped, done.files_searched, done.matches), (2, 3, 1));
}

#[test]
fn invalid_utf8_and_long_lines_are_made_presentable() {
    let mut client = Client::new();
    fs::write(client.path().join("latin1"), b"caf\xe9 needle\r\n").unwrap();
    fs::write(client.path().join("long"), format!("needle{}\n", "x".repeat(100_000))).unwrap();
    let (matches, _) = client.search(find("needle")).unwrap();
    assert_eq!(matches[0].line, "caf\u{fffd} needle");
    assert!(matches[1].line.len() < 600 && matches[1].line.ends_with("[line cut]"));
}

#[test]
fn utf16_is_understood() {
    let mut client = Client::new();
    let text: Vec<u8> = "\u{feff}first\nneedle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(client.path().join("utf16"), text).unwrap();
    assert_eq!(lines(&client.search(find("needle")).unwrap().0), ["utf16:2:needle"]);
}

#[test]
fn the_number_of_matches_is_bounded_exactly() {
    let mut client = Client::new();
    write(client.path(), &[("a", "x\nx\nx\n"), ("b", "x\nx\n")]);
    let bounded = |max_matches| SearchSpec { max_matches, ..find("x") };
    let (matches, done) = client.search(bounded(4)).unwrap();
    assert_eq!((matches.len(), done.matches, done.truncated), (4, 4, Some(Truncation::Count)));
    let (matches, done) = client.search(bounded(5)).unwrap();
    assert_eq!((matches.len(), done.truncated), (5, None));
    let (matches, done) = client.search(SearchSpec { files_with_matches: true, ..bounded(1) }).unwrap();
    assert_eq!(
        (matches[0].path.to_string(), matches.len(), done.truncated),
        ("a".to_owned(), 1, Some(Truncation::Count))
    );
}

#[test]
fn files_with_matches_are_only_named() {
    let mut client = Client::new();
    write(client.path(), &[("a", "x\nx\nx\n"), ("b", "y\n"), ("c", "x\n")]);
    let (matches, done) = client.search(SearchSpec { files_with_matches: true, ..find("x") }).unwrap();
    assert_eq!(lines(&matches), ["a:0:", "c:0:"]);
    assert_eq!(done.matches, 2);
}

#[test]
fn the_answer_is_bounded_in_bytes() {
    let mut client = Client::new();
    fs::write(client.path().join("many"), "needle and quite some more text behind it\n".repeat(400_000)).unwrap();
    let (matches, done) = client.search(SearchSpec { max_matches: u32::MAX, ..find("needle") }).unwrap();
    assert_eq!(done.truncated, Some(Truncation::Bytes));
    assert!(matches.iter().map(|m| m.line.len()).sum::<usize>() < 9 * 1024 * 1024);
}

#[test]
fn bad_patterns_and_globs_are_refused() {
    let mut client = Client::new();
    let failure = client.search(find("(unclosed")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::BadRequest);
    assert!(failure.message.contains("unclosed"), "{failure}");
    assert_eq!(kind(client.search(find("((a{1000}){1000}){1000}"))), FailureKind::BadRequest);
    assert_eq!(kind(client.search(SearchSpec { globs: vec!["a{b".to_owned()], ..find("x") })), FailureKind::BadRequest);
}

#[test]
fn a_search_neither_follows_links_out_nor_starts_there() {
    let mut client = Client::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "needle").unwrap();
    symlink(outside.path(), client.path().join("out")).unwrap();
    symlink(outside.path().join("secret"), client.path().join("link")).unwrap();
    let (matches, done) = client.search(find("needle")).unwrap();
    assert_eq!((matches.len(), done.files_searched), (0, 0));
    let from_link = SearchSpec { path: RawPath::from("out"), ..find("needle") };
    assert_eq!(kind(client.search(from_link)), FailureKind::OutsideWorkspace);
}

#[test]
fn fifos_do_not_block_a_search() {
    let mut client = Client::new();
    client.shell("mkfifo fifo; echo needle > text");
    assert_eq!(client.search(find("needle")).unwrap().0.len(), 1);
}

#[test]
fn time_is_bounded_and_a_search_can_be_cancelled() {
    let mut client = Client::new();
    for n in 0..50 {
        fs::write(client.path().join(format!("{n:02}")), vec![b'a'; 400_000]).unwrap();
    }
    let (_, done) = client.search(SearchSpec { timeout_ms: 0, ..find("a") }).unwrap();
    assert_eq!(done.truncated, Some(Truncation::Time));
    let id = client.start(&Request::Search(find("(a|aa)*b(a|aa)*c(a|aa)*d")));
    client.send(id, &Request::Kill, &[]);
    let last = client.finish(id).pop().unwrap().0;
    let cancelled = matches!(&last, Response::Failed(failure) if failure.kind == FailureKind::Cancelled);
    // It may also have been quicker than the kill.
    assert!(cancelled || matches!(last, Response::SearchDone(_)), "{last:?}");
}
