//! The vendor's own Python package streams a conversation with thinking and tool use from the scripted server: what we test
//! against speaks the real protocol.

use crate::world::{Backend, KEY, World};
use std::path::{Path, PathBuf};

const SCRIPT: &str = include_str!("../python/anthropic_stream.toml");

/// A Python that has the `anthropic` package; `make setup` makes one.
fn python() -> PathBuf {
    if let Some(given) = std::env::var_os("RETRACE_PYTHON") {
        return given.into();
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = std::env::var_os("RETRACE_CACHE").map_or_else(|| home.join(".cache/retrace"), PathBuf::from);
    let python = cache.join("python/bin/python");
    assert!(python.exists(), "{} is missing; hint: run `make setup`", python.display());
    python
}

#[test]
fn the_anthropic_package_streams_from_the_scripted_server() {
    let world = World::new(Backend::Embedded, SCRIPT);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/anthropic_stream.py");
    let mut command = tokio::process::Command::new(python());
    command.arg(program).arg(world.server.base_url()).arg(KEY).env_clear().kill_on_drop(true);
    let ran = world.finish(command).expect(0);
    println!("{}", ran.stdout);
    let answered = world.server.requests().iter().filter(|request| request.status == Some(200)).count();
    assert!(answered >= 2, "{:?}", world.server.requests());
}
