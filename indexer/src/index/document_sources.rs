//! Where the vectors' documents come from: the keyword indexes.

use crate::code::CodeIndex;
use crate::document::{Document, DocumentKind};
use crate::follow::DELETIONS;
use crate::keyword::KeywordIndex;
use crate::vector::{ChangedCode, CodeSource, SessionSource, SourceError};
use std::sync::Arc;

/// The documents of an index over sessions.
#[derive(Debug, Clone)]
pub struct IndexedSessions(pub KeywordIndex);

impl SessionSource for IndexedSessions {
    fn documents_between(&self, first: u64, last: u64) -> Result<Vec<Document>, SourceError> {
        self.0.reload()?;
        Ok(self.0.documents_between(first..=last, &DocumentKind::ALL)?)
    }

    fn deletions(&self) -> Result<Vec<(String, u64)>, SourceError> {
        self.0.reload()?;
        let deletion = |(key, position): (String, Vec<u8>)| {
            let position = std::str::from_utf8(&position).ok()?.parse().ok()?;
            Some((key.strip_prefix(DELETIONS)?.to_owned(), position))
        };
        Ok(self.0.records(DELETIONS)?.into_iter().filter_map(deletion).collect())
    }
}

/// The documents of an index over a workspace's code.
#[derive(Debug, Clone)]
pub struct IndexedCode(pub Arc<CodeIndex>);

impl CodeSource for IndexedCode {
    fn changes_since(&self, generation: u64) -> Result<ChangedCode, SourceError> {
        let changes = self.0.changed_since(generation)?;
        Ok(ChangedCode {
            generation: changes.generation,
            changed: changes.changed,
            gone: changes.gone,
            is_complete: changes.is_complete,
        })
    }

    fn documents_of(&self, path: &str) -> Result<Vec<Document>, SourceError> {
        let Some(index) = self.0.keyword()? else { return Ok(Vec::new()) };
        Ok(CodeIndex::documents(&index, path)?)
    }
}
