//! The names of what is stored.

use std::fmt;
use std::str::FromStr;

use super::error::SnapshotError;

/// What an object is; part of what its id is made of, so that a file can never pass for a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A piece of a file's contents.
    Piece,
    /// The ids of the pieces of a large file.
    Pieces,
    /// A folder's entries.
    Tree,
    /// A whole snapshot: the workspace's own permission bits and its tree.
    Root,
}

impl Kind {
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Piece => 1,
            Self::Pieces => 2,
            Self::Tree => 3,
            Self::Root => 4,
        }
    }

    pub(super) const fn of_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Piece),
            2 => Some(Self::Pieces),
            3 => Some(Self::Tree),
            4 => Some(Self::Root),
            _ => None,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Piece => "file contents",
            Self::Pieces => "list of a large file",
            Self::Tree => "folder",
            Self::Root => "snapshot",
        }
    }
}

/// The BLAKE3 hash of an object's kind and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ObjectId([u8; 32]);

impl ObjectId {
    pub(super) const LEN: usize = 32;

    pub(super) fn of(kind: Kind, bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[kind.code()]);
        hasher.update(bytes);
        Self(*hasher.finalize().as_bytes())
    }

    /// The id of the object that is `framed`: its kind's code and then its bytes. In one piece they are hashed in half the
    /// time.
    pub(super) fn of_framed(framed: &[u8]) -> Self {
        Self(*blake3::hash(framed).as_bytes())
    }

    pub(super) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(super) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The name of a whole snapshot: equal names mean equal trees, byte for byte and mode for mode. Shown and parsed as 64
/// hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeId(pub(super) ObjectId);

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for TreeId {
    type Err = SnapshotError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hash = blake3::Hash::from_hex(text)
            .map_err(|_| SnapshotError::NotAnId { text: text.chars().take(80).collect() })?;
        Ok(Self(ObjectId(*hash.as_bytes())))
    }
}
