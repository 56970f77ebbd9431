//! A command's terminal: a pair of which the guest keeps one end and the command gets the other.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

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
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
        // SAFETY: takes no memory; what is returned is checked.
        let ours = owned(unsafe { libc::posix_openpt(flags) })?;
        // SAFETY: plain calls on an open descriptor.
        check(unsafe { libc::grantpt(ours.as_raw_fd()) })?;
        // SAFETY: as above.
        check(unsafe { libc::unlockpt(ours.as_raw_fd()) })?;
        // By the pair itself and not by a path, which a command could have put something else at.
        // SAFETY: this request takes its flags by value.
        let theirs = owned(unsafe { libc::ioctl(ours.as_raw_fd(), libc::TIOCGPTPEER, flags) })?;
        resize(&ours, size)?;
        Ok(Self { ours, theirs })
    }
}

/// Changes the size, by either end; the kernel tells the command's foreground group.
pub(super) fn resize(terminal: &OwnedFd, size: TerminalSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}

/// A descriptor that a call has just made.
fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    check(fd)?;
    // SAFETY: it is open, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
