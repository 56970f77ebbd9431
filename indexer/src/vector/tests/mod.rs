//! What search by meaning promises: the right neighbours, exactly the rows that a filter lets through, nothing missing and
//! nothing twice after a crash, and an error in one line for whatever is damaged.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod crash;
mod damage;
mod errors;
mod filling;
mod filtering;
mod gists;
mod journal;
mod model;
mod table;
mod world;
