//! A checkpoint's file: the hash of all that follows, by which code and of which event it is, and the packed bytes.
//!
//! Nothing is unpacked before the hash is found right. No byte of a file makes this panic or allocate beyond its bounds.

use super::fold_id::FoldId;
use retrace_events::Hash;
use retrace_events::codec::MAX_DERIVED_BYTES;
use std::io;

const MAGIC: [u8; 8] = *b"retrchk1";
const HASH_BYTES: usize = 32;
/// Where the packed bytes begin: hash, magic, code, event's hash and number, unpacked length.
const HEAD_BYTES: usize = HASH_BYTES + MAGIC.len() + FoldId::BYTES + HASH_BYTES + 8 + 8;
/// Quick, since this is done beside the work.
const LEVEL: i32 = 1;

/// The event that a checkpoint belongs to: the last one that was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its number in its own stream.
    pub(super) seq: u64,
    /// Its hash.
    pub(super) hash: Hash,
}

/// The file's bytes.
///
/// # Errors
/// When it cannot be packed.
pub(super) fn seal(fold: FoldId, mark: Mark, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let packed = zstd::bulk::compress(bytes, LEVEL)?;
    let mut sealed = Vec::with_capacity(HEAD_BYTES + packed.len());
    sealed.extend([0; HASH_BYTES]);
    sealed.extend(MAGIC);
    sealed.extend(fold.0);
    sealed.extend(mark.hash.as_bytes());
    sealed.extend(mark.seq.to_le_bytes());
    sealed.extend((bytes.len() as u64).to_le_bytes());
    sealed.extend(packed);
    let (checksum, rest) = sealed.split_at_mut(HASH_BYTES);
    checksum.copy_from_slice(blake3::hash(rest).as_bytes());
    Ok(sealed)
}

/// What was sealed by `fold` at `mark`; `None` when the file is broken, or is another one's.
pub(super) fn unseal(fold: FoldId, mark: Mark, sealed: &[u8]) -> Option<Vec<u8>> {
    let (checksum, rest) = sealed.split_first_chunk::<HASH_BYTES>()?;
    if blake3::hash(rest) != *checksum {
        return None;
    }
    let (magic, rest) = rest.split_first_chunk::<{ MAGIC.len() }>()?;
    let (code, rest) = rest.split_first_chunk::<{ FoldId::BYTES }>()?;
    let (hash, rest) = rest.split_first_chunk::<HASH_BYTES>()?;
    let (seq, rest) = rest.split_first_chunk::<8>()?;
    let (length, packed) = rest.split_first_chunk::<8>()?;
    let is_meant = *magic == MAGIC && *code == fold.0 && hash == mark.hash.as_bytes();
    if !is_meant || u64::from_le_bytes(*seq) != mark.seq {
        return None;
    }
    let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|length| *length <= MAX_DERIVED_BYTES)?;
    zstd::bulk::decompress(packed, length).ok().filter(|bytes| bytes.len() == length)
}
