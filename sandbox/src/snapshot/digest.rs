//! Reading the files that are not known, several at once, and storing what is new of them.
//!
//! A file is read between two looks at it. If they differ, it was written meanwhile and is read again, a few times; after
//! that it is stored as it was read last, and said to be perhaps a mixture. Its stamp is then never relied upon.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use super::error::SnapshotError;
use super::folder::Folder;
use super::ids::{Kind, ObjectId};
use super::objects::{Objects, PIECE, Packed};
use super::stamp::Stamp;

/// How often a file is read that is being written.
const ATTEMPTS: u32 = 3;
/// How many objects may wait to be written: with the largest that bounds the memory.
const WAITING: usize = 32;
/// More than this many at once does not make one disk quicker.
const MAX_WORKERS: usize = 8;

/// What reading a file gave.
#[derive(Debug)]
pub(super) enum Digested {
    /// Its contents are stored.
    Stored { id: ObjectId, stamp: Stamp, is_stable: bool },
    /// It cannot be had: it is gone, or must not be read.
    Failed(Errno),
    /// It has become larger than allowed; so many bytes.
    TooLarge(u64),
}

enum Message {
    Object(Packed),
    Done(usize, Digested),
}

/// Reads the files at these paths and stores their contents; answers for each, and the bytes that were new.
pub(super) fn digest(
    workspace: &Folder,
    objects: &mut Objects,
    paths: &[Vec<u8>],
    max_bytes: u64,
) -> Result<(Vec<Option<Digested>>, u64), SnapshotError> {
    let mut results: Vec<Option<Digested>> = paths.iter().map(|_| None).collect();
    if paths.is_empty() {
        return Ok((results, 0));
    }
    let (sender, receiver) = sync_channel(WAITING);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS).min(paths.len());
    let readers = (0..workers).map(|_| objects.again()).collect::<Result<Vec<_>, _>>()?;
    let shared = Shared { workspace, paths, max_bytes, next: AtomicUsize::new(0), sent: Mutex::default() };
    let mut new_bytes = 0;
    std::thread::scope(|scope| {
        for reader in readers {
            let (shared, sender) = (&shared, sender.clone());
            scope.spawn(move || Worker { shared, reader, sender, buffer: Vec::new() }.run());
        }
        drop(sender);
        // When storing fails, the loop ends, the channel closes, and so do the workers.
        for message in receiver {
            match message? {
                Message::Object(packed) => new_bytes += objects.put(&packed)?,
                Message::Done(index, digested) => {
                    if let Some(result) = results.get_mut(index) {
                        *result = Some(digested);
                    }
                }
            }
        }
        Ok(())
    })?;
    Ok((results, new_bytes))
}

struct Shared<'a> {
    workspace: &'a Folder,
    paths: &'a [Vec<u8>],
    max_bytes: u64,
    next: AtomicUsize,
    /// Objects that are on their way.
    sent: Mutex<HashSet<ObjectId>>,
}

struct Worker<'a> {
    shared: &'a Shared<'a>,
    reader: Objects,
    sender: SyncSender<Result<Message, SnapshotError>>,
    /// A piece as its id names it: its kind's code and then its bytes.
    buffer: Vec<u8>,
}

/// The one who waits for the results is gone, or was told of an error.
struct Stop;

impl Worker<'_> {
    fn run(mut self) {
        let paths = self.shared.paths;
        loop {
            let index = self.shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(index) else { return };
            let Ok(digested) = self.file(path) else { return };
            if self.sender.send(Ok(Message::Done(index, digested))).is_err() {
                return;
            }
        }
    }

    fn file(&mut self, path: &[u8]) -> Result<Digested, Stop> {
        let mut last = Digested::Failed(Errno::NOENT);
        for _ in 0..ATTEMPTS {
            last = match self.read(path) {
                Ok(digested) => digested,
                Err(Trouble::System(errno)) => Digested::Failed(errno),
                Err(Trouble::Stop) => return Err(Stop),
            };
            if !matches!(last, Digested::Stored { is_stable: false, .. }) {
                break;
            }
        }
        Ok(last)
    }

    /// Reads a file once.
    fn read(&mut self, path: &[u8]) -> Result<Digested, Trouble> {
        let file = self.shared.workspace.open_file(path)?;
        let before = fstat(&file)?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Err(Errno::NOENT.into());
        }
        let stamp = Stamp::of_stat(&before);
        if stamp.size > self.shared.max_bytes {
            return Ok(Digested::TooLarge(stamp.size));
        }
        let mut file = File::from(file);
        let (id, size) = self.contents(&mut file)?;
        let after = Stamp::of_stat(&fstat(&file)?);
        let is_stable = stamp == after && size == after.size;
        Ok(Digested::Stored { id, stamp: Stamp { size, ..after }, is_stable })
    }

    /// Stores the contents; never more than is allowed, however quickly the file grows.
    fn contents(&mut self, file: &mut File) -> Result<(ObjectId, u64), Trouble> {
        let (mut pieces, mut size) = (Vec::new(), 0);
        loop {
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            buffer.push(Kind::Piece.code());
            let room = (self.shared.max_bytes - size).min(PIECE as u64);
            let read = file.by_ref().take(room).read_to_end(&mut buffer);
            if let Err(error) = read {
                return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO).into());
            }
            let length = buffer.len() - 1;
            size += length as u64;
            if length > 0 || pieces.is_empty() {
                pieces.push(self.store(Kind::Piece, &buffer)?);
            }
            self.buffer = buffer;
            if length < PIECE {
                break;
            }
        }
        match pieces.as_slice() {
            [piece] => Ok((*piece, size)),
            _ => {
                let mut list = vec![Kind::Pieces.code()];
                list.extend(pieces.iter().flat_map(|piece| *piece.as_bytes()));
                Ok((self.store(Kind::Pieces, &list)?, size))
            }
        }
    }

    /// Sends the object off to be written, if it is not there and not on its way. Its bytes stand behind its kind's code.
    fn store(&self, kind: Kind, framed: &[u8]) -> Result<ObjectId, Trouble> {
        let id = ObjectId::of_framed(framed);
        let is_known = match self.reader.has(&id) {
            Ok(is_known) => is_known,
            Err(error) => {
                let _ = self.sender.send(Err(error));
                return Err(Trouble::Stop);
            }
        };
        let is_new = !is_known && self.shared.sent.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        if is_new {
            let packed = self.reader.pack(id, kind, framed.get(1..).unwrap_or_default());
            self.sender.send(Ok(Message::Object(packed))).map_err(|_| Trouble::Stop)?;
        }
        Ok(id)
    }
}

enum Trouble {
    System(Errno),
    Stop,
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}
