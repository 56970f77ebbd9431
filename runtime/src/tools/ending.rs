//! How a command ended, in words: the first line of what the model is told of it.

use super::output::thousands;
use retrace_events::payload::tool::ToolExit;
use retrace_sandbox::{ExecResult, LimitHit, Limits};

/// The signals that commands die of, by Linux number.
const SIGNALS: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (31, "SIGSYS"),
];

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ending {
    /// For programs.
    pub(super) exit: ToolExit,
    /// For the model: `exit code: 0`, and what else there is to say.
    pub(super) line: String,
    /// The first limit that was hit: its name, and what it is.
    pub(super) limit_hit: Option<(String, String)>,
}

impl Ending {
    /// The ending of a command that was given `timeout_ms` in a sandbox with `limits`.
    pub(super) fn of(result: &ExecResult, timeout_ms: u64, limits: &Limits) -> Self {
        let exit = ToolExit { code: result.code, signal: result.signal, timed_out: result.timed_out };
        let timeout_ms = timeout_ms.min(limits.wall_ms);
        let mut line = if result.timed_out {
            format!("timed out after {} ms; it was ended with all that it had started", thousands(timeout_ms))
        } else if result.limits_hit.contains(&LimitHit::Output) {
            "ended for writing too much output".to_owned()
        } else if let Some(code) = exit.code {
            format!("exit code: {code}")
        } else if let Some(signal) = exit.signal {
            format!("ended by signal {}", signal_name(signal))
        } else {
            "ended, nobody knows how".to_owned()
        };
        if result.leftovers_killed > 0 && !result.timed_out {
            let left = match result.leftovers_killed {
                1 => "1 process it left behind was ended".to_owned(),
                count => format!("{} processes it left behind were ended", thousands(count.into())),
            };
            line.push_str(&format!(" ({left})"));
        }
        for limit in &result.limits_hit {
            line.push_str(&format!("\nlimit hit: {}", in_words(*limit, timeout_ms, limits)));
        }
        let first = result.limits_hit.first();
        let limit_hit = first.map(|limit| (limit.as_str().to_owned(), in_words(*limit, timeout_ms, limits)));
        Self { exit, line, limit_hit }
    }

    /// Whether the command failed, as far as its exit tells.
    pub(super) fn is_failure(&self) -> bool {
        self.exit.code != Some(0)
    }
}

fn signal_name(signal: i32) -> String {
    match SIGNALS.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => format!("{signal} ({name})"),
        None => signal.to_string(),
    }
}

/// `memory (4 GiB): a process was ended for want of memory`.
fn in_words(limit: LimitHit, timeout_ms: u64, limits: &Limits) -> String {
    let name = limit.as_str();
    let of_sandbox = || limits.describe().into_iter().find(|(known, _)| *known == name).map(|(_, amount)| amount);
    let (amount, what) = match limit {
        LimitHit::Memory => (of_sandbox(), "a process was ended for want of memory"),
        LimitHit::Pids => (of_sandbox(), "a process could not be started: too many at once"),
        LimitHit::Time => (Some(format!("{} ms", thousands(timeout_ms))), "the command took too long"),
        LimitHit::Output => (of_sandbox(), "the command wrote too much output"),
        LimitHit::Cpu => (of_sandbox(), "a process used too much CPU time"),
        LimitHit::FileSize => (of_sandbox(), "a file became too large"),
        LimitHit::Disk => (
            of_sandbox(),
            "the workspace grew by too much, or the disk is nearly full; what was written is still there: delete what is not needed",
        ),
        LimitHit::Idle => (of_sandbox(), "nobody used the sandbox for a while"),
    };
    match amount {
        Some(amount) => format!("{name} ({amount}): {what}"),
        None => format!("{name}: {what}"),
    }
}
