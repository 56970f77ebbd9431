//! A past as bytes, so that it need not be read again from the log's beginning. Only the very code that wrote them can read
//! them; whoever keeps them sees to that.
//!
//! What is worked out of it when somebody asks (windows, words) is left out. The summaries' types leave out fields in JSON and
//! so have no other form.

use super::Past;
use super::prompts::Prompts;
use crate::context::working::WorkingSet;
use retrace_events::StreamId;
use retrace_events::codec::{self, CodecError};
use retrace_events::payload::session::PlanItem;
use retrace_events::redact::Redactor;
use retrace_indexer::{SummaryCover, SummaryCursor};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What errors call it.
const WHAT: &str = "a session's past";

#[derive(Serialize)]
struct Stored<'a> {
    next_place: u64,
    prompts: &'a Prompts,
    plan: &'a [PlanItem],
    summaries: String,
    working: &'a WorkingSet,
}

#[derive(Deserialize)]
struct Restored {
    next_place: u64,
    prompts: Prompts,
    plan: Vec<PlanItem>,
    summaries: String,
    working: WorkingSet,
}

impl Past {
    /// The past as bytes, without the secrets that it takes out.
    ///
    /// # Errors
    /// When it is too large.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, CodecError> {
        let summaries = serde_json::to_string(&(&self.cursor, &self.cover));
        codec::encode_derived(&Stored {
            next_place: self.next_place,
            prompts: &self.prompts,
            plan: &self.plan,
            summaries: summaries.map_err(|error| CodecError::Unencodable(error.to_string()))?,
            working: &self.working,
        })
    }

    /// The past in `bytes`, as that of `stream`: of the session it was made of, or of a fork of it.
    ///
    /// # Errors
    /// When the bytes are not a past.
    pub(crate) fn from_bytes(bytes: &[u8], stream: StreamId, redactor: Arc<Redactor>) -> Result<Self, CodecError> {
        let Restored { next_place, prompts, plan, summaries, working } = codec::decode_derived(WHAT, bytes)?;
        let malformed = |why: String| CodecError::Malformed { what: WHAT.to_owned(), why };
        let (cursor, cover): (SummaryCursor, SummaryCover) =
            serde_json::from_str(&summaries).map_err(|error| malformed(error.to_string()))?;
        if cursor.next_seq() != next_place {
            return Err(malformed("its summaries end at another event".to_owned()));
        }
        let (cursor, cover) = (cursor.of_fork(&stream), cover.of_fork(&stream));
        Ok(Self { stream, redactor, next_place, history: None, last: None, prompts, plan, cursor, cover, working })
    }
}
