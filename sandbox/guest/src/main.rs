//! `retrace-guest`: serves the guest protocol on stdin/stdout, or (as `probe`) reports what a command can do here, or (as
//! `confine`) gives up rights and becomes another program.
//!
//! It has no other interface and reads no configuration: the host says everything over the protocol.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use retrace_guest::confine::{ConfineError, Confinement};
use retrace_guest::{DEFAULT_SILENCE_MS, probe, serve};

const USAGE: &str =
    "usage: retrace-guest serve --root <workspace> [--silence-ms <n>] | retrace-guest probe < plan.json";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [mode, flag, root] if mode == "serve" && flag == "--root" => {
            serve(&PathBuf::from(root), DEFAULT_SILENCE_MS).map_err(|error| error.to_string())
        }
        [mode, flag, root, silence, ms] if mode == "serve" && flag == "--root" && silence == "--silence-ms" => {
            match ms.to_str().and_then(|ms| ms.parse().ok()) {
                Some(silence_ms) => serve(&PathBuf::from(root), silence_ms).map_err(|error| error.to_string()),
                None => Err(USAGE.to_owned()),
            }
        }
        [mode, options @ ..] if mode == "confine" => Err(confine(options).to_string()),
        [mode] if mode == "probe" => {
            probe::run(std::io::stdin().lock(), std::io::stdout().lock()).map_err(|error| error.to_string())
        }
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Nothing is left to do when even stderr is gone.
            let _ = writeln!(std::io::stderr(), "retrace-guest: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Returns only when it failed.
fn confine(arguments: &[OsString]) -> ConfineError {
    match Confinement::parse(arguments) {
        Ok((confinement, program)) => confinement.become_program(program),
        Err(error) => error,
    }
}
