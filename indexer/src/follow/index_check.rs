//! Whether an index is what a clean rebuild would be, document for document.

use super::session_memory::CURSORS;
use crate::Document;
use crate::keyword::{KeywordError, KeywordIndex};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How many differing documents are named.
const MAX_NAMED: usize = 20;

/// What a comparison found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct IndexCheck {
    /// Documents that were compared.
    pub documents: u64,
    /// Documents that a clean rebuild has and the index has not.
    pub missing: u64,
    /// Documents that the index has and a clean rebuild has not, doubles among them.
    pub extra: u64,
    /// Documents that differ.
    pub different: u64,
    /// The keys of the first of them.
    pub named: Vec<String>,
}

impl IndexCheck {
    /// Whether nothing differs.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.missing == 0 && self.extra == 0 && self.different == 0
    }

    /// Compares `present` with `clean`, one stream at a time.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(crate) fn compare(present: &KeywordIndex, clean: &KeywordIndex) -> Result<Self, KeywordError> {
        let mut check = Self::default();
        let mut known = 0;
        for stream in streams(present)?.union(&streams(clean)?) {
            let documents = present.documents_of(stream)?;
            known += documents.len() as u64;
            check.compare_documents(documents, clean.documents_of(stream)?);
        }
        // Those of streams that nothing is known of any more, such as deleted ones.
        check.extra += present.count()?.saturating_sub(known);
        Ok(check)
    }

    /// Compares the documents of one stream.
    pub(crate) fn compare_documents(&mut self, present: Vec<Document>, clean: Vec<Document>) {
        let mut expected: BTreeMap<String, Document> =
            clean.into_iter().map(|document| (document.key.clone(), document)).collect();
        self.documents += expected.len() as u64;
        for document in present {
            match expected.remove(&document.key) {
                Some(clean) if clean == document => {}
                Some(_) => {
                    self.different += 1;
                    self.name(document.key);
                }
                // A second one of the same key finds the place empty.
                None => {
                    self.extra += 1;
                    self.name(document.key);
                }
            }
        }
        self.missing += expected.len() as u64;
        for key in expected.into_keys() {
            self.name(key);
        }
    }

    fn name(&mut self, key: String) {
        if self.named.len() < MAX_NAMED {
            self.named.push(key);
        }
    }
}

/// The streams whose events are in `index`.
fn streams(index: &KeywordIndex) -> Result<BTreeSet<String>, KeywordError> {
    let cursors = index.records(CURSORS)?;
    Ok(cursors.into_iter().filter_map(|(key, _)| key.strip_prefix(CURSORS).map(str::to_owned)).collect())
}
