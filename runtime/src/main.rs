//! The `retrace` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    retrace_runtime::cli::main()
}
