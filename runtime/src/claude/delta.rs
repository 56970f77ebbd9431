//! The pieces of an answer that a reader sees while it streams.

/// What a reader sees of an answer while it streams. Display only; never the source of what is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More text in the block at `index`.
    Text {
        /// The block.
        index: u64,
        /// The new text.
        text: String,
    },
    /// More thinking in the block at `index`.
    Thinking {
        /// The block.
        index: u64,
        /// The new text.
        text: String,
    },
    /// A tool call begins.
    ToolStart {
        /// The block.
        index: u64,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a tool call's input.
    ToolInput {
        /// The block.
        index: u64,
        /// A piece of JSON text.
        partial_json: String,
    },
    /// The block at `index` is complete.
    BlockStop {
        /// The block.
        index: u64,
    },
}
