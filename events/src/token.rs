//! Tokens: the parts of a stream's name, fit for a NATS subject, a path and a query as they are.

use crate::id::InvalidId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One part of a stream's name: 1 to 64 of `a-z 0-9 _ -`, so that it needs no quoting in a NATS subject or a path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token(String);

impl Token {
    /// Checks `text` and wraps it.
    ///
    /// # Errors
    /// When it is empty, longer than 64 bytes, or has another character.
    pub fn new(text: &str) -> Result<Self, InvalidId> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        if text.is_empty() || text.len() > 64 || !text.bytes().all(allowed) {
            return Err(InvalidId::new("name", text, "1 to 64 characters of a-z, 0-9, `_`, `-`"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Makes a token out of any text: other characters become `-`, what is too long is cut, empty becomes `x`.
    #[must_use]
    pub fn slug(text: &str) -> Self {
        let lower = text.to_lowercase();
        let keep = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' { c } else { '-' };
        let slug: String = lower.chars().map(keep).take(64).collect();
        Self(if slug.is_empty() { "x".to_owned() } else { slug })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Token {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        Self::new(&text)
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
