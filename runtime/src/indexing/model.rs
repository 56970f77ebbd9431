//! The model for search by meaning, as the user's settings name it.

use crate::config::Config;
use retrace_indexer::{EmbedderOptions, IndexModel, ModelChoice};
use std::path::PathBuf;
use std::sync::Arc;

/// The model that is set; nothing is opened before it is needed.
#[must_use]
pub(crate) fn model_of(config: &Config) -> Arc<IndexModel> {
    let choice = ModelChoice::from_setting(config.values.embed_model.value.as_deref());
    let folder = config.folders.cache.join("model");
    let options = EmbedderOptions {
        threads: 1,
        runtime_library: std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from),
        library_folders: vec![folder.clone()],
        download_folder: folder,
    };
    Arc::new(IndexModel::new(choice, options))
}
