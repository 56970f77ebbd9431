//! Which limit was hit, from what is known.

use super::*;

fn hit(end: ExecEnd, before: Counters, after: Counters) -> Vec<LimitHit> {
    let limits = ExecLimits { cpu_seconds: Some(1), file_size_bytes: Some(1), ..ExecLimits::default() };
    limits_hit(&end, &limits, before, after)
}

#[test]
fn signals_are_seen_through_a_shell_too() {
    let none = Counters::default();
    for (signal, expected) in [(libc::SIGXCPU, LimitHit::Cpu), (libc::SIGXFSZ, LimitHit::FileSize)] {
        assert_eq!(hit(ExecEnd { signal: Some(signal), ..ExecEnd::default() }, none, none), [expected]);
        assert_eq!(hit(ExecEnd { code: Some(128 + signal), ..ExecEnd::default() }, none, none), [expected]);
        assert_eq!(hit(ExecEnd { code: Some(signal), ..ExecEnd::default() }, none, none), []);
    }
}

#[test]
fn a_signal_without_such_a_limit_names_none() {
    let end = ExecEnd { signal: Some(libc::SIGXCPU), ..ExecEnd::default() };
    assert_eq!(limits_hit(&end, &ExecLimits::default(), Counters::default(), Counters::default()), []);
}

#[test]
fn only_what_grew_meanwhile_counts() {
    let (before, after) =
        (Counters { memory_kills: 3, pids_refused: 5 }, Counters { memory_kills: 3, pids_refused: 6 });
    assert_eq!(hit(ExecEnd { code: Some(0), ..ExecEnd::default() }, before, after), [LimitHit::Pids]);
    // Counted inside.
    assert_eq!(hit(ExecEnd { memory_kills: 1, ..ExecEnd::default() }, before, before), [LimitHit::Memory]);
    assert_eq!(hit(ExecEnd { pids_refused: 1, ..ExecEnd::default() }, before, before), [LimitHit::Pids]);
    let more = Counters { memory_kills: 4, ..before };
    assert_eq!(hit(ExecEnd { signal: Some(9), ..ExecEnd::default() }, before, more), [LimitHit::Memory]);
}

#[test]
fn the_guests_own_findings_are_passed_on() {
    let none = Counters::default();
    let end = ExecEnd { timed_out: true, output_limit_hit: true, ..ExecEnd::default() };
    assert_eq!(hit(end, none, none), [LimitHit::Time, LimitHit::Output]);
}
