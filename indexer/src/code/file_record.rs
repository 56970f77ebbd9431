//! What is remembered of each file, to see whether it was changed.

use super::chunking::CHUNKER_VERSION;
use super::root::FileStamp;
use super::skip::SkipReason;
use serde::{Deserialize, Serialize};

/// A file that was changed this shortly before it was read may be changed again without its stamp showing it: clocks of
/// file systems are coarse.
const RACY_NS: i64 = 2_000_000_000;

/// A file as it was indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    #[serde(rename = "s")]
    size_bytes: u64,
    #[serde(rename = "m")]
    modified_ns: i64,
    #[serde(rename = "c")]
    changed_ns: i64,
    /// The first half of the BLAKE3 hash of its bytes.
    #[serde(rename = "h")]
    hash: u128,
    /// The commit that brought its present content.
    #[serde(rename = "g")]
    pub(super) generation: u64,
    /// How many chunks it has.
    #[serde(rename = "n", default)]
    pub(super) chunks: u32,
    /// Why it has none.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub(super) skipped: Option<SkipReason>,
    /// The chunker's version.
    #[serde(rename = "v")]
    version: u32,
    /// Whether it was changed so shortly before it was read that its stamp proves nothing.
    #[serde(rename = "r", default, skip_serializing_if = "std::ops::Not::not")]
    is_racy: bool,
}

impl FileRecord {
    /// A file that was read at `read_at_ns`.
    pub(super) fn new(stamp: FileStamp, hash: u128, read_at_ns: i64) -> Self {
        Self {
            size_bytes: stamp.size_bytes,
            modified_ns: stamp.modified_ns,
            changed_ns: stamp.changed_ns,
            hash,
            generation: 0,
            chunks: 0,
            skipped: None,
            version: CHUNKER_VERSION,
            is_racy: stamp.changed_ns.max(stamp.modified_ns) > read_at_ns.saturating_sub(RACY_NS),
        }
    }

    /// Whether a file with this stamp is as it was, without reading it.
    pub(super) fn is_current(&self, stamp: FileStamp) -> bool {
        self.version == CHUNKER_VERSION && !self.is_racy && self.stamp() == stamp
    }

    /// Whether it has the content, the chunker, and the time that its documents were made of.
    pub(super) fn has_same_documents(&self, other: &Self) -> bool {
        self.has_same_content(other) && self.stamp().modified_ms() == other.stamp().modified_ms()
    }

    /// Whether it has the same chunks.
    pub(super) fn has_same_content(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.size_bytes == other.size_bytes
            && self.version == other.version
            && self.skipped == other.skipped
    }

    /// Whether it was read later than the other.
    pub(super) fn is_newer_than(&self, other: &Self) -> bool {
        self.changed_ns > other.changed_ns
    }

    pub(super) const fn stamp(&self) -> FileStamp {
        FileStamp { size_bytes: self.size_bytes, modified_ns: self.modified_ns, changed_ns: self.changed_ns }
    }

    #[cfg(test)]
    pub(super) fn of_version(self, version: u32) -> Self {
        Self { version, ..self }
    }
}
