//! How endings are told.

use crate::tools::ending::Ending;
use retrace_events::payload::tool::ToolExit;
use retrace_sandbox::{ExecResult, LimitHit, Limits};

fn ending(result: ExecResult) -> Ending {
    Ending::of(&result, 120_000, &Limits::default())
}

#[test]
fn endings_are_told_in_a_line() {
    let code = |code| ExecResult { code: Some(code), ..ExecResult::default() };
    let signal = |signal| ExecResult { signal: Some(signal), ..ExecResult::default() };
    let table = [
        (code(0), "exit code: 0", false),
        (code(101), "exit code: 101", true),
        (signal(9), "ended by signal 9 (SIGKILL)", true),
        (signal(40), "ended by signal 40", true),
        (ExecResult { leftovers_killed: 3, ..code(0) }, "exit code: 0 (3 processes it left behind were ended)", false),
        (ExecResult::default(), "ended, nobody knows how", true),
    ];
    for (result, line, is_failure) in table {
        let ending = ending(result);
        assert_eq!((ending.line.as_str(), ending.is_failure(), ending.limit_hit), (line, is_failure, None));
    }
}

#[test]
fn limits_are_named_with_their_amount() {
    let result = |limit| ExecResult { code: Some(137), limits_hit: vec![limit], ..ExecResult::default() };
    let table = [
        (LimitHit::Memory, "memory (4 GiB): a process was ended for want of memory"),
        (LimitHit::Pids, "pids (512): a process could not be started: too many at once"),
        (LimitHit::Cpu, "cpu (3600 s): a process used too much CPU time"),
        (LimitHit::FileSize, "file_size (4 GiB): a file became too large"),
        (
            LimitHit::Disk,
            "disk (16 GiB): the workspace grew by too much, or the disk is nearly full; what was written is still \
             there: delete what is not needed",
        ),
    ];
    for (limit, words) in table {
        let ending = ending(result(limit));
        assert_eq!(ending.line, format!("exit code: 137\nlimit hit: {words}"));
        assert_eq!(ending.limit_hit, Some((limit.as_str().to_owned(), words.to_owned())));
    }
}

#[test]
fn time_and_output_come_before_the_signal_that_ended_it() {
    let killed = ExecResult { signal: Some(9), leftovers_killed: 2, ..ExecResult::default() };
    let timed_out = ExecResult { timed_out: true, limits_hit: vec![LimitHit::Time], ..killed.clone() };
    let ending_of_time = ending(timed_out);
    assert!(ending_of_time.line.starts_with("timed out after 120,000 ms; it was ended"), "{}", ending_of_time.line);
    assert!(ending_of_time.line.ends_with("\nlimit hit: time (120,000 ms): the command took too long"));
    assert_eq!(ending_of_time.exit, ToolExit { code: None, signal: Some(9), timed_out: true });
    let output = ending(ExecResult { limits_hit: vec![LimitHit::Output], ..killed });
    assert!(output.line.starts_with("ended for writing too much output"), "{}", output.line);
    assert!(output.line.ends_with("limit hit: output (64 MiB): the command wrote too much output"), "{}", output.line);
    let long = Ending::of(&ExecResult { timed_out: true, ..ExecResult::default() }, u64::MAX, &Limits::default());
    assert!(long.line.starts_with("timed out after 3,600,000 ms"), "no command runs longer than the sandbox lets it");
}
