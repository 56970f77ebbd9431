//! The bounds are read strictly. That they hold is shown where there is a microVM: by the conformance suite on krun.

use super::*;

#[test]
fn bounds_are_three_positive_numbers() {
    let limits = MachineLimits { memory_bytes: 1024, pids: 64, shm_bytes: 7 };
    assert_eq!(MachineLimits::parse("1024:64:7"), Some(limits));
    for wrong in ["", "1", "1:2", "1:2:3:4", "0:1:1", "1:0:1", "1:1:0", "1:-1:1", "1:1:x", " 1:1:1", "1:1:"] {
        assert_eq!(MachineLimits::parse(wrong), None, "{wrong:?}");
    }
}

#[test]
fn without_a_group_nothing_was_stopped() {
    assert_eq!(Stopped::now(), Stopped::default());
}
