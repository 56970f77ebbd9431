//! Names the code that determines what is folded from events, so that a changed fold never reads what an old one wrote and
//! nobody has to remember a version number. One hash over sources, the lock file and the compiler's version.

use std::env;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What states and pasts are made by, from the root of the workspace. Names of compiled dependencies stand in the lock file.
const SOURCES: [&str; 18] = [
    "Cargo.lock",
    "events/src/blob.rs",
    "events/src/codec.rs",
    "events/src/envelope.rs",
    "events/src/fold",
    "events/src/hash.rs",
    "events/src/history.rs",
    "events/src/id.rs",
    "events/src/payload",
    "events/src/redact",
    "events/src/redact.rs",
    "events/src/timestamp.rs",
    "events/src/token.rs",
    "events/src/upcast",
    "events/src/upcast.rs",
    "indexer/src/summary",
    "runtime/src/context/past",
    "runtime/src/context/working",
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("..");
    let mut hasher = DefaultHasher::new();
    // The hashes that a working set keeps of lines are the standard library's.
    let compiler = Command::new(variable("RUSTC")?).arg("--version").output()?.stdout;
    write(&mut hasher, &compiler);
    for source in SOURCES {
        let path = root.join(source);
        println!("cargo::rerun-if-changed={}", path.display());
        add(&mut hasher, &root, &path)?;
    }
    println!("cargo::rustc-env=RETRACE_FOLD_SOURCES={:016x}", hasher.finish());
    Ok(())
}

fn variable(name: &str) -> Result<String, Box<dyn Error>> {
    env::var(name).map_err(|error| format!("{name}: {error}").into())
}

/// Adds a file, or what is in a folder, in order of names; tests determine nothing.
fn add(hasher: &mut DefaultHasher, root: &Path, path: &Path) -> Result<(), Box<dyn Error>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name == "tests" || name.ends_with("tests.rs") {
        return Ok(());
    }
    if path.is_dir() {
        let mut inside =
            fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
        inside.sort();
        return inside.iter().try_for_each(|inner| add(hasher, root, inner));
    }
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    write(hasher, path.strip_prefix(root)?.to_string_lossy().as_bytes());
    write(hasher, &bytes);
    Ok(())
}

fn write(hasher: &mut DefaultHasher, bytes: &[u8]) {
    hasher.write_usize(bytes.len());
    hasher.write(bytes);
}
