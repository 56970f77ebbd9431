//! What each part of a score counts for a piece of code.
//!
//! Measured on issues of SWE-bench Lite (which file must be changed to settle an issue), chosen by every other
//! task with the figures of the rest in sight; `benches/benches/localisation` measures again, on both halves. Rounded by hand to a middle where the neighbours of each weight
//! are about as good.

/// The rarest words of the query, in the text.
pub(super) const RARE: f32 = 0.4;
/// The rarest words of the query, in paths and symbols.
pub(super) const RARE_NAMES: f32 = 0.4;
/// All words of the query, in the text.
pub(super) const WHOLE: f32 = 0.4;
/// The first words of the query, in the text. A title stands there, or what was said last.
pub(super) const HEAD: f32 = 0.4;
/// The first words of the query, in paths and symbols.
pub(super) const HEAD_NAMES: f32 = 0.2;
/// The logarithm of what else was found in the same file.
pub(super) const FILE: f32 = 0.1;
/// Up to so many words, the length of a piece of code counts as that of other documents; beyond, it says nothing.
pub(super) const LENGTH_WORDS: f32 = 30.0;
/// A test, when tests are not asked for: it repeats the words of what it tests.
pub(super) const TEST: f32 = -0.8;
/// Prose and data, when prose is not asked for.
pub(super) const PROSE: f32 = -0.6;
/// A path in a long query, where a log may name many: less than in a short one.
pub(super) const LOGGED_PATH: f32 = 0.3;
