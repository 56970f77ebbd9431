//! Tests of the chat's parts; whole conversations are in `cli/tests/chats.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod complete;
mod history;
mod input;
mod keyboard;
mod layout;
mod line;
mod paste;
