//! Writing files of a snapshot, several at once.
//!
//! Everything is made new (`O_EXCL`, never through a link) in a folder that is opened beneath the root. Where that folder
//! stands, nobody else may come until all is whole: the caller sees to it.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags, fchmod, fstat, mkdirat, openat, symlinkat};
use rustix::io::Errno;

use super::error::SnapshotError;
use super::folder::Folder;
use super::ids::{ObjectId, TreeId};
use super::objects::{Objects, SeenRow};
use super::reader::Reader;
use super::seen::{self, Seen};
use super::stamp::Stamp;
use super::tree::{self, Node};

const MAX_WORKERS: usize = 8;
/// Set-user and set-group bits: a file gets them when nothing is written to it any more.
const SPECIAL_BITS: u16 = 0o6000;

/// Files to be written into one folder.
#[derive(Debug)]
pub(super) struct Job {
    /// The folder, beneath the root.
    pub(super) folder: Vec<u8>,
    /// The tree that it is to become; of no importance where the stamps are not asked for.
    pub(super) tree: ObjectId,
    /// The permission bits that it gets when its files are there.
    pub(super) mode: Option<u16>,
    pub(super) files: Vec<NewFile>,
}

/// A file or link to be written.
#[derive(Debug)]
pub(super) struct NewFile {
    /// Its name in the folder.
    pub(super) name: Vec<u8>,
    pub(super) node: Node,
    /// Its path in the snapshot, for messages.
    pub(super) path: Vec<u8>,
}

/// Writes the files of all jobs; answers with what is known of them then.
pub(super) fn write_all(
    root: &Folder,
    objects: &Objects,
    snapshot: TreeId,
    jobs: &[Job],
    keeps_set_id: bool,
) -> Result<Vec<Stamped>, SnapshotError> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<SnapshotError>> = Mutex::default();
    let stamped: Mutex<Vec<Stamped>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS).min(jobs.len());
    let connections = (0..workers).map(|_| objects.again()).collect::<Result<Vec<_>, _>>()?;
    std::thread::scope(|scope| {
        for connection in connections {
            let (next, failed, stamped) = (&next, &failed, &stamped);
            scope.spawn(move || {
                let reader = Reader::new(&connection, snapshot);
                let writer = Writer { root, objects: &connection, reader, keeps_set_id };
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match writer.job(job) {
                        Ok(done) => stamped.lock().unwrap_or_else(PoisonError::into_inner).push(done),
                        Err(error) => {
                            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                            next.store(jobs.len(), Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(stamped.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// What is known of a folder's files after they were written.
#[derive(Debug)]
pub(super) struct Stamped {
    folder: Vec<u8>,
    tree: ObjectId,
    files: Vec<(Vec<u8>, Stamp, ObjectId)>,
}

impl Stamped {
    /// The row for the next look around, with what nobody can have changed since without its showing.
    pub(super) fn row(self, handed_over_ns: i128) -> (Vec<u8>, SeenRow) {
        let mut stamps = Vec::new();
        for (name, stamp, id) in self.files.iter().filter(|(_, stamp, _)| stamp.is_settled(handed_over_ns)) {
            seen::write(&mut stamps, &Seen { name, stamp: *stamp, id: *id });
        }
        (self.folder, SeenRow { tree: self.tree, stamps })
    }
}

struct Writer<'a> {
    root: &'a Folder,
    objects: &'a Objects,
    reader: Reader<'a>,
    keeps_set_id: bool,
}

impl Writer<'_> {
    fn job(&self, job: &Job) -> Result<Stamped, SnapshotError> {
        // Made only when it is needed, which is rarely.
        let failed_to =
            |action, path: &[u8], error: std::io::Error| SnapshotError::io(action, &self.root.path_of(path))(error);
        let dir = self.root.open_folder(&job.folder);
        let dir = dir.map_err(|error| failed_to("open the folder", &job.folder, error.into()))?;
        let _reading = self.objects.reading()?;
        let mut files = Vec::with_capacity(job.files.len());
        for NewFile { name, node, path } in &job.files {
            match node {
                Node::File { mode, size, id } => {
                    let mode = if self.keeps_set_id { *mode } else { mode & !SPECIAL_BITS };
                    let file = create(&dir, name, mode);
                    let mut file = file.map_err(|error| failed_to("create", path, error.into()))?;
                    let write = |bytes: &[u8]| file.write_all(bytes).map_err(|error| failed_to("write", path, error));
                    self.reader.contents(id, *size, path, write)?;
                    let stamp = finish(&file, mode).map_err(|error| failed_to("write", path, error.into()))?;
                    files.push((name.clone(), stamp, *id));
                }
                Node::Link { target } => {
                    make_link(&dir, name, target).map_err(|error| failed_to("write", path, error.into()))?;
                }
                Node::Folder { .. } => {}
            }
        }
        if let Some(mode) = job.mode {
            let set = set_mode(&dir, mode);
            set.map_err(|error| failed_to("set the permissions of", &job.folder, error.into()))?;
        }
        Ok(Stamped { folder: job.folder.clone(), tree: job.tree, files })
    }
}

/// A new file, with the permission bits it is to have as far as this process may give them by default.
fn create(dir: &OwnedFd, name: &[u8], mode: u16) -> Result<File, Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(u32::from(mode & !SPECIAL_BITS));
    openat(dir, os(name), flags, mode).map(File::from)
}

fn finish(file: &File, mode: u16) -> Result<Stamp, Errno> {
    let stamp = Stamp::of_stat(&fstat(file)?);
    if stamp.mode == mode {
        return Ok(stamp);
    }
    fchmod(file, Mode::from_raw_mode(u32::from(mode)))?;
    Ok(Stamp::of_stat(&fstat(file)?))
}

/// Makes a folder that only its owner may use so far.
pub(super) fn make_folder(dir: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    mkdirat(dir, os(name), Mode::from_raw_mode(0o700))
}

fn make_link(dir: impl AsFd, name: &[u8], target: &[u8]) -> Result<(), Errno> {
    symlinkat(os(target), dir, os(name))
}

/// Gives an open folder its permission bits.
pub(super) fn set_mode(dir: impl AsFd, mode: u16) -> Result<(), Errno> {
    fchmod(dir, Mode::from_raw_mode(u32::from(mode)))
}

/// A name or a target as the system takes it.
pub(super) fn os(bytes: &[u8]) -> &std::ffi::OsStr {
    std::ffi::OsStr::from_bytes(bytes)
}

/// The parent of a path, and its last name.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None => (b"", path),
    }
}

/// The jobs for a list of files in one folder, small enough to be shared out.
pub(super) fn jobs_in(folder: &[u8], files: Vec<NewFile>) -> Vec<Job> {
    const AT_ONCE: usize = 64;
    let tree = ObjectId::of(super::ids::Kind::Tree, &tree::encode(&[]));
    let mut jobs = Vec::new();
    let mut files = files.into_iter().peekable();
    while files.peek().is_some() {
        jobs.push(Job { folder: folder.to_vec(), tree, mode: None, files: files.by_ref().take(AT_ONCE).collect() });
    }
    jobs
}
