//! A wall around the engine: damaged files can make it panic, and damage is an error here, never a panic.

use crate::keyword::error::KeywordError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tantivy::TantivyError;

/// Runs `work` on the index in `folder`; what it panics with becomes damage.
pub(super) fn guarded<T>(folder: &Path, work: impl FnOnce() -> Result<T, TantivyError>) -> Result<T, KeywordError> {
    // Nothing of ours is left half-changed: the engine's readers are immutable, and a writer that panicked is not used again.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| KeywordError::engine(folder, error)),
        Err(panic) => {
            let what = panic.downcast_ref::<&str>().map(ToString::to_string);
            let what = what.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(KeywordError::damaged(folder, what))
        }
    }
}
