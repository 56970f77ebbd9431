//! The part of a session that came about in another program.

use super::totals::Totals;
use crate::id::EventId;
use serde::{Deserialize, Serialize};

/// What another program did before the session came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedPart {
    /// The `session.imported` event; answers and failures that name it as their request are of this part.
    pub event: EventId,
    /// What was used there: it is in the session's totals, and no budget of this session counts it.
    pub totals: Totals,
}
