//! One word or phrase of a query.

/// A word or a phrase that is looked for or excluded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Clause {
    /// As it was written, without quotation marks and sign.
    pub text: String,
    /// Whether its words must stand one after the other; such a clause is required.
    pub phrase: bool,
    /// Whether what holds it is left out.
    pub negated: bool,
}

impl Clause {
    /// A word to rank by.
    #[must_use]
    pub fn word(text: impl Into<String>) -> Self {
        Self { text: text.into(), phrase: false, negated: false }
    }

    /// A phrase that must be there.
    #[must_use]
    pub fn phrase(text: impl Into<String>) -> Self {
        Self { text: text.into(), phrase: true, negated: false }
    }
}
