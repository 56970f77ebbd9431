//! What somebody looks for: words, phrases and filters, read from one line of text, and the piece of a found text that shows
//! why it was found. Nothing here knows an index.
//!
//! Reading a query never fails: what cannot be understood is searched as words or left out, and a note says which.

mod clause;
mod fields;
mod filter;
mod merge;
mod moment;
mod parser;
mod path_pattern;
mod show;
mod snippet;
mod window;

#[cfg(test)]
pub(crate) mod tests;

pub use clause::Clause;
pub use filter::{Filter, Within};
pub use path_pattern::PathPattern;
pub use snippet::Snippet;

use retrace_events::Timestamp;

/// The longest text that is read as a query, in bytes; the rest is left out and noted.
pub const QUERY_BYTES: usize = 32 * 1024;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Words and phrases, in the order in which they were written.
    pub clauses: Vec<Clause>,
    /// What a document must be, apart from its words.
    pub filter: Filter,
    /// What was forgiven or left out, one line each, for people.
    pub notes: Vec<String>,
}

impl Query {
    /// Reads what a person or a model wrote. Words rank, phrases in quotation marks are required, `-word` and `-"a phrase"`
    /// exclude, `field:value` filters (`kind tool path session since until exit in`, `-field:value` too). Days begin in UTC.
    #[must_use]
    pub fn parse(text: &str, now: Timestamp) -> Self {
        parser::parse(text, now)
    }

    /// Takes every word of `text` as a word to rank by: no phrases, no exclusions, no filters. For text that was not written
    /// as a query: a prompt, an error message, the text of an issue.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        parser::plain(text)
    }

    /// Whether nothing is said that could rank a document: then what the filter lets through comes newest first.
    #[must_use]
    pub fn is_filter_only(&self) -> bool {
        self.clauses.iter().all(|clause| clause.negated)
    }

    /// Whether nothing at all is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty() && self.filter == Filter::default()
    }

    /// The words and phrases that are looked for, without those that are excluded, as one text (for embedding).
    #[must_use]
    pub fn wanted_text(&self) -> String {
        self.wanted().map(|clause| clause.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The clauses that are looked for.
    pub fn wanted(&self) -> impl Iterator<Item = &Clause> {
        self.clauses.iter().filter(|clause| !clause.negated)
    }
}
