//! Asks once whether a folder is trusted that has something which needs it.

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::clean;
use super::setup::Setup;
use crate::config::TrustList;
use std::io::Read;

/// The longest answer that is read, in bytes.
const LONGEST: usize = 1_000;

/// Asks where there is something to ask and somebody to be asked. True when the folder is trusted from now on, so that the
/// configuration has to be read again.
///
/// # Errors
/// When the answer cannot be read, or the list of trusted folders cannot be written.
pub(crate) async fn ask(setup: &Setup, invocation: &Invocation) -> Result<bool, CliError> {
    let config = &setup.config;
    let Some(folder) = config.workspace.to_str().filter(|_| config.needs_trust && invocation.place.stdin_is_terminal)
    else {
        return Ok(false);
    };
    setup.output.always(&format!("trust this folder, {}? [y/N] ", clean::line(folder)));
    if !matches!(answer(invocation).await?.trim().to_lowercase().as_str(), "y" | "yes") {
        setup.output.always("not trusted: going on without\n");
        return Ok(false);
    }
    TrustList::load(config.folders.trust_file())?.set(folder, true)?;
    Ok(true)
}

/// A line, read in a thread of its own: a task of the runtime would keep the process from ending.
///
/// # Errors
/// When it cannot be read.
pub(super) async fn answer(invocation: &Invocation) -> Result<String, CliError> {
    let (sender, answer) = tokio::sync::oneshot::channel();
    let failed = |error: std::io::Error| CliError::new(Exit::Failed, format!("cannot read the answer: {error}"));
    let mut reader = invocation.place.stdin();
    std::thread::Builder::new()
        .name("trust".to_owned())
        .spawn(move || {
            // Whoever asked may be gone.
            let _ = sender.send(line(&mut reader));
        })
        .map_err(failed)?;
    answer.await.map_err(|_| failed(std::io::Error::other("nobody reads it")))?.map_err(failed)
}

/// A line, byte by byte: what follows it is somebody else's to read.
fn line(reader: &mut impl Read) -> std::io::Result<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < LONGEST && reader.read(&mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}
