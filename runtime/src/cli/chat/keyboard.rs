//! What the terminal does with keys that come between two lines of the editor, which takes each line in raw mode and
//! leaves that mode behind it. As the terminal is otherwise, a key that comes just then becomes another one: Enter arrives
//! as a line feed, which begins a new line instead of sending; Ctrl-D, Ctrl-S and Ctrl-V never arrive; and all of it is
//! written into what is being shown.
//!
//! So for a whole chat the terminal keeps keys as they are, also between two lines. Only Ctrl-C stays a signal, since then
//! nobody reads it. What is written is not touched: between two lines a line end is still a line end.

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// A special character that no key gives.
const NONE: u8 = 0;

/// A terminal that keeps keys as they are; as it was before when this goes out of scope, each time that one of its clones
/// does: whoever is the last to leave the terminal leaves it as it was.
#[derive(Clone)]
pub(super) struct Keyboard(Arc<Kept>);

struct Kept {
    terminal: OwnedFd,
    before: Termios,
}

impl Keyboard {
    /// Has the terminal on stdin keep keys as they are. What was typed before stays to be read.
    ///
    /// # Errors
    /// When there is no terminal, or it refuses.
    pub(super) fn keep() -> std::io::Result<Self> {
        Self::keep_on(std::io::stdin().as_fd().try_clone_to_owned()?)
    }

    /// As [`Self::keep`], of any terminal.
    pub(super) fn keep_on(terminal: OwnedFd) -> std::io::Result<Self> {
        let before = tcgetattr(&terminal)?;
        tcsetattr(&terminal, OptionalActions::Now, &between_lines(&before))?;
        Ok(Self(Arc::new(Kept { terminal, before })))
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(&self.0.terminal, OptionalActions::Now, &self.0.before);
    }
}

impl std::fmt::Debug for Keyboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyboard").finish_non_exhaustive()
    }
}

/// The modes between two lines, where `before` are those of the user's terminal.
fn between_lines(before: &Termios) -> Termios {
    let mut modes = before.clone();
    modes.make_raw();
    modes.output_modes = before.output_modes;
    modes.control_modes = before.control_modes;
    // Without the latter a Ctrl-C throws away what was typed and not yet read.
    modes.local_modes |= LocalModes::ISIG | LocalModes::NOFLSH;
    // As in the line these are keys like others: neither stops nor kills the process, with the terminal left as it is now.
    modes.special_codes[SpecialCodeIndex::VSUSP] = NONE;
    modes.special_codes[SpecialCodeIndex::VQUIT] = NONE;
    modes
}
