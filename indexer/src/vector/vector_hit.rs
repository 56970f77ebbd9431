//! What a search finds, read from the store's columns.

use super::vector_error::VectorError;
use super::vector_filter::PathRest;
use crate::document::DocumentKind;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Int64Type, UInt8Type, UInt64Type};
use arrow_array::{Array as _, RecordBatch};
use std::path::Path;

/// The columns that a hit is made of.
pub(super) const HIT_COLUMNS: [&str; 9] =
    ["key", "kind", "stream", "position", "ordinal", "at_ms", "is_error", "paths", "_distance"];

/// A document whose gist is near to the question.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorHit {
    /// The document's key.
    pub key: String,
    /// What it is.
    pub kind: DocumentKind,
    /// The session's stream; empty for code.
    pub stream: String,
    /// Where the event stands in the log; 0 for code.
    pub position: u64,
    /// Its place in the session.
    pub ordinal: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// The cosine of the angle between the two vectors: 1 for the same direction, about 0 for nothing in common.
    pub similarity: f32,
}

/// Reads the hits of one batch that pass what the store could not decide.
///
/// # Errors
/// When a column is missing or of another type: the table is not one of ours.
pub(super) fn hits(batch: &RecordBatch, rest: &PathRest, folder: &Path) -> Result<Vec<VectorHit>, VectorError> {
    let column = |name: &str| {
        batch.column_by_name(name).ok_or_else(|| VectorError::damaged(folder, format!("there is no column '{name}'")))
    };
    let wrong = || VectorError::damaged(folder, "a column has another type than it was made with");
    let keys = column("key")?.as_string_opt::<i32>().ok_or_else(wrong)?;
    let kinds = column("kind")?.as_primitive_opt::<UInt8Type>().ok_or_else(wrong)?;
    let streams = column("stream")?.as_string_opt::<i32>().ok_or_else(wrong)?;
    let positions = column("position")?.as_primitive_opt::<UInt64Type>().ok_or_else(wrong)?;
    let ordinals = column("ordinal")?.as_primitive_opt::<UInt64Type>().ok_or_else(wrong)?;
    let times = column("at_ms")?.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
    let failures = column("is_error")?.as_boolean_opt().ok_or_else(wrong)?;
    let paths = column("paths")?.as_string_opt::<i32>().ok_or_else(wrong)?;
    let distances = column("_distance")?.as_primitive_opt::<Float32Type>().ok_or_else(wrong)?;
    let mut hits = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        if !rest.is_empty() && !rest.accepts(paths.value(row)) {
            continue;
        }
        let distance = if distances.is_null(row) { f32::MAX } else { distances.value(row) };
        let Some(kind) = DocumentKind::of_code(u64::from(kinds.value(row))) else { continue };
        hits.push(VectorHit {
            key: keys.value(row).to_owned(),
            kind,
            stream: streams.value(row).to_owned(),
            position: positions.value(row),
            ordinal: ordinals.value(row),
            at_ms: times.value(row),
            is_error: failures.value(row),
            similarity: cosine(distance),
        });
    }
    Ok(hits)
}

/// The cosine between two vectors of length one whose squared distance this is.
fn cosine(squared_distance: f32) -> f32 {
    (1.0 - squared_distance / 2.0).clamp(-1.0, 1.0)
}
