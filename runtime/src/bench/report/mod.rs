//! What was measured, for people ([`table()`]), for programs ([`json()`]) and as a page ([`html()`]).
//!
//! The same measurements give the same bytes. Latencies differ from run to run, so they are there only when asked for.

mod figures;
mod html;
mod json;
mod plot;
mod table;

pub use html::html;
pub use json::json;
pub use table::table;
