//! Events as people read them: the same text while an agent works ([`LivePrinter`]) and afterwards ([`Transcript`]).
//!
//! Everything here makes text and prints nothing. What comes from model, tool, file or log passes through [`clean`] and
//! the redactor first.

mod answer;
pub(crate) mod asks;
mod calls;
pub(crate) mod clean;
mod diff;
mod live_printer;
mod markdown;
mod other;
mod streamed;
mod style;
mod transcript;
pub(crate) mod units;

#[cfg(test)]
mod tests;

pub(crate) use answer::AnswerText;
pub(crate) use diff::painted as painted_diff;
pub(crate) use live_printer::LivePrinter;
pub(crate) use style::Style;
pub(crate) use transcript::{Detail, Transcript};
