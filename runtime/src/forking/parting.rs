//! Where two lines of sessions parted.

use retrace_events::{EventLog, History, LogError, StreamId};

/// What two sessions have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parting {
    /// How many events, from the first on, are events of both.
    pub common_events: u64,
    /// The last of them; `None` when there is none.
    pub last: Option<(StreamId, u64)>,
}

impl Parting {
    /// Where event `left.1` of `left.0` and event `right.1` of `right.0` parted: one, both or none of them may be where they did.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn of(log: &dyn EventLog, left: (&StreamId, u64), right: (&StreamId, u64)) -> Result<Self, LogError> {
        let left = History::of(log, left.0).await?.until(left.1);
        let right = History::of(log, right.0).await?.until(right.1);
        let (left, right) = (left.spans(), right.spans());
        let mut parting = Self { common_events: 0, last: None };
        for ((stream, events), (other, others)) in left.iter().zip(&right) {
            if stream != other {
                break;
            }
            let common = *events.min(others);
            parting.common_events += common;
            if common > 0 {
                parting.last = Some((stream.clone(), common - 1));
            }
            if events != others {
                break;
            }
        }
        Ok(parting)
    }
}
