//! Real sandboxes, through the public interface, each test on the backend that `RETRACE_TEST_SANDBOX` names: `process`
//! (the default; needs bubblewrap), `container` or `krun` (need an engine with the default image: `.ci/with-podman`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod container;
mod disk;
mod engine;
mod escapes;
mod files;
mod isolation;
mod lifecycle;
mod limits;
mod network;
mod none;
mod plain_user;
mod programs;
mod soak;
mod start;
mod streams;
mod support;
mod terminals;
