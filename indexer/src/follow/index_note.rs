//! What an index knows of itself, stored in the very commit that holds its documents: which events it has seen.
//!
//! The witness is the last of them. A log that does not have it any more at its position is another log, or has lost
//! its end: the index is then the only one that remembers, and says so.

use retrace_events::log::{Deletion, Position, Positioned, StreamFilter};
use retrace_events::{Envelope, EventLog, LogError, StreamId};
use serde::{Deserialize, Serialize};

/// The version of what documents are made of events; an index of another version is made again.
pub(crate) const FORMAT: u32 = 1;

/// What a commit says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexNote {
    /// The version of what documents are made of events.
    pub format: u32,
    /// Every event up to here is in the index.
    pub position: Position,
    /// The id and the hash of the event at `position`.
    pub witness: Option<(String, String)>,
    /// The stream of that event and its number there: when it is not at `position` any more, they tell why.
    #[serde(default)]
    pub witness_place: Option<(StreamId, u64)>,
    /// Whether that event is a tombstone, which goes when its stream begins again.
    #[serde(default)]
    pub witness_is_tombstone: bool,
    /// Events that could not be read and were left out.
    pub unreadable: u64,
}

/// How a log stands to what an index remembers of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Witness {
    /// The log has what the index has seen.
    Agrees,
    /// The log is another one, or has lost its end.
    Contradicts,
}

impl IndexNote {
    /// The note of an index without documents.
    #[must_use]
    pub fn empty() -> Self {
        Self { format: FORMAT, ..Self::default() }
    }

    /// The note written as `text`; `None` when it is none, or of another version.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str::<Self>(text).ok().filter(|note| note.format == FORMAT)
    }

    /// The note as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        // Numbers and texts: it cannot fail, and an empty text would be read as "no note".
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Takes note of an event.
    pub(crate) fn saw(&mut self, position: Position, id: String, hash: String, envelope: &Envelope) {
        self.position = position;
        self.witness = Some((id, hash));
        self.witness_place = Some((envelope.stream.clone(), envelope.seq));
        self.witness_is_tombstone = Deletion::stands_in(envelope);
    }

    /// Whether `log` still has what this note remembers.
    ///
    /// # Errors
    /// When the log cannot be asked.
    pub async fn compare(&self, log: &dyn EventLog) -> Result<Witness, LogError> {
        let Some((id, hash)) = &self.witness else {
            return Ok(Witness::Agrees);
        };
        let before = Position(self.position.0.saturating_sub(1));
        let found = match log.read_all(before, 1).await {
            Ok(found) => found,
            // Beyond its end, or damaged just there. A damaged event was not taken for a witness.
            Err(LogError::DamagedStore { .. }) => return Ok(Witness::Contradicts),
            Err(LogError::Damaged { .. }) => return Ok(Witness::Agrees),
            Err(error) => return Err(error),
        };
        let same = |(position, envelope): &Positioned| {
            *position == self.position
                && envelope.id.to_string() == *id
                && envelope.hash().is_ok_and(|found| found.to_string() == *hash)
        };
        if found.first().is_some_and(same) || self.is_explained(log, hash).await? {
            return Ok(Witness::Agrees);
        }
        Ok(Witness::Contradicts)
    }

    /// Whether the witness is gone from its position because its stream was deleted: the log says so still, or the stream
    /// has begun again and the witness stands in its new life.
    async fn is_explained(&self, log: &dyn EventLog, hash: &str) -> Result<bool, LogError> {
        let Some((stream, seq)) = &self.witness_place else { return Ok(false) };
        if !log.deleted(&StreamFilter::only(stream)).await?.is_empty() {
            return Ok(true);
        }
        if self.witness_is_tombstone {
            return Ok(log.head(stream).await?.is_some());
        }
        let found = match log.read(stream, *seq, 1).await {
            Ok(found) => found,
            Err(LogError::Damaged { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let same = |envelope: &Envelope| envelope.hash().is_ok_and(|found| found.to_string() == *hash);
        Ok(found.first().is_some_and(same))
    }
}
