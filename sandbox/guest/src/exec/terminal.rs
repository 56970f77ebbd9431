//! A command's terminal: a pair of which the guest keeps one end and the command gets the other.

use std::io;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::message::TerminalSize;

/// What a person types at the beginning of a line to say that nothing more comes (Ctrl-D).
pub(super) const END_OF_FILE: u8 = 4;

/// Both ends of a new terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    /// The guest's end.
    pub(super) ours: OwnedFd,
    /// The command's end.
    pub(super) theirs: OwnedFd,
}

impl Terminal {
    pub(super) fn open(size: TerminalSize) -> io::Result<Self> {
        // It must not become the guest's own controlling terminal.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        // By the pair itself and not by a path, which a command could have put something else at.
        let theirs = ioctl_tiocgptpeer(&ours, flags)?;
        resize(&ours, size)?;
        Ok(Self { ours, theirs })
    }
}

/// Changes the size, by either end; the kernel tells the command's foreground group.
pub(super) fn resize(terminal: &OwnedFd, size: TerminalSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}
