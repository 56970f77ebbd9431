//! The guest's main loop: reads frames, starts a thread for each request, and makes sure that nothing outlives it.
//!
//! The server protects its own channel: stdin and stdout are moved away and closed on exec, and the process is made
//! non-dumpable, so that a command of the same user cannot reach them through `/proc`.

mod dispatch;
#[cfg(any(test, fuzzing))]
mod fuzz_stream;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod outbox;
mod registry;
mod silence;

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use crate::PROTOCOL_VERSION;
use crate::exec::Launcher;
use crate::files::Root;
use crate::forward::Forwarder;
use crate::frame::{FrameError, read_frame};
use crate::message::{Envelope, Hello, Request, Response};

pub(crate) use outbox::Outbox;
use registry::Registry;
use silence::Silence;

/// How long running requests may take to notice that the guest shuts down.
const SHUTDOWN_WAIT: Duration = Duration::from_secs(3);

/// Why the guest stopped serving.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The workspace root cannot be opened.
    #[error("cannot open the workspace {}: {source}", root.display())]
    Root {
        /// The folder.
        root: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The channel to the host cannot be set up.
    #[error("cannot set up the channel to the host: {source}")]
    Channel {
        /// What the system says.
        source: io::Error,
    },
    /// The host sent something that is not a frame, or went away in the middle of one.
    #[error("bad frame from the host: {source}")]
    Frame {
        /// What was wrong.
        #[from]
        source: FrameError,
    },
}

/// What every request can reach.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) root: Root,
    pub(crate) outbox: Outbox,
    pub(crate) registry: Registry,
    pub(crate) launcher: Launcher,
    pub(crate) forwarder: Forwarder,
    silence: Silence,
}

impl Guest {
    fn new(root: Root, outgoing: File, launcher: Launcher) -> Self {
        let (registry, silence) = (Registry::default(), Silence::default());
        let forwarder = Forwarder::default();
        Self { root, outbox: Outbox::new(outgoing), registry, launcher, forwarder, silence }
    }

    /// Ends every command with everything it started.
    fn end_everything(&self) {
        self.registry.kill_all();
        self.registry.wait_until_answered(SHUTDOWN_WAIT);
        self.launcher.kill_everything();
    }
}

/// Serves until the host closes stdin, asks for shutdown, or has said nothing for `silence_ms` (0: however long); then
/// no process of any command is left.
///
/// # Errors
/// When the root or the channel cannot be used, or the host breaks the protocol.
pub fn serve(root: &Path, silence_ms: u64) -> Result<(), ServeError> {
    let channel = |source| ServeError::Channel { source };
    close_inherited();
    let root = Root::open(root).map_err(|source| ServeError::Root { root: root.to_path_buf(), source })?;
    let (incoming, outgoing) = take_stdio().map_err(channel)?;
    protect_self().map_err(channel)?;
    let launcher = Launcher::new([incoming.as_raw_fd(), outgoing.as_raw_fd()]);
    let guest = Arc::new(Guest::new(root, File::from(outgoing), launcher));
    silence::watch(&guest, silence_ms).map_err(channel)?;
    guest.outbox.send(0, &Response::Hello(hello()), &[])?;

    let result = read_requests(&guest, File::from(incoming));
    guest.end_everything();
    if let Ok(Some(shutdown_id)) = result {
        // The host may have closed its end already.
        let _ = guest.outbox.send(shutdown_id, &Response::Bye, &[]);
    }
    result.map(|_| ())
}

/// Returns the id of the shutdown request, or `None` when the host closed the channel.
fn read_requests(guest: &Arc<Guest>, incoming: File) -> Result<Option<u64>, ServeError> {
    let mut incoming = BufReader::with_capacity(64 * 1024, incoming);
    while let Some(frame) = read_frame(&mut incoming)? {
        guest.silence.heard();
        let Envelope { id, message } = frame.message::<Envelope<Request>>()?;
        if matches!(message, Request::Shutdown) {
            return Ok(Some(id));
        }
        dispatch::dispatch(guest, id, message, frame.body)?;
    }
    Ok(None)
}

/// Whatever else the host left open would end up in every command.
fn close_inherited() {
    // SAFETY: nothing has been opened yet, so no descriptor above stderr is owned by anything in this process.
    unsafe {
        // Kernels before 5.9 do not know it; this is a second line of defence.
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
    }
}

/// Moves the channel away from fds 0 and 1, so that nothing else reads or writes there.
fn take_stdio() -> io::Result<(OwnedFd, OwnedFd)> {
    let incoming = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let outgoing = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok((incoming, outgoing))
}

fn protect_self() -> io::Result<()> {
    // SAFETY: plain prctl calls with integer arguments; they touch no memory.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL_VERSION,
        guest_version: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        uid: rustix::process::getuid().as_raw(),
        pid: std::process::id(),
    }
}
