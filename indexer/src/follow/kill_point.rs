//! Kill points for the tests that kill a follower at each of them. Without the cargo feature `failpoints` this is nothing at
//! all.

/// Marks a place where the process may die: its own name, and `index`, which all places share, so that a test can kill at
/// the n-th of any kind.
pub(crate) fn kill_point(name: &str) {
    fail::fail_point!(name, |_| die());
    fail::fail_point!("index", |_| die());
    // Without the feature the macros are empty.
    let _ = name;
}

/// Ends the process as a loss of power would: no destructor, no flush, no message.
#[cfg(feature = "failpoints")]
fn die() {
    let this = rustix::process::getpid();
    let _ = rustix::process::kill_process(this, rustix::process::Signal::KILL);
}
