//! The guest's reader and everything behind it but commands, on a folder of its own.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = std::env::temp_dir().join(format!("retrace-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("a folder to work in");
    root
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    retrace_guest::fuzzing::requests(&ROOT, input);
    // What one input wrote must not be there for the next.
    for entry in std::fs::read_dir(&*ROOT).expect("the folder").flatten() {
        let _ = std::fs::remove_dir_all(entry.path()).or_else(|_| std::fs::remove_file(entry.path()));
    }
});
