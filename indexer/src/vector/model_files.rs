//! The files of a model in a folder of the user's: read whole, bounded in size, and named by their hash.

use super::embed_error::EmbedError;
use fastembed::{InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The largest model that is read into memory.
const MAX_MODEL_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// The largest of its other files.
const MAX_TEXT_BYTES: u64 = 64 * 1024 * 1024;
/// How many hex digits of the hash name a model.
const ID_DIGITS: usize = 16;

/// The files of a model, in memory.
pub(super) struct ModelFiles {
    onnx: Vec<u8>,
    tokenizer: TokenizerFiles,
    pooling: Pooling,
    hash: String,
}

impl ModelFiles {
    /// Reads the model in `folder`.
    ///
    /// # Errors
    /// When a file is missing, cannot be read, or is too large or too small to be what it should be.
    pub(super) fn read(folder: &Path) -> Result<Self, EmbedError> {
        let onnx = read_file(&folder.join("model.onnx"), MAX_MODEL_BYTES)?;
        let tokenizer = TokenizerFiles {
            tokenizer_file: read_json(&folder.join("tokenizer.json"))?,
            config_file: read_json(&folder.join("config.json"))?,
            special_tokens_map_file: read_json(&folder.join("special_tokens_map.json"))?,
            tokenizer_config_file: read_json(&folder.join("tokenizer_config.json"))?,
        };
        let mut hasher = blake3::Hasher::new();
        for part in [&onnx, &tokenizer.tokenizer_file, &tokenizer.config_file, &tokenizer.tokenizer_config_file] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut hash = hasher.finalize().to_hex().to_string();
        hash.truncate(ID_DIGITS);
        Ok(Self { onnx, tokenizer, pooling: pooling_in(folder), hash })
    }

    /// A name that another model does not have.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// Loads the model.
    pub(super) fn load(self, options: InitOptionsUserDefined) -> Result<TextEmbedding, fastembed::Error> {
        let model = UserDefinedEmbeddingModel::new(self.onnx, self.tokenizer).with_pooling(self.pooling);
        TextEmbedding::try_new_from_user_defined(model, options)
    }
}

/// How the model's tokens become one vector: as `1_Pooling/config.json` says, otherwise their mean, as nearly all sentence
/// models want it.
fn pooling_in(folder: &Path) -> Pooling {
    let config = read_json(&folder.join("1_Pooling/config.json")).ok();
    let config: Option<serde_json::Value> = config.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match config.and_then(|config| config.get("pooling_mode_cls_token").and_then(serde_json::Value::as_bool)) {
        Some(true) => Pooling::Cls,
        Some(false) | None => Pooling::Mean,
    }
}

fn read_json(path: &Path) -> Result<Vec<u8>, EmbedError> {
    let bytes = read_file(path, MAX_TEXT_BYTES)?;
    match serde_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(EmbedError::Damaged { path: path.to_path_buf(), reason: error.to_string() }),
    }
}

fn read_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, EmbedError> {
    let failed = |source| EmbedError::Unreadable { what: "the model's file", path: path.to_path_buf(), source };
    let damaged = |reason: &str| EmbedError::Damaged { path: path.to_path_buf(), reason: reason.to_owned() };
    let file = File::open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(damaged("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.is_empty() {
        return Err(damaged("it is empty"));
    }
    if bytes.len() as u64 > max_bytes {
        return Err(damaged("it is too large"));
    }
    Ok(bytes)
}
