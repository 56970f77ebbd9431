//! Objects as they lie on the disk: compressed where that pays.

use std::fmt;

use super::super::ids::{Kind, ObjectId};
use super::{MAX_OBJECT, PIECE};

/// Fast enough not to be what a first snapshot waits for.
const LEVEL: i32 = 1;
/// Below this many bytes a row's own overhead is larger than what could be saved.
const WORTH_IT: usize = 64;
/// Memory for an object larger than this is given back at once, in bytes.
const KEPT: usize = 4 * PIECE;

/// An object, ready to be stored or sent; or, with its data elsewhere, as it was found.
#[derive(Debug, Clone)]
pub(in super::super) struct Packed<D = Vec<u8>> {
    pub(in super::super) id: ObjectId,
    pub(in super::super) kind: Kind,
    /// Its length unpacked, in bytes.
    pub(in super::super) length: usize,
    pub(in super::super) is_compressed: bool,
    pub(in super::super) data: D,
}

/// Packs and unpacks one object after the other, with memory that is taken once.
pub(in super::super) struct Packer {
    compressor: Option<zstd::bulk::Compressor<'static>>,
    decompressor: zstd::bulk::Decompressor<'static>,
    /// An object as its id names it: the kind's code and then the bytes. As long as the longest one so far.
    framed: Vec<u8>,
}

impl Packer {
    pub(in super::super) fn new() -> Self {
        // Without a compressor nothing is compressed.
        let compressor = zstd::bulk::Compressor::new(LEVEL).ok();
        Self { compressor, decompressor: zstd::bulk::Decompressor::default(), framed: Vec::new() }
    }

    /// Packs bytes whose id is known.
    pub(in super::super) fn pack(&mut self, id: ObjectId, kind: Kind, bytes: &[u8]) -> Packed {
        let compressor = self.compressor.as_mut().filter(|_| bytes.len() >= WORTH_IT);
        let compressed = compressor.and_then(|compressor| compressor.compress(bytes).ok());
        let smaller = compressed.filter(|compressed| compressed.len() + bytes.len() / 16 < bytes.len());
        let is_compressed = smaller.is_some();
        Packed { id, kind, length: bytes.len(), is_compressed, data: smaller.unwrap_or_else(|| bytes.to_vec()) }
    }

    /// Hands over the object's bytes, if they are what the id says.
    pub(in super::super) fn unpack<T>(
        &mut self,
        packed: &Packed<impl AsRef<[u8]>>,
        work: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, String> {
        let (length, data) = (packed.length, packed.data.as_ref());
        if length > MAX_OBJECT {
            return Err(format!("says that it has {length} bytes, which nothing here has"));
        }
        if self.framed.len() <= length {
            self.framed.resize(1 + length, 0);
        }
        let done =
            self.fill(packed.kind, length, packed.is_compressed, data).and_then(|framed| match framed.split_first() {
                Some((_, bytes)) if ObjectId::of_framed(framed) == packed.id => Ok(work(bytes)),
                _ => Err(other_contents()),
            });
        if self.framed.len() > KEPT {
            self.framed = Vec::new();
        }
        done
    }

    fn fill(&mut self, kind: Kind, length: usize, is_compressed: bool, data: &[u8]) -> Result<&[u8], String> {
        let framed = self.framed.get_mut(..=length).ok_or_else(other_contents)?;
        let (code, bytes) = framed.split_first_mut().ok_or_else(other_contents)?;
        *code = kind.code();
        if is_compressed {
            let unpacked = self.decompressor.decompress_to_buffer(data, bytes);
            if unpacked.map_err(|error| format!("cannot be unpacked: {error}"))? != length {
                return Err(other_contents());
            }
        } else if data.len() == length {
            bytes.copy_from_slice(data);
        } else {
            return Err(other_contents());
        }
        Ok(framed)
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

fn other_contents() -> String {
    "has other contents than were stored".to_owned()
}
