//! Kill points between the steps of the loop, for the tests that kill the process at each of them. Without the cargo
//! feature `failpoints` this is nothing at all.

/// Marks the place between two steps. Each place is two fail points: its own name, and `step`, which all places share, so
/// that a test can also kill at the n-th step of any kind.
pub fn step(name: &str) {
    fail::fail_point!(name, |_| die());
    fail::fail_point!("step", |_| die());
    // Without the feature the macros are empty.
    let _ = name;
}

/// Ends the process as a loss of power would: no destructor, no flush, no message.
#[cfg(feature = "failpoints")]
fn die() {
    let this = rustix::process::getpid();
    let _ = rustix::process::kill_process(this, rustix::process::Signal::KILL);
}
