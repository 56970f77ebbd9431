//! The `retrace` command as it is shipped, with the kill points of its loop compiled in.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Reads the kill points to be used from `FAILPOINTS`.
    let _scenario = fail::FailScenario::setup();
    retrace_runtime::cli::main()
}
