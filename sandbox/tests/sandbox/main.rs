//! Real sandboxes, through the public interface. They need bubblewrap, like the product.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod files;
mod isolation;
mod lifecycle;
mod limits;
mod network;
mod none;
mod plain_user;
mod programs;
mod start;
mod support;
