//! Objects as they lie on the disk: compressed where that pays.

use super::super::ids::{Kind, ObjectId};
use super::MAX_OBJECT;

/// Fast enough not to be what a first snapshot waits for.
const LEVEL: i32 = 1;
/// Below this many bytes a row's own overhead is larger than what could be saved.
const WORTH_IT: usize = 64;

/// An object, ready to be stored or sent.
#[derive(Debug, Clone)]
pub(in super::super) struct Packed {
    pub(in super::super) id: ObjectId,
    pub(in super::super) kind: Kind,
    /// Its length unpacked, in bytes.
    pub(in super::super) length: usize,
    pub(in super::super) is_compressed: bool,
    pub(in super::super) data: Vec<u8>,
}

impl Packed {
    /// Packs bytes whose id is known.
    pub(in super::super) fn of(id: ObjectId, kind: Kind, bytes: &[u8]) -> Self {
        let compressed = if bytes.len() < WORTH_IT { None } else { zstd::bulk::compress(bytes, LEVEL).ok() };
        let smaller = compressed.filter(|compressed| compressed.len() + bytes.len() / 16 < bytes.len());
        let is_compressed = smaller.is_some();
        Self { id, kind, length: bytes.len(), is_compressed, data: smaller.unwrap_or_else(|| bytes.to_vec()) }
    }

    /// The bytes, if they are what the id says.
    pub(in super::super) fn unpack(self) -> Result<Vec<u8>, String> {
        if self.length > MAX_OBJECT {
            return Err(format!("says that it has {} bytes, which nothing here has", self.length));
        }
        let bytes = if self.is_compressed {
            zstd::bulk::decompress(&self.data, self.length).map_err(|error| format!("cannot be unpacked: {error}"))?
        } else {
            self.data
        };
        if bytes.len() == self.length && ObjectId::of(self.kind, &bytes) == self.id {
            Ok(bytes)
        } else {
            Err("has other contents than were stored".to_owned())
        }
    }
}
