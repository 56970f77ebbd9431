//! The one way out: whole frames, one at a time.

use std::fs::File;
use std::sync::{Mutex, PoisonError};

use crate::frame::{FrameError, write_frame};
use crate::message::{Envelope, Failure, Response};

/// Writes answers to the host; shared by all requests.
#[derive(Debug)]
pub(crate) struct Outbox {
    channel: Mutex<File>,
}

impl Outbox {
    pub(crate) fn new(channel: File) -> Self {
        Self { channel: Mutex::new(channel) }
    }

    pub(crate) fn send(&self, id: u64, message: &Response, body: &[u8]) -> Result<(), FrameError> {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        write_frame(&mut *channel, &Envelope { id, message }, body)
    }

    /// Ends a request with its answer or its failure.
    pub(crate) fn finish(&self, id: u64, result: Result<Response, Failure>) -> Result<(), FrameError> {
        self.send(id, &result.unwrap_or_else(Response::Failed), &[])
    }
}
