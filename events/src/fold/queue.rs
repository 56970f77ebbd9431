//! Prompts that wait for the present turn to end.

use super::transcript::Image;
use crate::id::EventId;
use crate::payload::turn::{Attachment, PromptSource};
use serde::{Deserialize, Serialize};

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedPrompt {
    /// The event that queued it.
    pub event: EventId,
    /// The words.
    pub text: String,
    /// Where it came from.
    pub source: PromptSource,
    /// Files that came with it.
    pub attachments: Vec<Attachment>,
    /// Images that came with it.
    pub images: Vec<Image>,
}
