//! Streams as a log lists them, and which of them are meant.

use super::position::Head;
use crate::id::{Class, StreamId, Token};

/// Which streams are meant; an empty filter means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamFilter {
    /// Only this tenant's.
    pub tenant: Option<Token>,
    /// Only this project's.
    pub project: Option<Token>,
    /// Only this class.
    pub class: Option<Class>,
    /// Only streams of this id.
    pub id: Option<Token>,
}

impl StreamFilter {
    /// Exactly `stream`.
    #[must_use]
    pub fn only(stream: &StreamId) -> Self {
        let StreamId { tenant, project, class, id } = stream.clone();
        Self { tenant: Some(tenant), project: Some(project), class: Some(class), id: Some(id) }
    }

    /// Whether `stream` is meant.
    #[must_use]
    pub fn matches(&self, stream: &StreamId) -> bool {
        self.tenant.as_ref().is_none_or(|tenant| *tenant == stream.tenant)
            && self.project.as_ref().is_none_or(|project| *project == stream.project)
            && self.class.is_none_or(|class| class == stream.class)
            && self.id.as_ref().is_none_or(|id| *id == stream.id)
    }
}

/// A stream and its last event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamInfo {
    /// Its name.
    pub stream: StreamId,
    /// Its last event.
    pub head: Head,
}
