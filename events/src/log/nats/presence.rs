//! Claims of the JetStream log: whoever holds a stream answers questions about it, and nobody answers for one that is free.
//!
//! ```text
//!   retrace.holder.<the stream's subject>      asked by those who want to hold it, answered by whoever does
//! ```
//!
//! Nothing is stored and nothing expires: these are plain messages. The server says at once when nobody listens ("no
//! responders"), and a process that dies stops listening, so its streams are free as soon as its connection is closed.
//!
//! **One of several.** Who finds nobody begins to listen and asks once more. Of two that come at the same time at least
//! one hears of the other, since each listens before it asks this second time. Who has asked twice and found nobody
//! holds the stream. Until then the one with the smaller number gives way to nobody: the other stops listening and begins
//! anew, and is answered only when it is known who holds the stream.
//!
//! **Doubt.** Two may hold one stream after they asked different halves of a split network, or while one is connecting
//! again. Nobody looks for that: the fence decides.
//!
//! The connection hears nothing of its own (`no_echo`), or a process would answer itself. What is held through this very
//! handle stands in [`Held`].

#[cfg(test)]
#[path = "presence_tests.rs"]
mod tests;

use super::api::Remote;
use crate::id::StreamId;
use crate::log::holder::MAX_HOLDER_BYTES;
use crate::log::{Claim, ClaimError, Holder, LogError};
use async_nats::{Client, Message, Request, RequestErrorKind, Subject, Subscriber};
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

/// How long to wait for an answer, and how often to ask: a question is lost when the holder leaves just then.
const ANSWER: Duration = Duration::from_millis(700);
const ASKS: u32 = 3;

/// How long to go on while others come and go.
const CLAIM: Duration = Duration::from_secs(4);

/// How long to wait before asking again somebody who is leaving.
const PAUSE: Duration = Duration::from_millis(5);

/// How long servers of one cluster may take to tell each other who listens.
const CLUSTER: Duration = Duration::from_millis(50);

/// How long a process that has left goes on telling so to those whose questions were under way.
const LEAVING: Duration = Duration::from_secs(2);

/// How many questions wait until it is known who holds the stream; the others are asked again.
const MAX_WAITING: usize = 1_000;

/// What the streams held through one handle are held by.
pub(super) type Held = Arc<Mutex<HashMap<StreamId, Holder>>>;

/// What somebody asks who wants to hold the stream.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Question {
    /// Decides between two that come at the same time.
    number: u64,
    /// Whether the asker listens itself.
    listens: bool,
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// The stream is held.
    Held(Holder),
    /// Not by who answers, not any more: ask again.
    Free,
}

/// What came of asking.
enum Asked {
    Nobody,
    Answered(Answer),
}

/// What came of listening and asking.
#[derive(Debug)]
enum Settled {
    /// It is ours; these have to be told.
    Ours(Subscriber, Vec<Subject>),
    /// Somebody else comes first, or has gone.
    Again,
    Held(Holder),
}

/// A stream that is held, until this is dropped.
struct Hold {
    held: Held,
    stream: StreamId,
    /// When this is dropped, the task that answers leaves.
    _leave: Option<oneshot::Sender<()>>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.stream);
    }
}

impl Remote {
    /// As [`crate::log::EventLog::claim`].
    pub(super) async fn claim(&self, stream: &StreamId, holder: &Holder) -> Result<Claim, ClaimError> {
        let mut hold = self.hold(stream, holder)?;
        let subject = Subject::from(format!("retrace.holder.{}", stream.subject()));
        let deadline = Instant::now() + CLAIM;
        while Instant::now() < deadline {
            let number = rand::random();
            let settled = match self.ask(&subject, Question { number, listens: false }).await? {
                Asked::Nobody => self.settle(&subject, number).await?,
                Asked::Answered(Answer::Held(other)) => Settled::Held(other),
                Asked::Answered(Answer::Free) => Settled::Again,
            };
            match settled {
                Settled::Ours(questions, waiting) => {
                    let (leave, left) = oneshot::channel();
                    hold._leave = Some(leave);
                    let answer = encoded(&Answer::Held(holder.clone().bounded()));
                    tokio::spawn(hold_until_left(self.client.clone(), questions, waiting, answer, left));
                    return Ok(Claim::new(stream.clone(), hold));
                }
                Settled::Held(other) => return Err(ClaimError::Held(other)),
                Settled::Again => sleep(PAUSE).await,
            }
        }
        Err(ClaimError::Held(Holder::unknown()))
    }

    /// Takes the stream for this handle.
    fn hold(&self, stream: &StreamId, holder: &Holder) -> Result<Hold, ClaimError> {
        match self.held.lock().unwrap_or_else(PoisonError::into_inner).entry(stream.clone()) {
            Entry::Occupied(other) => Err(ClaimError::Held(other.get().clone())),
            Entry::Vacant(free) => {
                free.insert(holder.clone().bounded());
                Ok(Hold { held: Arc::clone(&self.held), stream: stream.clone(), _leave: None })
            }
        }
    }

    /// Listens, and asks once more.
    async fn settle(&self, subject: &Subject, number: u64) -> Result<Settled, LogError> {
        let mut questions = self.client.subscribe(subject.clone()).await.map_err(|e| self.unavailable(&e))?;
        let mut waiting = Vec::new();
        if self.client.server_info().cluster.is_some() {
            sleep(CLUSTER).await;
        }
        let asking = self.ask_until_settled(subject, number);
        tokio::pin!(asking);
        let asked = loop {
            tokio::select! {
                // First: when we have found nobody, whoever asks by now has come later.
                biased;
                asked = &mut asking => break asked,
                question = questions.next() => {
                    let Some(question) = question else { return Err(self.unavailable(&"the connection was closed")) };
                    let other: Option<Question> = parsed(&question);
                    let gives_way = other.is_some_and(|other| other.listens && other.number <= number);
                    if waiting.len() < MAX_WAITING {
                        waiting.extend(question.reply);
                    }
                    if gives_way {
                        break Ok(Asked::Answered(Answer::Free));
                    }
                }
            }
        };
        let settled = match asked {
            Ok(Asked::Nobody) => return Ok(Settled::Ours(questions, waiting)),
            Ok(Asked::Answered(Answer::Held(other))) => Ok(Settled::Held(other)),
            Ok(Asked::Answered(Answer::Free)) => Ok(Settled::Again),
            Err(e) => Err(e),
        };
        // It has to be sent before anybody is told that we do not listen any more.
        let unsubscribed = questions.unsubscribe().await;
        unsubscribed.map_err(|e| self.unavailable(&e))?;
        while let Some(Some(question)) = questions.next().now_or_never() {
            waiting.extend(question.reply);
        }
        tell(&self.client, waiting, &encoded(&Answer::Free)).await;
        settled
    }

    /// Asks those who listen beside us, until one of them holds the stream or all have given way.
    async fn ask_until_settled(&self, subject: &Subject, number: u64) -> Result<Asked, LogError> {
        loop {
            match self.ask(subject, Question { number, listens: true }).await? {
                Asked::Answered(Answer::Free) => sleep(PAUSE).await,
                asked => return Ok(asked),
            }
        }
    }

    /// Asks who holds the stream.
    async fn ask(&self, subject: &Subject, question: Question) -> Result<Asked, LogError> {
        let question = encoded(&question);
        for _ in 0..ASKS {
            let request = Request::new().payload(question.clone()).timeout(Some(ANSWER));
            let asking = self.client.send_request(subject.clone(), request);
            let Some(answer) = self.connection.signals.unless_broken(asking).await else { continue };
            match answer {
                Ok(message) => {
                    // Somebody is there, whatever the answer means.
                    let answer = parsed(&message).unwrap_or_else(|| Answer::Held(Holder::unknown()));
                    return Ok(Asked::Answered(match answer {
                        Answer::Held(other) => Answer::Held(other.bounded()),
                        Answer::Free => Answer::Free,
                    }));
                }
                Err(e) => match e.kind() {
                    RequestErrorKind::NoResponders => return Ok(Asked::Nobody),
                    RequestErrorKind::TimedOut => {}
                    RequestErrorKind::Other
                    | RequestErrorKind::InvalidSubject
                    | RequestErrorKind::MaxPayloadExceeded => return Err(self.unavailable(&e)),
                },
            }
        }
        if let Some(complaint) = self.connection.signals.complaint().filter(|what| what.contains(subject.as_str())) {
            // Not a reason to run no session at all.
            tracing::warn!(%complaint, "cannot see who runs a session: this account may not use `retrace.holder.>`");
            return Ok(Asked::Nobody);
        }
        // Is it the holder that does not answer, or the server?
        self.stream_state(false).await?;
        Ok(Asked::Answered(Answer::Held(Holder::unknown())))
    }
}

/// Answers questions until the claim is dropped; a little longer to those that were under way then.
async fn hold_until_left(
    client: Client,
    mut questions: Subscriber,
    waiting: Vec<Subject>,
    held: Bytes,
    mut left: oneshot::Receiver<()>,
) {
    tell(&client, waiting, &held).await;
    loop {
        tokio::select! {
            biased;
            _ = &mut left => break,
            question = questions.next() => match question {
                Some(question) => tell(&client, question.reply, &held).await,
                None => return,
            }
        }
    }
    let until = Instant::now() + LEAVING;
    let free = encoded(&Answer::Free);
    if questions.drain().await.is_ok() {
        while let Ok(Some(question)) = timeout_at(until, questions.next()).await {
            tell(&client, question.reply, &free).await;
        }
    }
}

/// Sends `answer` to all of `replies`. One that cannot be sent is asked for again.
async fn tell(client: &Client, replies: impl IntoIterator<Item = Subject>, answer: &Bytes) {
    for reply in replies {
        if let Err(e) = client.publish(reply, answer.clone()).await {
            tracing::debug!(error = %e, "cannot say who holds a stream");
        }
    }
}

fn encoded(value: &impl Serialize) -> Bytes {
    // Structs of texts and numbers; should it fail, an empty answer is one that cannot be understood.
    serde_json::to_vec(value).unwrap_or_default().into()
}

fn parsed<T: for<'de> Deserialize<'de>>(message: &Message) -> Option<T> {
    // A description and a few words around it.
    if message.payload.len() > MAX_HOLDER_BYTES + 100 {
        return None;
    }
    serde_json::from_slice(&message.payload).ok()
}
