//! The system prompt, as the model reads it.

use crate::context::system_prompt::{Surroundings, system_prompt};
use expect_test::expect_file;
use std::path::Path;

#[test]
fn the_whole_text() {
    let around = Surroundings { workspace: Path::new("/work"), backend: "process", network: false };
    expect_file!["system_prompt.txt"].assert_eq(&system_prompt(&around));
}

#[test]
fn its_place_is_said() {
    let of = |backend, network| system_prompt(&Surroundings { workspace: Path::new("/w"), backend, network });
    assert!(of("none", true).contains("without a sandbox: be careful. The network is reachable."));
    assert!(of("process", false).contains("in a sandbox (process)"));
}
