//! The system prompt, as the model reads it.

use crate::context::system_prompt::{Surroundings, system_prompt};
use expect_test::expect_file;
use std::path::Path;

#[test]
fn the_whole_text() {
    let around = Surroundings { workspace: Path::new("/work"), backend: "process", network: &[] };
    expect_file!["system_prompt.txt"].assert_eq(&system_prompt(&around));
}

#[test]
fn its_place_is_said() {
    let of =
        |backend, network: &[String]| system_prompt(&Surroundings { workspace: Path::new("/w"), backend, network });
    let listed = ["crates.io".to_owned(), "*.example.org:8443".to_owned()];
    for network in [&listed[..], &[]] {
        assert!(of("none", network).contains("without a sandbox: be careful.\n"));
    }
    assert!(of("process", &[]).contains("in a sandbox (process)"));
    assert!(of("container", &[]).contains("can be written. There is no network.\n"));
    assert!(of("krun", &listed).contains("through the proxy that HTTP_PROXY names: crates.io, *.example.org:8443.\n"));
}
