//! What is known of an answer that was never finished.

use super::Usage;

/// What had arrived of an answer that was never finished. For people and for the books only: it is not sent back and no
/// tool is run from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The blocks so far, as the JSON text of an array; the last one may be cut.
    pub content_json: String,
    /// The usage reported so far; the real one may be higher.
    pub usage: Usage,
    /// The model that was answering, if the stream said so.
    pub model: Option<String>,
    /// The message's id, if the stream said so.
    pub message_id: Option<String>,
}
