//! What the follower promises: nothing missing, nothing twice, whatever happens in between.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod crash;
mod damage;
mod deleting;
mod live;
mod lock;
mod world;
