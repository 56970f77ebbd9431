//! Frames over asynchronous pipes.

use bytes::Bytes;
use retrace_guest::frame::{Frame, FrameError, FrameHead, HEAD_BYTES, encode_head};
use retrace_guest::message::{Envelope, Request};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::error::SandboxError;

/// A frame that is ready to be written.
#[derive(Debug)]
pub(super) struct Outgoing {
    head: Vec<u8>,
    body: Bytes,
}

impl Outgoing {
    pub(super) fn new(id: u64, request: &Request, body: Bytes) -> Result<Self, SandboxError> {
        // A request that does not fit into a frame (a script of over a megabyte) is the caller's mistake.
        let head = encode_head(&Envelope { id, message: request }, body.len()).map_err(|error| {
            let kind = retrace_guest::message::FailureKind::TooLarge;
            SandboxError::Guest(retrace_guest::message::Failure::new(
                kind,
                format!("the request is too large: {error}"),
            ))
        })?;
        Ok(Self { head, body })
    }

    pub(super) async fn write(self, pipe: &mut (dyn AsyncWrite + Send + Unpin)) -> std::io::Result<()> {
        pipe.write_all(&self.head).await?;
        pipe.write_all(&self.body).await?;
        pipe.flush().await
    }
}

/// Reads one frame; `None` when the pipe was closed between two frames.
pub(super) async fn read(pipe: &mut (dyn AsyncRead + Send + Unpin)) -> Result<Option<Frame>, FrameError> {
    let mut head = [0; HEAD_BYTES];
    let (first, rest) = head.split_at_mut(1);
    if pipe.read(first).await.map_err(|source| FrameError::Io { source })? == 0 {
        return Ok(None);
    }
    fill(pipe, rest).await?;
    let head = FrameHead::decode(head)?;
    let mut frame = Frame { header: vec![0; head.header_bytes()], body: vec![0; head.body_bytes()] };
    fill(pipe, &mut frame.header).await?;
    fill(pipe, &mut frame.body).await?;
    Ok(Some(frame))
}

async fn fill(pipe: &mut (dyn AsyncRead + Send + Unpin), buffer: &mut [u8]) -> Result<(), FrameError> {
    match pipe.read_exact(buffer).await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Err(FrameError::CutShort),
        Err(source) => Err(FrameError::Io { source }),
    }
}
