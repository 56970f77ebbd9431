//! The index over a code base: the first time, after ten files changed, and its answers beside bare tantivy and `rg`.

use super::bare;
use super::figures::{rate, size, spread, timed};
use retrace_indexer::{CodeIndex, Filter, KeywordIndex, Query};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Words to look for: what people look for in code.
const WORDS: [&str; 12] = [
    "error",
    "parse",
    "config",
    "connection",
    "timeout",
    "serialize",
    "request",
    "cache",
    "validate",
    "template",
    "session",
    "iterator",
];

/// What the writer of the comparison may use, in bytes.
const MEMORY_BYTES: usize = 96 * 1024 * 1024;

/// Prints all figures of the code base in `folder`, which is copied first and not touched.
pub(crate) fn measure(folder: &Path) {
    let scratch = tempfile::tempdir().unwrap();
    let copy = scratch.path().join("code");
    let copied = Command::new("cp").arg("-r").arg(folder).arg(&copy).status().unwrap();
    assert!(copied.success(), "cp failed");
    let index = CodeIndex::open(&scratch.path().join("index"), &copy).unwrap();
    let (report, first) = timed(|| index.update(&mut |_| ControlFlow::Continue(())).unwrap());
    let keyword = index.keyword().unwrap().unwrap();
    println!(
        "code, first index: files {}; {} documents, {}, {} segments",
        rate(files(&copy), first),
        keyword.count().unwrap(),
        size(keyword.size_bytes().unwrap()),
        keyword.segments()
    );
    println!("code, first index: {report:?}");

    let texts = texts(&copy);
    let bytes: u64 = texts.iter().map(|(_, text)| text.len() as u64).sum();
    let pairs = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let peer = bare::index(&scratch.path().join("bare"), pairs, MEMORY_BYTES);
    println!(
        "code: {} of text; ours, with reading and parsing, {:.1} s; bare tantivy over the texts in memory {:.1} s",
        size(bytes),
        first.as_secs_f64(),
        peer.as_secs_f64()
    );

    let (_, unchanged) = timed(|| index.update(&mut |_| ControlFlow::Continue(())).unwrap());
    for (name, text) in texts.iter().step_by((texts.len() / 10).max(1)).take(10) {
        fs::write(copy.join(name), format!("{text}\n// touched for the benchmark\n")).unwrap();
    }
    let (_, again) = timed(|| index.update(&mut |_| ControlFlow::Continue(())).unwrap());
    println!(
        "code, again: nothing changed {:.0} ms, ten files changed {:.0} ms; {} segments",
        unchanged.as_secs_f64() * 1e3,
        again.as_secs_f64() * 1e3,
        index.keyword().unwrap().unwrap().segments()
    );
    println!("code, one file at a time: {}", spread(&mut touches(&index, &copy, &texts)));

    println!("code, search, ten documents read: {}", spread(&mut searches(&index.keyword().unwrap().unwrap())));
    println!("code, bare tantivy, the same: {}", spread(&mut bare::searches(&scratch.path().join("bare"), &WORDS)));
    match grep(&copy) {
        Some(mut times) => println!("code, rg -i -c: {}", spread(&mut times)),
        None => println!("code, rg: left out, it is not installed"),
    }
}

/// Forty files change, one after the other, as when an agent works on them.
fn touches(index: &CodeIndex, folder: &Path, texts: &[(String, String)]) -> Vec<Duration> {
    let one = |(name, text): &(String, String)| {
        fs::write(folder.join(name), format!("{text}\n// touched once more\n")).unwrap();
        timed(|| index.touch([name]).unwrap()).1
    };
    texts.iter().step_by((texts.len() / 40).max(1)).take(40).map(one).collect()
}

fn searches(index: &KeywordIndex) -> Vec<Duration> {
    let one = |word: &&str| {
        let query = Query::parse(word, retrace_events::Timestamp(0));
        let search = || {
            let hits = index.search(&query, &Filter::default(), 10).unwrap();
            index.documents(&hits.into_iter().map(|hit| hit.address).collect::<Vec<_>>()).unwrap()
        };
        timed(search).1
    };
    WORDS.iter().map(one).collect()
}

fn grep(folder: &Path) -> Option<Vec<Duration>> {
    let one = |word: &&str| {
        let begun = Instant::now();
        let run = Command::new("rg")
            .args(["-i", "-c", word])
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        run.ok().map(|_| begun.elapsed())
    };
    WORDS.iter().map(one).collect()
}

/// The text files beneath `folder` that are not in a `.git`, with their names.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_file() {
                found.extend(text(folder, path));
            }
        }
    }
    found.sort();
    found
}

fn text(folder: &Path, path: PathBuf) -> Option<(String, String)> {
    let name = path.strip_prefix(folder).ok()?.to_str()?.to_owned();
    let text = fs::read_to_string(path).ok().filter(|text| text.len() <= 1 << 20)?;
    Some((name, text))
}

fn files(folder: &Path) -> u64 {
    texts(folder).len() as u64
}
