//! The conformance suite on all three backends, and what only one of them can suffer: crashes, full disks, lost acks,
//! servers that die.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has to fail")]

mod claims;
mod memory;
mod nats;
mod nats_claims;
mod nats_faults;
mod nats_refusals;
mod proxy;
mod sqlite;
mod sqlite_claims;
mod sqlite_crash;
mod sqlite_faults;
