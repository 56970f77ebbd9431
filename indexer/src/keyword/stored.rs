//! A document as the engine stores it, and back.

use crate::document::{Document, DocumentKind};
use crate::keyword::schema::{Fields, RECORD_KIND};
use tantivy::TantivyDocument;
use tantivy::schema::Value;
use tantivy::schema::document::CompactDocValue;

/// What the engine is given for a document.
pub(super) fn to_stored(document: &Document, fields: &Fields) -> TantivyDocument {
    let mut stored = TantivyDocument::with_capacity(document.text.len() + 512);
    stored.add_text(fields.key, &document.key);
    stored.add_u64(fields.kind, document.kind.code());
    add_if_any(&mut stored, fields.stream, &document.stream);
    add_if_any(&mut stored, fields.workspace, &document.workspace);
    add_if_any(&mut stored, fields.event, &document.event);
    if let Some(tool) = &document.tool {
        stored.add_text(fields.tool, tool);
    }
    for path in &document.paths {
        stored.add_text(fields.path, path);
        stored.add_text(fields.path_words, path);
        stored.add_text(fields.path_parts, path);
    }
    if let Some(symbol) = &document.symbol {
        stored.add_text(fields.symbol, symbol);
    }
    stored.add_text(fields.text, &document.text);
    stored.add_i64(fields.at_ms, document.at_ms);
    stored.add_u64(fields.position, document.position);
    stored.add_u64(fields.ordinal, document.ordinal);
    if let Some(exit) = document.exit {
        stored.add_i64(fields.exit, exit);
    }
    let numbers = [
        (fields.seq, document.seq),
        (fields.part, document.part.into()),
        (fields.step, document.step),
        (fields.first_line, document.first_line.into()),
        (fields.last_line, document.last_line.into()),
    ];
    for (field, number) in numbers.into_iter().filter(|(_, number)| *number != 0) {
        stored.add_u64(field, number);
    }
    if document.is_error {
        stored.add_bool(fields.is_error, true);
    }
    stored
}

/// What the engine is given for a record: nothing in it can be found by a search.
pub(super) fn to_record(key: &str, value: &[u8], fields: &Fields) -> TantivyDocument {
    let mut stored = TantivyDocument::with_capacity(value.len() + 64);
    stored.add_text(fields.record_key, key);
    stored.add_u64(fields.kind, RECORD_KIND);
    stored.add_bytes(fields.record, value);
    stored
}

/// The document again; `None` for what is not one.
pub(super) fn from_stored(stored: &TantivyDocument, fields: &Fields) -> Option<Document> {
    let mut document = Document::default();
    let mut kind = None;
    for (field, value) in stored.field_values() {
        match field {
            field if field == fields.key => document.key = text(value)?,
            field if field == fields.kind => kind = DocumentKind::of_code(value.as_u64()?),
            field if field == fields.stream => document.stream = text(value)?,
            field if field == fields.workspace => document.workspace = text(value)?,
            field if field == fields.event => document.event = text(value)?,
            field if field == fields.tool => document.tool = Some(text(value)?),
            field if field == fields.path => document.paths.push(text(value)?),
            field if field == fields.symbol => document.symbol = Some(text(value)?),
            field if field == fields.text => document.text = text(value)?,
            field if field == fields.at_ms => document.at_ms = value.as_i64()?,
            field if field == fields.position => document.position = value.as_u64()?,
            field if field == fields.ordinal => document.ordinal = value.as_u64()?,
            field if field == fields.exit => document.exit = Some(value.as_i64()?),
            field if field == fields.seq => document.seq = value.as_u64()?,
            field if field == fields.part => document.part = u32::try_from(value.as_u64()?).ok()?,
            field if field == fields.step => document.step = value.as_u64()?,
            field if field == fields.first_line => document.first_line = u32::try_from(value.as_u64()?).ok()?,
            field if field == fields.last_line => document.last_line = u32::try_from(value.as_u64()?).ok()?,
            field if field == fields.is_error => document.is_error = value.as_bool()?,
            _ => {}
        }
    }
    document.kind = kind?;
    Some(document)
}

fn add_if_any(stored: &mut TantivyDocument, field: tantivy::schema::Field, value: &str) {
    if !value.is_empty() {
        stored.add_text(field, value);
    }
}

fn text(value: CompactDocValue<'_>) -> Option<String> {
    value.as_str().map(str::to_owned)
}
