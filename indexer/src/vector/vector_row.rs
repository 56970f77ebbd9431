//! One row of the table: the vector of a gist, and what a search filters by. The text itself is in the keyword index.
//!
//! Tools, sessions and paths are stored as filters compare them: in lower case, a path as `/its/components/`, and one path in
//! each line.

use super::vector_error::VectorError;
use crate::document::{Document, DocumentKind};
use arrow_array::types::Float32Type;
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Int64Array, RecordBatch, StringArray, UInt8Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::path::Path;
use std::sync::Arc;

/// The name of the column with the vectors.
pub(super) const VECTOR: &str = "vector";
/// How many paths of a document are kept for filters.
const MAX_PATHS: usize = 256;

/// What is stored of one document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VectorRow {
    /// The document's key.
    pub(super) key: String,
    /// What it is.
    pub(super) kind: DocumentKind,
    /// The session's stream; empty for code.
    stream: String,
    /// The session's id behind a line break; empty for code.
    session: String,
    workspace: String,
    tool: Option<String>,
    paths: String,
    /// For code, the file exactly as its index names it.
    file: String,
    position: u64,
    ordinal: u64,
    at_ms: i64,
    exit: Option<i64>,
    is_error: bool,
    /// For code, the version of the file; empty otherwise.
    revision: String,
    /// The vector of its gist, of length one.
    vector: Vec<f32>,
}

impl VectorRow {
    /// The row of `document`, whose gist has this `vector`.
    pub(super) fn of(document: &Document, revision: &str, vector: Vec<f32>) -> Self {
        let id = document.stream.rsplit('.').next().filter(|id| !id.is_empty());
        let file = document.paths.first().filter(|_| document.kind == DocumentKind::Code);
        Self {
            key: document.key.clone(),
            kind: document.kind,
            stream: document.stream.clone(),
            session: id.map(|id| format!("\n{}", id.to_ascii_lowercase())).unwrap_or_default(),
            workspace: document.workspace.clone(),
            tool: document.tool.as_deref().map(str::to_ascii_lowercase),
            paths: stored_paths(&document.paths),
            file: file.cloned().unwrap_or_default(),
            position: document.position,
            ordinal: document.ordinal,
            at_ms: document.at_ms,
            exit: document.exit,
            is_error: document.is_error,
            revision: revision.to_owned(),
            vector,
        }
    }
}

fn stored_paths(paths: &[String]) -> String {
    paths.iter().take(MAX_PATHS).map(|path| stored_path(path)).collect::<Vec<_>>().join("\n")
}

/// A path, or a run of a path's components, so that the one can be looked for in the other: `/src/main.rs/`.
pub(super) fn stored_path(path: &str) -> String {
    let mut stored = String::from("/");
    for component in path.split('/').filter(|component| !component.is_empty() && *component != ".") {
        // A line break would end the path.
        stored.push_str(&component.to_lowercase().replace(['\n', '\r'], " "));
        stored.push('/');
    }
    stored
}

/// The columns of a table whose vectors have this many numbers.
pub(super) fn schema(dimensions: usize) -> SchemaRef {
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let dimensions = i32::try_from(dimensions).unwrap_or(i32::MAX);
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("kind", DataType::UInt8, false),
        Field::new("stream", DataType::Utf8, false),
        Field::new("session", DataType::Utf8, false),
        Field::new("workspace", DataType::Utf8, false),
        Field::new("tool", DataType::Utf8, true),
        Field::new("paths", DataType::Utf8, false),
        Field::new("file", DataType::Utf8, false),
        Field::new("position", DataType::UInt64, false),
        Field::new("ordinal", DataType::UInt64, false),
        Field::new("at_ms", DataType::Int64, false),
        Field::new("exit", DataType::Int64, true),
        Field::new("is_error", DataType::Boolean, false),
        Field::new("revision", DataType::Utf8, false),
        Field::new(VECTOR, DataType::FixedSizeList(item, dimensions), false),
    ]))
}

/// The rows as the store takes them.
///
/// # Errors
/// When a vector has another length than the table's.
pub(super) fn batch(rows: &[VectorRow], dimensions: usize, folder: &Path) -> Result<RecordBatch, VectorError> {
    if let Some(row) = rows.iter().find(|row| row.vector.len() != dimensions) {
        return Err(VectorError::Dimensions { wanted: dimensions, found: row.vector.len() });
    }
    let length = i32::try_from(dimensions).unwrap_or(i32::MAX);
    let vectors = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(
        rows.iter().map(|row| Some(row.vector.iter().map(|value| Some(*value)).collect::<Vec<_>>())),
        length,
    );
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.key))),
        Arc::new(UInt8Array::from_iter_values(rows.iter().map(|row| kind_code(row.kind)))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.stream))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.session))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.workspace))),
        Arc::new(StringArray::from_iter(rows.iter().map(|row| row.tool.as_deref()))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.paths))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.file))),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.position))),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.ordinal))),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.at_ms))),
        Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.exit))),
        Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.is_error)))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.revision))),
        Arc::new(vectors),
    ];
    RecordBatch::try_new(schema(dimensions), columns).map_err(|error| VectorError::damaged(folder, error))
}

/// The number a kind is stored as.
pub(super) fn kind_code(kind: DocumentKind) -> u8 {
    u8::try_from(kind.code()).unwrap_or(u8::MAX)
}
