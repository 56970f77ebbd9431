//! What of a text is shown: all of it, or under a budget the passage that holds most of the query's words.

use crate::query::{Query, Snippet};

/// Bytes to a token, about.
const TOKEN_BYTES: usize = 4;

/// What a text costs, in tokens.
pub(super) const fn tokens(text: &str) -> usize {
    text.len() / TOKEN_BYTES + 1
}

/// The best passage of at most `max_tokens` tokens.
pub(super) fn passage(query: &Query, text: &str, max_tokens: usize) -> String {
    if tokens(text) <= max_tokens {
        return text.to_owned();
    }
    let max_bytes = max_tokens.saturating_sub(1) * TOKEN_BYTES;
    let mut passage = Snippet::of(query, text, max_bytes).text;
    // Characters are not bytes: a text that is not English has fewer of them.
    passage.truncate(passage.floor_char_boundary(max_bytes));
    passage
}
