//! A context as an arm composed it: ordered pieces of text, each with what it costs.

use super::cache::CacheMark;
use std::borrow::Cow;

/// The words of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body<'c> {
    /// An item of the session, whole and word for word.
    Item(usize),
    /// Anything else. Evidence is looked for in each piece for itself, so two adjacent lines must stand in one piece.
    Text(Cow<'c, str>),
}

/// A piece of a context: what a block is in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'c> {
    /// Its words.
    pub body: Body<'c>,
    /// What it costs, in tokens, with all that says where it is from.
    pub tokens: u64,
}

impl<'c> Piece<'c> {
    /// An item of the session that costs `tokens`.
    #[must_use]
    pub const fn item(at: usize, tokens: u64) -> Self {
        Self { body: Body::Item(at), tokens }
    }

    /// A text that costs `tokens`.
    #[must_use]
    pub fn text(text: impl Into<Cow<'c, str>>, tokens: u64) -> Self {
        Self { body: Body::Text(text.into()), tokens }
    }
}

/// A context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Composed<'c> {
    /// Its pieces in the order of the request.
    pub pieces: Vec<Piece<'c>>,
    /// Where the prompt cache is to be written; `None` for the usual places ([`super::cache::usual_marks`]).
    pub marks: Option<Vec<CacheMark>>,
}

impl Composed<'_> {
    /// What it costs, in tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }
}

impl<'c> From<Vec<Piece<'c>>> for Composed<'c> {
    fn from(pieces: Vec<Piece<'c>>) -> Self {
        Self { pieces, marks: None }
    }
}
