//! The stored form of a folder and of a snapshot.
//!
//! There is one way to write a folder down: entries in the order of their names' bytes, every field of fixed form. So
//! equal folders have equal ids. Reading is strict: a name that could lead anywhere but into its own folder, a second
//! entry of the same name, an unknown bit or a byte too many is refused, because trees also come from other hosts.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::ids::ObjectId;

const VERSION: u8 = 1;
const FILE: u8 = 1;
const LINK: u8 = 2;
const FOLDER: u8 = 3;
/// The longest name of a file on Linux, in bytes.
const MAX_NAME: usize = 255;
/// The longest target of a link, in bytes: `PATH_MAX` without its zero.
pub(super) const MAX_TARGET: usize = 4_095;
/// Permission bits, and the three special ones.
pub(super) const MODE_BITS: u16 = 0o7777;

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// A regular file. One of up to a piece's length is that piece; a larger one is a list of pieces.
    File { mode: u16, size: u64, id: ObjectId },
    /// A symbolic link, as it is written.
    Link { target: Vec<u8> },
    /// A folder.
    Folder { mode: u16, id: ObjectId },
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) node: Node,
}

/// Writes a folder down. The entries are in order and have valid names.
pub(super) fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + entries.len() * 64);
    out.push(VERSION);
    for Entry { name, node } in entries {
        let (kind, mode) = match node {
            Node::File { mode, .. } => (FILE, *mode),
            Node::Link { .. } => (LINK, 0),
            Node::Folder { mode, .. } => (FOLDER, *mode),
        };
        out.push(kind);
        out.extend(mode.to_le_bytes());
        out.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        out.extend(name);
        match node {
            Node::File { size, id, .. } => {
                out.extend(size.to_le_bytes());
                out.extend(id.as_bytes());
            }
            Node::Link { target } => {
                out.extend(u16::try_from(target.len()).unwrap_or(u16::MAX).to_le_bytes());
                out.extend(target);
            }
            Node::Folder { id, .. } => out.extend(id.as_bytes()),
        }
    }
    out
}

/// Reads a folder, strictly.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let mut input = Input(bytes);
    if input.take::<1>()? != [VERSION] {
        return Err("has an unknown form".to_owned());
    }
    let mut entries: Vec<Entry> = Vec::new();
    while !input.0.is_empty() {
        let [kind] = input.take()?;
        let mode = u16::from_le_bytes(input.take()?);
        let [length] = input.take()?;
        let name = input.slice(usize::from(length))?.to_vec();
        check_name(&name)?;
        if mode & !MODE_BITS != 0 || (kind == LINK && mode != 0) {
            return Err(format!("has impossible permission bits {mode:o}"));
        }
        if entries.last().is_some_and(|last| last.name >= name) {
            return Err("names an entry twice or out of order".to_owned());
        }
        let node = match kind {
            FILE => Node::File { mode, size: u64::from_le_bytes(input.take()?), id: input.id()? },
            LINK => Node::Link { target: target(&mut input)? },
            FOLDER => Node::Folder { mode, id: input.id()? },
            _ => return Err(format!("has an entry of unknown kind {kind}")),
        };
        entries.push(Entry { name, node });
    }
    Ok(entries)
}

/// Whether a name stays in its folder.
pub(super) fn check_name(name: &[u8]) -> Result<(), String> {
    let is_plain = !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && !name.contains(&0);
    if is_plain && name.len() <= MAX_NAME {
        Ok(())
    } else {
        Err(format!("has an entry named {:?}, which is no file name", OsStr::from_bytes(name)))
    }
}

fn target(input: &mut Input<'_>) -> Result<Vec<u8>, String> {
    let length = usize::from(u16::from_le_bytes(input.take()?));
    let target = input.slice(length)?;
    if target.is_empty() || target.len() > MAX_TARGET || target.contains(&0) {
        return Err("has a link with an impossible target".to_owned());
    }
    Ok(target.to_vec())
}

/// A whole snapshot: the permission bits of the workspace itself, and its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Root {
    pub(super) mode: u16,
    pub(super) tree: ObjectId,
}

impl Root {
    pub(super) fn encode(self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend(self.mode.to_le_bytes());
        out.extend(self.tree.as_bytes());
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let mut input = Input(bytes);
        if input.take::<1>()? != [VERSION] {
            return Err("has an unknown form".to_owned());
        }
        let root = Self { mode: u16::from_le_bytes(input.take()?), tree: input.id()? };
        if root.mode & !MODE_BITS != 0 || !input.0.is_empty() {
            return Err("has impossible fields".to_owned());
        }
        Ok(root)
    }
}

/// The ids in a list of pieces.
pub(super) fn decode_pieces(bytes: &[u8]) -> Result<Vec<ObjectId>, String> {
    let ids: Option<Vec<_>> = bytes.chunks(ObjectId::LEN).map(ObjectId::from_slice).collect();
    ids.ok_or_else(|| "ends in the middle of an id".to_owned())
}

/// A path of a snapshot with one more name; paths are relative, `/` between names, empty for the root.
pub(super) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend(folder);
    if !folder.is_empty() {
        path.push(b'/');
    }
    path.extend(name);
    path
}

/// The same as a path for people and for the system.
pub(super) fn to_path(path: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(if path.is_empty() { b"." } else { path }))
}

/// What is left to read.
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn slice(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (head, tail) = self.0.split_at_checked(length).ok_or("ends too early")?;
        self.0 = tail;
        Ok(head)
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or("ends too early")?;
        self.0 = tail;
        Ok(*head)
    }

    pub(super) fn id(&mut self) -> Result<ObjectId, String> {
        self.slice(ObjectId::LEN)
            .and_then(|bytes| ObjectId::from_slice(bytes).ok_or_else(|| "ends too early".to_owned()))
    }
}
