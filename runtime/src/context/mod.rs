//! Context assembly: from a session's state to the exact bytes of a request.
//!
//! A request is a function of the log and of nothing else. What is not conversation (system, tools, model row) stands
//! verbatim in the epoch's first event ([`new_epoch`]), and the renderer that an epoch began with ([`render()`]) is kept
//! for as long as there are logs that name it. Instruction files are found here too ([`instructions`]); they enter a
//! request as passages of the log, like everything else. When an epoch is full the next one
//! begins with a seed made of the session's past ([`Past`]) and keeps the newest steps word for word ([`kept_from`]).

mod body;
mod carried;
mod compaction;
mod epoch;
mod epoch_rooms;
mod fitted;
mod framing;
pub mod instructions;
mod inventory;
mod kept;
mod past;
mod render;
mod render_first;
mod render_second;
mod render_third;
mod system_prompt;
pub(crate) mod working;

#[cfg(test)]
mod tests;

pub use compaction::{compactable_until, render_compaction};
pub use epoch::{EpochError, EpochPlan, compacted_epoch, differs, new_epoch};
pub(crate) use epoch_rooms::EpochRooms;
pub use instructions::{Instructions, KnownInstructions, known_instructions, touched_paths};
pub use inventory::{ContextPart, inventory};
pub use kept::{conversation_bytes, kept_from};
pub use past::Past;
pub use render::{RENDERER, RenderError, render};
pub use working::WorkingSet;
