//! The scripted Claude server: real HTTP, real streaming, answers out of a script.
//!
//! `retrace demo` and the tests talk to it instead of the vendor's API. It is stricter than that API where the
//! documentation leaves room: every request is checked ([`validate`]), thinking is signed over its prefix and verified
//! when it comes back ([`signature`]), the prompt cache is simulated, and every fault of a network can be scripted.
//!
//! Invariants:
//! - Which step is played, with which ids and signatures, is a pure function of the request. Only faults count
//!   attempts.
//! - It listens on this machine only and forgets everything when it stops.
//!
//! # Script
//! ```toml
//! [delivery]               # optional, for all steps; a step may have its own
//! split = 7                # bytes a write, cutting events and UTF-8 anywhere
//! delay_ms = 5             # pause between writes
//! delta_chars = 24         # characters of one delta
//! odd = true               # CRLF, comments, pings, unknown events and deltas
//!
//! [[step]]
//! name = "look"            # optional; for `next`
//! when = "look at (\\S+)"  # optional; must fit what the user side said last
//! next = ["fix", "stop"]   # optional; candidates for the next turn (else the later steps in file order)
//! stop_reason = "tool_use" # optional; usually follows from the blocks
//! usage = { output_tokens = 9 }
//! [[step.block]]
//! type = "thinking"        # text | thinking | redacted_thinking | tool_use
//! text = "$1 it is"        # captures of `when`: $1, ${1}, ${name}
//! [[step.block]]
//! type = "tool_use"
//! name = "read_file"
//! input = { path = "$1" }  # or: raw_input = '{"broken'
//! [[step.fault]]           # used up by the first attempt, the next fault by the second, ...
//! status = 429             # with retry_after, retry_after_ms, should_retry, error_type, message
//! [[step.fault]]
//! cut_after_events = 4     # or cut_after_bytes, end_after_events, stall_after_events, hang = true,
//! times = 2                # or error_mid_stream = "overloaded_error" with after_events / after_bytes
//!
//! [compaction]             # optional; how requests for a summary are answered
//! summary = "so far: ..."  # else what the user said, shortened
//! stop_reason = "refusal"  # anything but "compaction" (the default) comes without a summary
//! [[compaction.fault]]     # as for a step
//! status = 529
//! ```

mod api_error;
mod cache;
mod canonical;
mod captured;
mod delivery;
mod fault;
mod frames;
mod plan;
mod prefix_hash;
mod record;
mod routes;
mod script;
mod script_file;
mod server;
mod signature;
mod state;
mod step;
mod summarized;
mod validate;
mod walk;

#[cfg(test)]
pub(crate) mod tests;

pub use record::RequestRecord;
pub use script::Script;
pub use script_file::ScriptError;
pub use server::{ScriptedServer, ServeError, ServerError, ServerOptions, serve_until_ctrl_c};
