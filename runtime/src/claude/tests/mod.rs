#![allow(clippy::unwrap_used)]
//! tests
