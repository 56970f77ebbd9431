//! The guest's pipes: one connection to the engine, in which stdout and stderr come in frames of their own.
//!
//! The engine's frames are split anywhere by the transport and have nothing to do with the guest's; taken apart, the
//! payload of stdout is the guest's stream again. Reading stdout is what drives it: stderr, of which only the guest
//! itself writes a little, is put aside meanwhile.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bollard::container::LogOutput;
use bollard::query_parameters::AttachContainerOptions;
use bytes::{Buf as _, Bytes};
use futures::Stream;
use futures::stream::poll_fn;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;
use tokio_util::io::StreamReader;

use super::engine::{Engine, ask};
use crate::error::SandboxError;

/// Pieces of stderr that are kept until they are read; more are dropped.
const STDERR_PIECES: usize = 64;

/// The pipes of a container.
pub(super) struct Attached {
    pub(super) stdin: Box<dyn AsyncWrite + Send + Unpin>,
    pub(super) stdout: Box<dyn AsyncRead + Send + Unpin>,
    pub(super) stderr: Box<dyn AsyncRead + Send + Unpin>,
}

/// Connects to a container's pipes; before it is started, or its first words would be lost.
pub(super) async fn attach(engine: &Engine, id: &str) -> Result<Attached, SandboxError> {
    let options = AttachContainerOptions {
        // No sequence of bytes on stdin may detach us.
        detach_keys: Some(String::new()),
        logs: false,
        stream: true,
        stdin: true,
        stdout: true,
        stderr: true,
    };
    let pipes = ask("attach to the container", engine.docker.attach_container(id, Some(options))).await?;
    let (errors, mut waiting) = mpsc::channel(STDERR_PIECES);
    let stderr = poll_fn(move |context| waiting.poll_recv(context).map(|piece| piece.map(Ok::<Bytes, io::Error>)));
    Ok(Attached {
        stdin: Box::new(pipes.input),
        stdout: Box::new(Stdout { frames: pipes.output, current: Bytes::new(), errors: Some(errors) }),
        stderr: Box::new(StreamReader::new(stderr)),
    })
}

type Frames = Pin<Box<dyn Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>;

/// The payload of stdout's frames.
pub(super) struct Stdout {
    pub(super) frames: Frames,
    pub(super) current: Bytes,
    /// Where the payload of stderr's frames goes; gone at the end, which is stderr's end too.
    pub(super) errors: Option<mpsc::Sender<Bytes>>,
}

impl AsyncRead for Stdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.current.has_remaining() {
                let count = self.current.len().min(buffer.remaining());
                buffer.put_slice(&self.current.split_to(count));
                return Poll::Ready(Ok(()));
            }
            match ready!(self.frames.as_mut().poll_next(context)) {
                Some(Ok(LogOutput::StdOut { message })) => self.current = message,
                Some(Ok(LogOutput::StdErr { message })) => {
                    if let Some(errors) = &self.errors {
                        // Too much of it, or nobody reads it.
                        let _ = errors.try_send(message);
                    }
                }
                // Echoed input: not asked for.
                Some(Ok(LogOutput::StdIn { .. })) => {}
                Some(Ok(LogOutput::Console { .. })) => {
                    self.errors = None;
                    return Poll::Ready(Err(io::Error::other("the engine's stream is not in frames")));
                }
                Some(Err(error)) => {
                    self.errors = None;
                    return Poll::Ready(Err(io::Error::other(error)));
                }
                None => {
                    self.errors = None;
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}
