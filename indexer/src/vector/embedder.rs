//! Texts to vectors, by a model on this machine.
//!
//! One text at a time may be at the model; a question goes ahead of the background's work and waits for at most one small
//! batch of it. Vectors have length one. Everything here blocks: call it where blocking is allowed.

use super::embed_error::{EmbedError, one_line};
use super::gist::{GIST_VERSION, MAX_GIST_TOKENS};
use super::model_choice::ModelChoice;
use super::model_files::ModelFiles;
use super::onnx_runtime;
use fastembed::{EmbeddingModel, InitOptionsUserDefined, TextEmbedding, TextInitOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many texts go to the model at once: more are not faster on a CPU, and keep a question waiting.
const BATCH: usize = 16;
/// The most bytes of a text that the tokenizer sees.
const MAX_TEXT_BYTES: usize = 4096;

/// How to open a model.
#[derive(Debug, Clone, Default)]
pub struct EmbedderOptions {
    /// Threads of one computation; 0 is one thread.
    pub threads: usize,
    /// The ONNX runtime's library, as `ORT_DYLIB_PATH` names it.
    pub runtime_library: Option<PathBuf>,
    /// Folders that may hold `libonnxruntime.so`, beside the model's own and the system's.
    pub library_folders: Vec<PathBuf>,
    /// Where a downloaded model is kept.
    pub download_folder: PathBuf,
}

/// A model that makes vectors of texts.
pub struct Embedder {
    model: Mutex<TextEmbedding>,
    /// Whoever holds it is the next to have the model.
    next: Mutex<()>,
    id: String,
    dimensions: usize,
}

impl std::fmt::Debug for Embedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedder").field("id", &self.id).field("dimensions", &self.dimensions).finish_non_exhaustive()
    }
}

impl Embedder {
    /// Opens the model that was chosen; `None` when none was. Takes some tenths of a second, and as long as a download.
    ///
    /// # Errors
    /// When the model or the ONNX runtime is missing, damaged, or something else.
    pub fn open(choice: &ModelChoice, options: &EmbedderOptions) -> Result<Option<Self>, EmbedError> {
        // Neither a damaged model nor a damaged tokenizer may end the process.
        let opened = catch_unwind(AssertUnwindSafe(|| match choice {
            ModelChoice::None => Ok(None),
            ModelChoice::Folder(folder) => Self::from_folder(folder, options).map(Some),
            ModelChoice::Download(name) => Self::from_download(name, options).map(Some),
        }));
        let name = || match choice {
            ModelChoice::None => String::new(),
            ModelChoice::Folder(folder) => folder.display().to_string(),
            ModelChoice::Download(name) => name.clone(),
        };
        opened.unwrap_or_else(|_| Err(EmbedError::Load { name: name(), reason: "its files are damaged".to_owned() }))
    }

    fn from_folder(folder: &Path, options: &EmbedderOptions) -> Result<Self, EmbedError> {
        let files = ModelFiles::read(folder)?;
        let id = format!("{}-g{GIST_VERSION}", files.hash());
        let mut folders = vec![folder.to_path_buf()];
        folders.extend(options.library_folders.iter().cloned());
        let environment = onnx_runtime::environment(options.runtime_library.as_deref(), &folders)?;
        let settings = InitOptionsUserDefined::new()
            .with_environment(environment)
            .with_max_length(MAX_GIST_TOKENS)
            .with_intra_threads(options.threads.max(1));
        let failed =
            |error: fastembed::Error| EmbedError::Load { name: folder.display().to_string(), reason: one_line(&error) };
        Self::checked(files.load(settings).map_err(failed)?, id)
    }

    fn from_download(name: &str, options: &EmbedderOptions) -> Result<Self, EmbedError> {
        let model: EmbeddingModel = name.parse().map_err(|_| EmbedError::UnknownModel(clean(name)))?;
        let environment = onnx_runtime::environment(options.runtime_library.as_deref(), &options.library_folders)?;
        let id = format!("{}-g{GIST_VERSION}", format!("{model:?}").to_ascii_lowercase());
        let settings = TextInitOptions::new(model)
            .with_environment(environment)
            .with_cache_dir(options.download_folder.clone())
            .with_show_download_progress(false)
            .with_max_length(MAX_GIST_TOKENS)
            .with_intra_threads(options.threads.max(1));
        let failed = |error: fastembed::Error| EmbedError::Load { name: clean(name), reason: one_line(&error) };
        Self::checked(TextEmbedding::try_new(settings).map_err(failed)?, id)
    }

    /// A model is taken when it makes a vector of a text.
    fn checked(model: TextEmbedding, id: String) -> Result<Self, EmbedError> {
        let mut embedder = Self { model: Mutex::new(model), next: Mutex::new(()), id, dimensions: 0 };
        let vector = embedder.query("a test of the model")?;
        embedder.dimensions = vector.len();
        if vector.is_empty() || vector.iter().all(|value| *value == 0.0) {
            return Err(EmbedError::Embed("its vectors are empty".to_owned()));
        }
        Ok(embedder)
    }

    /// The model's name, which changes when the model does, or what is given to it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How many numbers a vector has.
    #[must_use]
    pub const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The vectors of `texts`, in their order. For the background: a question goes ahead.
    ///
    /// # Errors
    /// When the model fails.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Texts of one length fill a batch without padding, and padding costs like text.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|index| texts.get(*index).map_or(0, String::len));
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in order.chunks(BATCH) {
            let cut: Vec<&str> = batch.iter().map(|index| texts.get(*index).map_or("", |text| head(text))).collect();
            for (index, vector) in batch.iter().zip(self.run(&cut)?) {
                if let Some(place) = vectors.get_mut(*index) {
                    *place = vector;
                }
            }
        }
        Ok(vectors)
    }

    /// The vector of a question.
    ///
    /// # Errors
    /// When the model fails.
    pub fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let vectors = self.run(&[head(text)])?;
        vectors.into_iter().next().ok_or_else(|| EmbedError::Embed("it gave no vector".to_owned()))
    }

    fn run(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Two locks make a queue: one batch is at the model, one caller is next, and it comes before the background's next batch.
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        drop(next);
        let made = catch_unwind(AssertUnwindSafe(|| model.embed(texts, Some(texts.len().max(1)))));
        drop(model);
        let vectors = match made {
            Ok(Ok(vectors)) => vectors,
            Ok(Err(error)) => return Err(EmbedError::Embed(one_line(&error))),
            Err(_) => return Err(EmbedError::Embed("it broke off".to_owned())),
        };
        let fits = |vector: &Vec<f32>| {
            (self.dimensions == 0 || vector.len() == self.dimensions) && vector.iter().all(|value| value.is_finite())
        };
        if vectors.len() != texts.len() || !vectors.iter().all(fits) {
            return Err(EmbedError::Embed("its vectors are not what they should be".to_owned()));
        }
        Ok(vectors)
    }
}

/// What the tokenizer sees of a text.
fn head(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// A name that somebody typed, fit for a message.
fn clean(name: &str) -> String {
    name.chars().filter(|char| !char.is_control()).take(80).collect()
}
