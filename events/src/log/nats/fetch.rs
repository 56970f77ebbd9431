//! Batched direct get (server 2.11), for which the client library has no helper: one request, many messages, and a
//! last one without a body that ends them.
//!
//! It may come from a replica that is behind, and skips what cannot be read any more: callers compare what came with
//! what the leader says there is.

use super::STREAM;
use super::api::{Remote, twice};
use super::connect::QUESTION;
use super::message::{Incoming, parsed};
use crate::log::LogError;
use async_nats::header::{NATS_SEQUENCE, NATS_SUBJECT};
use async_nats::{Message, StatusCode};
use futures::StreamExt;
use serde_json::json;

/// The most messages of one request: far below what a subscription holds before it drops some.
pub(super) const BATCH: usize = 512;

/// The most bytes of one request; the server ends the batch with the message that reaches it.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// The status of the message that ends a batch.
const END_OF_BATCH: u16 = 204;

impl Remote {
    /// Up to `count` messages of a subject, which may hold wildcards, from `position` on.
    pub(super) async fn fetch(&self, subject: &str, position: u64, count: usize) -> Result<Vec<Incoming>, LogError> {
        let batch = count.min(BATCH);
        let question = json!({ "seq": position, "next_by_subj": subject, "batch": batch, "max_bytes": BATCH_BYTES });
        twice(|| self.direct_get(&question, batch)).await
    }

    /// The last message of each of `subjects`, of which there are at most [`BATCH`].
    pub(super) async fn fetch_last(&self, subjects: &[String]) -> Result<Vec<Incoming>, LogError> {
        let question = json!({ "multi_last": subjects });
        twice(|| self.direct_get(&question, subjects.len())).await
    }

    async fn direct_get(&self, question: &serde_json::Value, most: usize) -> Result<Vec<Incoming>, LogError> {
        let inbox = self.client.new_inbox();
        let mut answers = self.client.subscribe(inbox.clone()).await.map_err(|e| self.unavailable(&e))?;
        let subject = format!("$JS.API.DIRECT.GET.{STREAM}");
        let sent = self.client.publish_with_reply(subject, inbox, question.to_string().into()).await;
        sent.map_err(|e| self.unavailable(&e))?;
        let mut messages = Vec::new();
        // One more than asked for: the message that ends them.
        while messages.len() <= most {
            let answer = self.unless_broken(tokio::time::timeout(QUESTION, answers.next())).await?;
            let Ok(Some(answer)) = answer else {
                return Err(self.unavailable(&"reading was not answered"));
            };
            match answer.status {
                None | Some(StatusCode::OK) => messages.push(incoming(answer)?),
                Some(status) if status.as_u16() == END_OF_BATCH || status == StatusCode::NOT_FOUND => {
                    return Ok(messages);
                }
                Some(StatusCode::NO_RESPONDERS) => {
                    return Err(self.unavailable(&"the stream is not there, or does not allow direct get"));
                }
                Some(status) => {
                    let what = answer.description.map(|text| text.to_string()).unwrap_or_default();
                    return Err(self.unavailable(&format!("reading was refused: {status} {what}")));
                }
            }
        }
        Err(self.unavailable(&"more messages came than were asked for"))
    }
}

fn incoming(message: Message) -> Result<Incoming, LogError> {
    let headers = message.headers.unwrap_or_default();
    let position = parsed(&headers, NATS_SEQUENCE.as_ref()).unwrap_or_default();
    let subject = headers.get_last(NATS_SUBJECT).map(|subject| subject.as_str().to_owned()).unwrap_or_default();
    Incoming::new(position, &subject, &headers, message.payload)
}
