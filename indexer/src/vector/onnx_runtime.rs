//! The ONNX runtime: one shared library, found in a few places, looked at before it is loaded, and loaded once.
//!
//! Loading runs the library's own code, and a file that was cut short would end the process with a bus error; so its headers
//! are checked against its length first. What a library that passes does cannot be checked: it comes from where the user
//! said, never from a workspace.

use super::embed_error::{EmbedError, one_line};
use ort::environment::Environment;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const LIBRARY: &str = "libonnxruntime.so";
/// Where a system keeps its libraries.
const SYSTEM_FOLDERS: [&str; 6] = [
    "/usr/local/lib",
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/opt/onnxruntime/lib",
];

/// There can be one in a process, and it must stay.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// The runtime's environment: loads the library when this is the first call.
///
/// `named` is what `ORT_DYLIB_PATH` says; `folders` are looked through in their order, then the system's.
///
/// # Errors
/// When there is no library, or it cannot be used. A later call may find another one.
pub(super) fn environment(named: Option<&Path>, folders: &[PathBuf]) -> Result<Environment, EmbedError> {
    let mut loaded = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = loaded.as_ref() {
        return Ok(environment.clone());
    }
    let path = find(named, folders).ok_or(EmbedError::NoRuntime)?;
    let refused = |reason: String| EmbedError::Runtime { path: path.clone(), reason };
    check(&path).map_err(|error| refused(error.to_string()))?;
    // What passes for a library may still break the loader's own assumptions.
    let made = catch_unwind(|| {
        let builder = ort::init_from(&path).map_err(|error| one_line(&error))?;
        builder.with_name("retrace").with_telemetry(false).build().map_err(|error| one_line(&error))
    });
    let environment = made.unwrap_or_else(|_| Err("its interface is not what it says".to_owned())).map_err(refused)?;
    *loaded = Some(environment.clone());
    Ok(environment)
}

/// The library to load: the named one, even when it is missing, or the first that is there.
pub(super) fn find(named: Option<&Path>, folders: &[PathBuf]) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.to_path_buf());
    }
    let folders = folders.iter().map(PathBuf::as_path).chain(SYSTEM_FOLDERS.iter().map(Path::new));
    folders.map(|folder| folder.join(LIBRARY)).find(|path| path.is_file())
}

/// Whether the file is a whole shared library for this machine, as far as its headers say.
pub(super) fn check(path: &Path) -> io::Result<()> {
    const HEADER: usize = 64;
    const SEGMENT: usize = 56;
    const MAX_SEGMENTS: u16 = 128;
    #[cfg(target_arch = "x86_64")]
    const MACHINE: u16 = 62;
    #[cfg(target_arch = "aarch64")]
    const MACHINE: u16 = 183;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    compile_error!("say which ELF machine this is");

    let wrong = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, reason.to_owned());
    let file = File::open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(wrong("not a regular file"));
    }
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0).map_err(|_| wrong("not a shared library"))?;
    // ELF, 64 bits, little endian, a shared object.
    if !header.starts_with(b"\x7fELF\x02\x01") || number(&header, 16, 2) != 3 {
        return Err(wrong("not a shared library"));
    }
    if number(&header, 18, 2) != u64::from(MACHINE) {
        return Err(wrong("made for another kind of machine"));
    }
    let (at, each, count) = (number(&header, 32, 8), number(&header, 54, 2), number(&header, 56, 2));
    if each != SEGMENT as u64 || count == 0 || count > u64::from(MAX_SEGMENTS) {
        return Err(wrong("its headers are damaged"));
    }
    // The table of sections stands at the end of the file.
    let sections = number(&header, 40, 8).checked_add(number(&header, 58, 2) * number(&header, 60, 2));
    let mut ends = vec![sections];
    for index in 0..count {
        let mut segment = [0; SEGMENT];
        let offset = at.checked_add(index * each).ok_or_else(|| wrong("its headers are damaged"))?;
        file.read_exact_at(&mut segment, offset).map_err(|_| wrong("it is cut short"))?;
        ends.push(number(&segment, 8, 8).checked_add(number(&segment, 32, 8)));
    }
    if ends.iter().any(|end| end.is_none_or(|end| end > meta.len())) {
        return Err(wrong("it is cut short"));
    }
    Ok(())
}

/// The little-endian number of `length` bytes at `at`.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let bytes = bytes.get(at..at + length).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
