//! The typed view of one content block. Display and decisions read it; what goes back to the API is the raw text.

/// One content block as this program reads it; what goes back to the API is `content_json`, never this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
    },
    /// Thinking; the text may be empty while the signature is not.
    Thinking {
        /// The readable text.
        text: String,
        /// The opaque signature.
        signature: String,
    },
    /// Thinking that only the API can read.
    RedactedThinking {
        /// The opaque data.
        data: String,
    },
    /// A tool call.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The input: always the JSON text of an object, the same text that stands in `content_json`.
        input_json: String,
        /// What came instead of a JSON object, exactly; `input_json` is `{}` then and no tool may be run.
        broken_input: Option<String>,
    },
    /// A block of a kind this program does not interpret.
    Other {
        /// The block's `type`.
        kind: String,
        /// The block as raw JSON text.
        json: String,
    },
}
