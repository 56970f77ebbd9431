//! (being written) the JetStream log.

mod nats_options;

pub use nats_options::NatsOptions;

use super::{EventLog, LogError};

/// The JetStream log.
#[derive(Debug)]
pub struct NatsLog {}

impl NatsLog {
    /// Connects.
    ///
    /// # Errors
    /// Always, for now.
    pub async fn connect(options: &NatsOptions) -> Result<super::MemoryLog, LogError> {
        Err(LogError::Unfit { location: options.to_string(), why: "being written".to_owned() })
    }
}
