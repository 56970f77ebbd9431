//! One request to the guest, from the caller's side.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use retrace_guest::frame::MAX_BODY_BYTES;
use retrace_guest::message::{Failure, FailureKind, Request, Response};
use tokio::sync::mpsc;

use crate::error::SandboxError;
use crate::link::{Event, Link};

/// Everything a request that is not a command may be answered with, in bytes.
const ANSWER_BYTES: u64 = 96 * 1024 * 1024;

/// A running request. Dropping it before its end makes the guest end it.
#[derive(Debug)]
pub(crate) struct Call {
    id: u64,
    link: Arc<Link>,
    events: mpsc::UnboundedReceiver<Event>,
    finished: bool,
}

impl Call {
    /// Sends a request whose answer is bounded anyway.
    pub(crate) async fn start(link: &Arc<Link>, request: &Request) -> Result<Self, SandboxError> {
        Self::start_with(link, request, ANSWER_BYTES).await
    }

    /// Sends a request that may be answered with so many bytes before more is granted.
    pub(crate) async fn start_with(
        link: &Arc<Link>,
        request: &Request,
        budget_bytes: u64,
    ) -> Result<Self, SandboxError> {
        let (id, events) = link.register(budget_bytes)?;
        let call = Self { id, link: Arc::clone(link), events, finished: false };
        call.link.send(id, request, Bytes::new()).await?;
        Ok(call)
    }

    /// For sending to the request while someone else waits for its answers.
    pub(crate) fn line(&self) -> Line {
        Line { id: self.id, link: Arc::clone(&self.link) }
    }

    /// The next answer, as it is; `None` when the guest is gone.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let polled = self.events.poll_recv(context);
        if let Poll::Ready(event) = &polled {
            self.finished = event.as_ref().is_none_or(|(response, _)| response.is_final());
        }
        polled
    }

    /// The next answer; a failed request is an error.
    pub(crate) async fn next(&mut self) -> Result<Event, SandboxError> {
        match self.events.recv().await {
            Some((Response::Failed(failure), _)) => {
                self.finished = true;
                Err(SandboxError::Guest(failure))
            }
            Some(event) => {
                self.finished = event.0.is_final();
                Ok(event)
            }
            None => {
                self.finished = true;
                Err(self.link.gone().await)
            }
        }
    }

    /// Lets the guest send so much more for this call.
    pub(crate) fn grant(&self, bytes: u64) {
        self.link.add_budget(self.id, bytes);
        self.link.send_later(self.id, &Request::Credit { bytes });
    }

    /// Takes into account that so much of what the guest may send was not data; it is not told.
    pub(crate) fn refund(&self, bytes: u64) {
        self.link.add_budget(self.id, bytes);
    }

    /// Sends one frame of data, without looking at how much may be sent.
    pub(crate) fn send_part(
        &self,
        part: Bytes,
        last: bool,
    ) -> impl Future<Output = Result<(), SandboxError>> + Send + 'static {
        let (link, id) = (Arc::clone(&self.link), self.id);
        async move { link.send(id, &Request::Data { last }, part).await }
    }

    /// Lets the guest end it in good order, without waiting for that.
    pub(crate) fn leave(&mut self) {
        if !self.finished {
            self.finished = true;
            self.link.forget(self.id);
            self.terminate();
        }
    }

    /// Asks the guest to end it; its last answer still comes.
    pub(crate) fn kill(&self) {
        self.link.send_later(self.id, &Request::Kill);
    }

    /// A way to end it from elsewhere, which keeps neither the call nor the link.
    pub(crate) fn killer(&self) -> impl Fn() + Send + Sync + 'static {
        let (id, link) = (self.id, Arc::downgrade(&self.link));
        move || {
            if let Some(link) = link.upgrade() {
                link.send_later(id, &Request::Kill);
            }
        }
    }

    /// Asks the guest to let it end in good order, or else to end it.
    pub(crate) fn terminate(&self) {
        self.link.send_later(self.id, &Request::Terminate);
    }
}

/// The way to a running request. When the request has ended, what is sent goes nowhere.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    id: u64,
    link: Arc<Link>,
}

impl Line {
    /// Sends data in as many frames as it takes; `last` says whether any more will come.
    pub(crate) async fn send_data(&self, mut data: Bytes, last: bool) -> Result<(), SandboxError> {
        loop {
            let part = data.split_to(data.len().min(MAX_BODY_BYTES));
            let done = data.is_empty();
            self.link.send(self.id, &Request::Data { last: last && done }, part).await?;
            if done {
                return Ok(());
            }
        }
    }

    /// Sends a small message that belongs to the request, without waiting.
    pub(crate) fn send_later(&self, request: &Request) {
        self.link.send_later(self.id, request);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.finished {
            self.link.forget(self.id);
            self.kill();
        }
    }
}

/// The guest answered something that does not belong to the request.
pub(crate) fn unexpected(response: &Response) -> SandboxError {
    let text = format!("unexpected answer from the guest: {response:?}");
    let short: String = text.chars().take(200).collect();
    SandboxError::Guest(Failure::new(FailureKind::Io, short))
}
