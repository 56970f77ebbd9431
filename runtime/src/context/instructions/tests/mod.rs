//! Tests of instruction files: in a real sandbox, with real and with hostile files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod excerpt_tests;
mod found_tests;
mod hostile_tests;
mod known_tests;
mod nested_tests;
mod touched_tests;

use super::{Instructions, KnownInstructions, collect, nested, touched_paths};
use retrace_events::payload::context::{ContextPassage, ContextSource};
use retrace_events::redact::Redactor;
use retrace_sandbox::{Limits, Policy, Sandbox, SandboxChoice};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A secret the redactor knows.
const SECRET: &str = "correct-horse-battery-staple";

/// A workspace in its sandbox, and a folder of the user's beside it.
struct Bench {
    folder: tempfile::TempDir,
    sandbox: Sandbox,
    redactor: Redactor,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ws", "user"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let policy = Policy::new(folder.path().join("ws"));
        let guest = folder.path().join("guest");
        let sandbox = Sandbox::start(SandboxChoice::Process, policy, Limits::default(), &guest).await.unwrap();
        Self { folder, sandbox, redactor: Redactor::new(vec![SECRET.to_owned()]) }
    }

    /// A path in the workspace, its folder made.
    fn ws(&self, path: &str) -> PathBuf {
        self.place("ws", path)
    }

    /// A path in the user's folder.
    fn user(&self, path: &str) -> PathBuf {
        self.place("user", path)
    }

    fn place(&self, base: &str, path: &str) -> PathBuf {
        let path = self.folder.path().join(base).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.ws(path), content).unwrap();
    }

    fn put_user(&self, path: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.user(path), content).unwrap();
    }

    async fn collect(&self) -> Instructions {
        collect(&self.sandbox, &self.folder.path().join("user"), &self.redactor).await
    }

    async fn nested(&self, touched: &[&str], known: &KnownInstructions) -> Instructions {
        let touched: Vec<String> = touched.iter().map(|path| (*path).to_owned()).collect();
        nested(&self.sandbox, &self.redactor, &touched, known).await
    }
}

/// Paths (of the user's files the names alone) and texts.
fn told(found: &Instructions) -> Vec<(&str, &str)> {
    found.passages.iter().map(|passage| (short(path_of(passage)), passage.text.as_str())).collect()
}

fn path_of(passage: &ContextPassage) -> &str {
    match &passage.source {
        ContextSource::Instructions(path) => path,
        other => panic!("{other:?}"),
    }
}

fn short(path: &str) -> &str {
    path.split_once("/user/").map_or(path, |(_, name)| name)
}
