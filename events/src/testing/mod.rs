//! What tests of this and other crates need: example payloads, a maker of events, a real nats-server, and the suite
//! that every backend of the log has to pass.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has to fail")]

pub mod conformance;
pub mod event_maker;
pub mod examples;
pub mod nats_server;

pub use conformance::Backend;
pub use event_maker::EventMaker;
pub use examples::{example_payloads, example_settings, example_stream};
pub use nats_server::{NatsConfig, NatsServer};
