//! Why there are no embeddings: each is one line, and each leaves search by keyword as it is.

use std::path::PathBuf;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The folder of the model, or a file in it, is not there or cannot be read.
    #[error("{what} {} cannot be read; hint: RETRACE_EMBED_MODEL names a folder with model.onnx and tokenizer.json", path.display())]
    Unreadable {
        /// What it is.
        what: &'static str,
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file that cannot be what its name says.
    #[error("{} is damaged or not a model file: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No ONNX runtime was found.
    #[error(
        "no libonnxruntime.so found; hint: put version 1.24 or newer beside the model, or name it in ORT_DYLIB_PATH"
    )]
    NoRuntime,
    /// The ONNX runtime cannot be loaded.
    #[error("the ONNX runtime {} cannot be used: {reason}", path.display())]
    Runtime {
        /// The library.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A name that no model has.
    #[error("there is no embedding model '{0}'; hint: give a folder, or a name such as AllMiniLML6V2Q")]
    UnknownModel(String),
    /// The model could not be downloaded or loaded.
    #[error("the embedding model '{name}' cannot be loaded: {reason}")]
    Load {
        /// The model.
        name: String,
        /// What the library said.
        reason: String,
    },
    /// The model failed on a text.
    #[error("the embedding model failed: {0}")]
    Embed(String),
}

/// The first line of what a library says, since its messages are read in one.
pub(super) fn one_line(error: &dyn std::fmt::Display) -> String {
    const MAX_CHARS: usize = 300;
    let text = error.to_string();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown error");
    line.chars().filter(|char| !char.is_control()).take(MAX_CHARS).collect()
}
