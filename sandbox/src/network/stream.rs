//! A connection of a command, as the host sees it: a byte stream over the guest protocol.
//!
//! Both directions have credit of their own. Nothing that the guest says makes more wait here than it was granted; what
//! does not belong here breaks the stream. To be polled from one task at a time.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use retrace_guest::message::{CHUNK_COST_BYTES, FORWARD_WINDOW_BYTES, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::call::{Call, unexpected};
use crate::error::SandboxError;
use crate::link::Link;

/// The most bytes sent at once.
const CHUNK_BYTES: u64 = 64 * 1024;
/// Granted back when so much has been taken.
const GRANT_BYTES: u64 = FORWARD_WINDOW_BYTES / 4;
/// Room for answers besides data.
const CLOSING_BYTES: u64 = 16 * 1024;

type Sending = Pin<Box<dyn Future<Output = Result<(), SandboxError>> + Send>>;

/// A connection of a command. Dropping it after a shutdown lets the command have all that was sent; otherwise its
/// connection is reset.
pub(crate) struct ForwardedStream {
    call: Call,
    received: VecDeque<Bytes>,
    /// Taken and not granted back yet.
    taken_bytes: u64,
    /// What may be sent before the guest grants more.
    window_bytes: u64,
    sending: Option<Sending>,
    end: End,
    shut_down: bool,
}

/// How far the other side has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    /// It sends nothing more.
    ReceivedAll,
    Closed,
    Broken(ErrorKind),
}

impl ForwardedStream {
    /// Waits for a connection. Also says which call it seems to come from.
    pub(crate) async fn accept(link: &Arc<Link>) -> Result<(Self, Option<String>), SandboxError> {
        let budget_bytes = FORWARD_WINDOW_BYTES + CLOSING_BYTES;
        let mut call = Call::start_with(link, &Request::Accept, budget_bytes).await?;
        match call.next().await? {
            (Response::Accepted(accepted), _) => {
                let stream = Self {
                    call,
                    received: VecDeque::new(),
                    taken_bytes: 0,
                    window_bytes: FORWARD_WINDOW_BYTES,
                    sending: None,
                    end: End::Open,
                    shut_down: false,
                };
                let origin = accepted.origin.map(|origin| super::refusal::printable(&origin, 128));
                Ok((stream, origin))
            }
            (other, _) => Err(unexpected(&other)),
        }
    }

    /// Takes what the guest has sent so far, and has the task woken by what comes next.
    fn take_events(&mut self, context: &mut Context<'_>) {
        while !matches!(self.end, End::Closed | End::Broken(_)) {
            let Poll::Ready(event) = self.call.poll_next(context) else { return };
            match event {
                Some((Response::Received, bytes)) if self.end == End::Open => self.received.push_back(bytes),
                Some((Response::ReceivedAll, _)) if self.end == End::Open => {
                    self.call.refund(CHUNK_COST_BYTES);
                    self.end = End::ReceivedAll;
                }
                Some((Response::Credit { bytes }, _)) => {
                    self.call.refund(CHUNK_COST_BYTES);
                    // Whatever it says, no more than this is ever on the way.
                    self.window_bytes = self.window_bytes.saturating_add(bytes).min(FORWARD_WINDOW_BYTES);
                }
                Some((Response::Closed { reset: false }, _)) => self.end = End::Closed,
                Some((Response::Closed { reset: true } | Response::Failed(_), _)) => {
                    self.end = End::Broken(ErrorKind::ConnectionReset);
                }
                None => self.end = End::Broken(ErrorKind::ConnectionAborted),
                Some(_) => self.end = End::Broken(ErrorKind::InvalidData),
            }
        }
    }

    fn finish_sending(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(sending) = &mut self.sending {
            let sent = ready!(sending.as_mut().poll(context));
            self.sending = None;
            sent.map_err(|error| io::Error::new(ErrorKind::ConnectionAborted, error.to_string()))?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for ForwardedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.take_events(context);
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let Some(front) = this.received.front_mut() else {
            return match this.end {
                End::Open => Poll::Pending,
                End::ReceivedAll | End::Closed => Poll::Ready(Ok(())),
                End::Broken(kind) => Poll::Ready(Err(kind.into())),
            };
        };
        let count = front.len().min(buffer.remaining());
        buffer.put_slice(front.get(..count).unwrap_or_default());
        front.advance(count);
        this.taken_bytes += count as u64;
        if front.is_empty() {
            this.received.pop_front();
            this.taken_bytes += CHUNK_COST_BYTES;
        }
        if this.taken_bytes >= GRANT_BYTES {
            this.call.grant(std::mem::take(&mut this.taken_bytes));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ForwardedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.take_events(context);
        match this.end {
            End::Closed => return Poll::Ready(Err(ErrorKind::BrokenPipe.into())),
            End::Broken(kind) => return Poll::Ready(Err(kind.into())),
            End::Open | End::ReceivedAll => {}
        }
        if this.shut_down {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        ready!(this.finish_sending(context))?;
        let room = this.window_bytes.saturating_sub(CHUNK_COST_BYTES).min(CHUNK_BYTES);
        let count = bytes.len().min(usize::try_from(room).unwrap_or_default());
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if count == 0 {
            // Woken by the credit, which `take_events` waits for.
            return Poll::Pending;
        }
        let part = Bytes::copy_from_slice(bytes.get(..count).unwrap_or_default());
        this.window_bytes -= count as u64 + CHUNK_COST_BYTES;
        this.sending = Some(Box::pin(this.call.send_part(part, false)));
        // Whether it is through already makes no difference here: the next call waits for it.
        if let Poll::Ready(Err(error)) = this.finish_sending(context) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.finish_sending(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let End::Broken(kind) = self.end {
            // No orderly end any more.
            return Poll::Ready(Err(kind.into()));
        }
        ready!(self.finish_sending(context))?;
        if !self.shut_down {
            self.shut_down = true;
            self.sending = Some(Box::pin(self.call.send_part(Bytes::new(), true)));
        }
        self.finish_sending(context)
    }
}

impl Drop for ForwardedStream {
    fn drop(&mut self) {
        // Otherwise the call's own end resets it.
        if self.shut_down && self.sending.is_none() {
            self.call.leave();
        }
    }
}
