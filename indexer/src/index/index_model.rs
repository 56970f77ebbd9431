//! The embedding model of a process: opened when it is first needed, once, and asked to say only once why it cannot be.

use crate::vector::{Embedder, EmbedderOptions, ModelChoice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::OnceCell;

/// The model that was chosen, opened or not.
#[derive(Debug, Default)]
pub struct IndexModel {
    choice: ModelChoice,
    options: EmbedderOptions,
    opened: OnceCell<Result<Option<Arc<Embedder>>, String>>,
    told: AtomicBool,
}

impl IndexModel {
    /// The model `choice`; nothing is opened yet.
    #[must_use]
    pub fn new(choice: ModelChoice, options: EmbedderOptions) -> Self {
        Self { choice, options, ..Self::default() }
    }

    /// Whether one was chosen.
    #[must_use]
    pub fn is_chosen(&self) -> bool {
        self.choice != ModelChoice::None
    }

    /// The model. The first call takes some tenths of a second, on a thread that may block.
    ///
    /// # Errors
    /// Why it cannot be used, in one line; the same each time.
    pub async fn embedder(&self) -> Result<Option<Arc<Embedder>>, String> {
        let open = || async {
            let (choice, options) = (self.choice.clone(), self.options.clone());
            match tokio::task::spawn_blocking(move || Embedder::open(&choice, &options)).await {
                Ok(Ok(embedder)) => Ok(embedder.map(Arc::new)),
                Ok(Err(error)) => Err(error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        };
        self.opened.get_or_init(open).await.clone()
    }

    /// Whether this is the first time that somebody is to be told of a failure.
    pub(super) fn tells_now(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }
}
