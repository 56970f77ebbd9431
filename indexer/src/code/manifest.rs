//! All files that are in the index, with what is remembered of each.
//!
//! It lies in the index itself: each commit holds a record with the files that it changed, so a file's record and its
//! chunks are committed together or not at all. Now and then these records are written anew as a few.

use super::file_record::FileRecord;
use super::root::FileStamp;
use super::skip::SkipReason;
use crate::keyword::{KeywordError, KeywordIndex, KeywordWriter};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What the keys of its records begin with.
const PREFIX: &str = "files/";
/// How many files a record holds at most when they are written anew.
const FILES_A_RECORD: usize = 4_096;
/// With more records than this they are written anew, unless there are that many files.
const MAX_RECORDS: usize = 64;
/// So many deleted files are remembered, for those who ask what has changed.
const MAX_GONE: usize = 20_000;

/// The files of an index.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    files: HashMap<Box<str>, Entry>,
    /// Deleted files, and the commit that took them out.
    gone: BTreeMap<Box<str>, u64>,
    note: Note,
    /// The keys of its records, and how many lines they hold.
    records: Vec<(String, usize)>,
    /// What has changed since the last commit.
    changed: Vec<Box<str>>,
}

#[derive(Debug)]
struct Entry {
    record: FileRecord,
    /// The last walk that came across it.
    walk: AtomicU32,
}

/// What the index says of itself with each commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// The workspace it is about.
    root: String,
    /// The number of the commit.
    generation: u64,
    /// Changes before this commit are no longer known one by one.
    horizon: u64,
}

/// A line of a record: a path, what is remembered of it, or when it was taken out.
#[derive(Serialize, Deserialize)]
struct Line(Box<str>, Option<FileRecord>, u64);

/// What is known of a file that a walk came across.
pub(super) enum Known {
    /// It is as it was.
    Current(Option<SkipReason>),
    /// It has to be read.
    Stale(Option<FileRecord>),
}

/// What has changed since some commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeChanges {
    /// The present generation: what to ask with next time.
    pub generation: u64,
    /// Files with new content.
    pub changed: Vec<String>,
    /// Files that are gone.
    pub gone: Vec<String>,
    /// Whether nothing else is gone. If not, `changed` names all files there are.
    pub is_complete: bool,
}

impl Manifest {
    /// The files of an index; `None` when it is about another workspace.
    pub(super) fn load(index: &KeywordIndex, root: &str) -> Result<Option<Self>, KeywordError> {
        // The note and the records must be of one commit: a copy of the index sees one, until it is loaded again.
        let records = index.records(PREFIX)?;
        let note = index.note();
        if note.is_empty() {
            return Ok(Some(Self::new(root)));
        }
        let Some(note) = serde_json::from_str::<Note>(&note).ok().filter(|note| note.root == root) else {
            return Ok(None);
        };
        let mut manifest = Self { note, ..Self::default() };
        for (key, value) in records {
            let lines = value.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let mut count = 0;
            for line in lines {
                let Ok(Line(path, record, generation)) = serde_json::from_slice(line) else { return Ok(None) };
                count += 1;
                match record {
                    Some(record) => manifest.set(path, record),
                    None => manifest.forget(&path, generation),
                }
            }
            manifest.records.push((key, count));
        }
        Ok(Some(manifest))
    }

    pub(super) fn new(root: &str) -> Self {
        // Numbers of an index that was thrown away are all smaller, and so before the horizon.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let generation = u64::try_from(now).unwrap_or_default();
        Self { note: Note { root: root.to_owned(), generation, horizon: generation }, ..Self::default() }
    }

    /// Whether these are the files of the commit that `index` sees.
    pub(super) fn is_of(&self, index: &KeywordIndex) -> bool {
        serde_json::from_str::<Note>(&index.note()).is_ok_and(|note| note == self.note)
    }

    /// The number of the last commit.
    pub(super) const fn generation(&self) -> u64 {
        self.note.generation
    }

    /// The number of the commit that is being prepared.
    pub(super) const fn next_generation(&self) -> u64 {
        self.note.generation + 1
    }

    pub(super) fn get(&self, path: &str) -> Option<&FileRecord> {
        self.files.get(path).map(|entry| &entry.record)
    }

    /// A walk came across a file.
    pub(super) fn see(&self, path: &str, stamp: FileStamp, walk: u32) -> Known {
        let Some(entry) = self.files.get(path) else { return Known::Stale(None) };
        entry.walk.store(walk, Ordering::Relaxed);
        if entry.record.is_current(stamp) {
            Known::Current(entry.record.skipped)
        } else {
            Known::Stale(Some(entry.record.clone()))
        }
    }

    /// The files beneath a path, or the file itself.
    pub(super) fn beneath<'a>(&'a self, scope: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.keys().map(|path| &**path).filter(move |path| is_beneath(path, scope))
    }

    /// Files beneath `scope` that a walk did not come across.
    pub(super) fn unseen(&self, scope: &str, walk: u32) -> Vec<String> {
        let is_unseen =
            |path: &&str| self.files.get(*path).is_some_and(|entry| entry.walk.load(Ordering::Relaxed) != walk);
        self.beneath(scope).filter(is_unseen).map(str::to_owned).collect()
    }

    /// Remembers a file, which the walk has seen.
    pub(super) fn insert(&mut self, path: &str, record: FileRecord, walk: u32) {
        self.set(path.into(), record);
        if let Some(entry) = self.files.get_mut(path) {
            entry.walk = AtomicU32::new(walk);
        }
        self.changed.push(path.into());
    }

    /// Takes a file out; `false` if it was not there.
    pub(super) fn remove(&mut self, path: &str) -> bool {
        let was_there = self.files.contains_key(path);
        if was_there {
            self.forget(path, self.next_generation());
            self.changed.push(path.into());
        }
        was_there
    }

    fn set(&mut self, path: Box<str>, record: FileRecord) {
        self.gone.remove(&path);
        self.files.insert(path, Entry { record, walk: AtomicU32::new(0) });
    }

    fn forget(&mut self, path: &str, generation: u64) {
        self.files.remove(path);
        self.gone.insert(path.into(), generation);
    }

    /// Whether there is something to commit.
    pub(super) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Commits what has changed, together with what was written meanwhile.
    pub(super) fn commit(&mut self, writer: &mut KeywordWriter) -> Result<(), KeywordError> {
        let generation = self.next_generation();
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort();
        changed.dedup();
        let key = format!("{PREFIX}{generation:020}");
        writer.put_record(&key, &self.lines(changed.iter()))?;
        self.records.push((key, changed.len()));
        let lines: usize = self.records.iter().map(|(_, lines)| lines).sum();
        let needed = (self.files.len() + self.gone.len()) / FILES_A_RECORD + 1;
        if self.records.len() > MAX_RECORDS + needed || lines > 4 * FILES_A_RECORD + 3 * self.files.len() {
            self.write_anew(writer, generation)?;
        }
        self.note.generation = generation;
        // What is not understood is a note without content; that cannot happen to a struct of texts and numbers.
        writer.commit(&serde_json::to_string(&self.note).unwrap_or_default())
    }

    /// Replaces all records by as few as possible.
    fn write_anew(&mut self, writer: &mut KeywordWriter, generation: u64) -> Result<(), KeywordError> {
        for (key, _) in self.records.drain(..) {
            writer.delete_record(&key);
        }
        if self.gone.len() > MAX_GONE {
            self.gone.clear();
            self.note.horizon = generation;
        }
        let paths: Vec<&Box<str>> = self.files.keys().chain(self.gone.keys()).collect();
        let mut records = Vec::new();
        for (index, part) in paths.chunks(FILES_A_RECORD).enumerate() {
            let key = format!("{PREFIX}{generation:020}.{index:06}");
            writer.put_record(&key, &self.lines(part.iter().copied()))?;
            records.push((key, part.len()));
        }
        self.records = records;
        Ok(())
    }

    fn lines<'a>(&self, paths: impl Iterator<Item = &'a Box<str>>) -> Vec<u8> {
        let mut lines = Vec::new();
        for path in paths {
            let record = self.files.get(path).map(|entry| entry.record.clone());
            let generation = self.gone.get(path).copied().unwrap_or_default();
            // Texts and numbers can always be written.
            drop(serde_json::to_writer(&mut lines, &Line(path.clone(), record, generation)));
            lines.push(b'\n');
        }
        lines
    }

    /// What has changed since a commit, when that can be said without reading the files: nothing.
    pub(super) fn nothing_since(generation: u64, index: &KeywordIndex, root: &str) -> Option<CodeChanges> {
        let note: Note = serde_json::from_str(&index.note()).ok()?;
        let is_newest = note.generation == generation && note.root == root;
        is_newest.then(|| CodeChanges { generation, is_complete: true, ..CodeChanges::default() })
    }

    /// What has changed since a commit.
    pub(super) fn changes_since(&self, generation: u64) -> CodeChanges {
        let is_complete = generation >= self.note.horizon && generation <= self.note.generation;
        let since = if is_complete { generation } else { 0 };
        // What was turned into something that is left out has no documents any more, like what was deleted.
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        for (path, entry) in self.files.iter().filter(|(_, entry)| entry.record.generation > since) {
            let list = if entry.record.skipped.is_none() { &mut changed } else { &mut gone };
            list.push(path.to_string());
        }
        gone.extend(self.gone.iter().filter(|(_, at)| **at > since).map(|(path, _)| path.to_string()));
        changed.sort();
        gone.sort();
        CodeChanges { generation: self.note.generation, changed, gone, is_complete }
    }
}

fn is_beneath(path: &str, scope: &str) -> bool {
    scope.is_empty() || path.strip_prefix(scope).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
