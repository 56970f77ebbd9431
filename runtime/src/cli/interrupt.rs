//! Ctrl-C and SIGTERM: the first asks the agent to stop, which it writes into the log; the second ends the process at
//! once, and the next `resume` settles what was left open.

use super::exit::Exit;
use super::output::Output;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Listens from now on; the first signal cancels `cancel`. Must be called inside the runtime.
///
/// # Errors
/// When no handler can be installed.
pub(super) fn listen(output: Output, cancel: CancellationToken) -> std::io::Result<()> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        next(&mut interrupt, &mut terminate).await;
        cancel.cancel();
        output.always("\nstopping; once more ends at once\n");
        next(&mut interrupt, &mut terminate).await;
        std::process::exit(i32::from(Exit::Interrupted.code()));
    });
    Ok(())
}

async fn next(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
