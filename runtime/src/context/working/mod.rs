//! The working set of a session: the newest known text of its files in windows, its outputs, commands and names, ranked by
//! what the next step most likely needs.
//!
//! ```text
//!  event ──────┐                                  ┌─► files ── windows ─┐
//!              ├─► happening ──► WorkingSet::take ┼─► outputs ── windows ┼─► ranked ─┬─► passages (seed of an epoch)
//!  recorded ───┘                                  └─► recent texts ── interest ──────┘ └─► composed (a context afresh)
//! ```
//!
//! Two translators make one kind of input ([`Happening`]) of a session's events and of recordings of other agents; only
//! [`calls`] and [`results`] know names of tools and words of results. Everything behind them is a fold: no clock, no I/O,
//! bounded, and the same for the same input. Windows are cut and words are counted when somebody asks, and kept until the
//! file changes.

mod afresh;
pub(crate) mod calls;
mod chosen;
mod excerpt;
mod files;
mod happening;
mod in_epoch;
mod known_file;
mod line_text;
mod lists;
mod logged_calls;
mod matching;
mod missing;
mod name_counts;
mod outputs;
mod passages;
mod ranking;
mod recent;
pub(crate) mod results;
mod standing;
mod text_place;
mod told;
mod transcript;
mod weights;
mod windows;
mod words;
mod working_set;

#[cfg(test)]
mod tests;

pub(crate) use excerpt::cut;
pub(crate) use happening::{Action, Happening, Outcome, Speaker};
pub(crate) use logged_calls::unknown_action;
pub(crate) use missing::{FoundIn, FoundLines, FoundRun, MissingRoom, RankedWindows};
pub(crate) use standing::{LinesOf, Standing};
pub(crate) use told::{Told, told};
pub(crate) use words::for_each_word;
pub use working_set::WorkingSet;
