//! What each part of a score counts. One set for everything: dialogues, coding sessions, code.
//!
//! Measured on LoCoMo 1-5 (who said what in months of conversation) and on 137 recorded coding sessions (earlier events about
//! the file that is touched next); `benches/benches/retrieval.rs` measures again. The figures are rounded by hand to a middle
//! where both are good: weights fitted with one conversation left out find no more on that conversation.

/// A keyword score as good as the best found.
pub(super) const KEYWORD: f32 = 1.0;
/// What a match in paths and symbols adds to the keyword score, beside one in the text.
pub(super) const NAMES: f32 = 0.6;
/// What a neighbour's keyword score counts, by its distance. What is said gets its sense from what is said around it, and so
/// does what was done.
pub(super) const WINDOW: [f32; 2] = [0.5, 0.35];
/// What a neighbour's nearness in meaning counts beside one's own, by its distance.
pub(super) const WINDOW_VECTOR: [f32; 2] = [0.1, 0.2];
/// The nearest in meaning. The last of the list counts nothing: what is not in the list is at most as near, and is not known.
pub(super) const VECTOR: f32 = 0.8;
/// A cosine from which on the nearest is near indeed; below, all vectors count less.
pub(super) const NEAR: f32 = 0.5;
/// The least cosine at which a document is found by its vector alone: two texts about nothing in common stay below.
pub(super) const FOUND_BY_VECTOR: f32 = 0.2;
/// A path that the query names, or all words of a file's name.
pub(super) const PATH: f32 = 1.2;
/// All words of a file's name, beside the name itself.
pub(super) const PATH_WORDS: f32 = 0.8;
/// A day, month or year that the query names.
pub(super) const DATED: f32 = 1.5;
/// The logarithm of a text's length in words: who says more, says more that is worth finding. BM25 takes too much off for
/// length, and what is found only for its neighbours has nothing else that speaks for it.
pub(super) const LENGTH: f32 = 0.25;
/// A text that ends with a question: what it asks is said elsewhere.
pub(super) const ASKS: f32 = -0.15;
/// A thought: what came of it is said and done elsewhere.
pub(super) const THOUGHT: f32 = -0.1;
/// Something from just now.
pub(super) const RECENCY: f32 = 0.2;
/// After how long recency counts half, in milliseconds.
pub(super) const RECENCY_HALF_MS: f32 = 24.0 * 60.0 * 60.0 * 1000.0;
/// Something from the own session.
pub(super) const OWN: f32 = 0.5;
/// Something from a session that the own one was forked from.
pub(super) const ANCESTOR: f32 = 0.4;
/// What is left of a score when a hit about the same files was picked already.
pub(super) const AGAIN: f32 = 0.5;
/// Up to how many words a query is read whole by a model; of a longer one it sees the head, and its vector counts less.
pub(super) const READ_WORDS: f32 = 16.0;

/// Bytes to a word, about.
pub(super) const WORD_BYTES: f32 = 5.0;
