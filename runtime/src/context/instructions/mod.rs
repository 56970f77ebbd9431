//! Instruction files, `AGENTS.md` and `CLAUDE.md`: the user's own, those at the root of the workspace, and those of a
//! folder once a tool has touched something in it. They come in the order user, root, nested, so that the nearest is
//! last.
//!
//! What is found is hostile until proven otherwise: files of the workspace are read by the sandbox's guest, so that no
//! link leads out; only regular files are; size, number and depth are bounded; binary files are left out; secrets and
//! characters that cannot be seen are taken out. Nothing here decides anything: a passage is text for the model, framed by
//! the renderer as what it is. `@file` lines are not followed, and a folder is looked at once an epoch.

mod excerpt;
mod gathering;
mod known;
mod source;
mod touched;

#[cfg(test)]
mod tests;

pub use known::{KnownInstructions, known_instructions};
pub use touched::touched_paths;

use gathering::Gathering;
use retrace_events::payload::context::ContextPassage;
use retrace_events::redact::Redactor;
use retrace_sandbox::Sandbox;
use source::Source;
use std::path::Path;

/// The names that are looked for, in this order.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// How much of all files together goes into an epoch, in bytes.
const TOTAL_BYTES: usize = 64 * 1024;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instructions {
    /// For the epoch's seed, or for its tail.
    pub passages: Vec<ContextPassage>,
    /// What the user should know, a line each: files that are cut, or not used.
    pub notices: Vec<String>,
}

/// The files that every epoch begins with: the user's own, in `user_folder` on the host, and those at the root of the
/// workspace.
pub async fn collect(sandbox: &Sandbox, user_folder: &Path, redactor: &Redactor) -> Instructions {
    let mut gathering = Gathering::new(redactor, TOTAL_BYTES);
    gathering.folder(&Source::Host(user_folder.to_path_buf()), false).await;
    gathering.folder(&Source::Workspace { sandbox, folder: String::new() }, false).await;
    gathering.done()
}

/// The files of the folders in the workspace that hold `touched` paths ([`touched_paths`]), as far as the epoch does not
/// have them already ([`known_instructions`]).
pub async fn nested(
    sandbox: &Sandbox,
    redactor: &Redactor,
    touched: &[String],
    known: &KnownInstructions,
) -> Instructions {
    let mut gathering = Gathering::new(redactor, TOTAL_BYTES.saturating_sub(known.bytes()));
    for folder in known.unknown_folders(touched) {
        // A file that is no good leaves a passage too, so that the log knows it was looked at.
        gathering.folder(&Source::Workspace { sandbox, folder }, true).await;
    }
    gathering.done()
}
