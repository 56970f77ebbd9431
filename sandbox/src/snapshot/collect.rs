//! Removing what no snapshot needs that is still wanted.

use std::collections::HashSet;
use std::time::Duration;

use super::closure;
use super::error::SnapshotError;
use super::ids::TreeId;
use super::objects::Objects;
use super::reader::Reader;
use super::stamp::Time;

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Collected {
    /// Objects removed.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects kept.
    pub kept: u64,
    /// Snapshots that are wanted but incomplete: something of them is missing or damaged. What is there of them is kept.
    pub incomplete: u64,
}

/// Removes what neither `live` needs nor any snapshot taken within the grace period. The caller holds the exclusive lock.
pub(super) fn collect(objects: &mut Objects, live: &[TreeId], grace: Duration) -> Result<Collected, SnapshotError> {
    let now_ms = i64::try_from(Time::now_ns() / 1_000_000).unwrap_or(i64::MAX);
    let grace_ms = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
    let recent = objects.roots_since(now_ms.saturating_sub(grace_ms))?;
    let mut kept = HashSet::new();
    let mut incomplete = 0;
    for id in live.iter().copied().chain(recent.into_iter().map(TreeId)) {
        let mut is_whole = true;
        let on_fault = |error| match error {
            SnapshotError::Missing { .. } | SnapshotError::Damaged { .. } => {
                is_whole = false;
                Ok(())
            }
            other => Err(other),
        };
        closure::walk(&Reader::new(objects, id), &mut kept, |_, _, _| Ok(true), on_fault)?;
        incomplete += u64::from(!is_whole);
    }
    let (removed, bytes) = objects.keep_only(&kept, now_ms)?;
    Ok(Collected { objects: removed, bytes, kept: kept.len() as u64, incomplete })
}
