//! File operations through the sandbox handle. The guest's own tests go further; these show that the host's half fits.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use retrace_sandbox::{EntryKind, FailureKind, RawPath, SandboxError, SearchSpec, Truncation};

use crate::support::{Place, kind, slowly};

fn find(pattern: &str) -> SearchSpec {
    SearchSpec {
        pattern: pattern.to_owned(),
        path: RawPath::from(""),
        globs: Vec::new(),
        case_insensitive: false,
        context_lines: 0,
        max_matches: 100,
        files_with_matches: false,
        respect_gitignore: true,
        timeout_ms: 10_000,
    }
}

#[tokio::test]
async fn files_are_written_and_read_back() {
    let place = Place::new();
    let sandbox = place.start().await;
    let data: Vec<u8> = (0..3_500_000u32).map(|n| (n / 3) as u8).collect();
    let done = sandbox.write("deep/er/data.bin", data.clone(), Some(0o600)).await.unwrap();
    assert_eq!((done.written_bytes, done.created), (data.len() as u64, true));
    assert!(std::fs::read(place.workspace().join("deep/er/data.bin")).unwrap() == data);
    let whole = sandbox.read("deep/er/data.bin", 0, u64::MAX).await.unwrap();
    assert!(whole.bytes == data && whole.total_bytes == data.len() as u64);
    let part = sandbox.read("deep/er/data.bin", 3_000_000, 10).await.unwrap();
    assert_eq!(part.bytes, data[3_000_000..3_000_010]);
    let absolute = sandbox.workspace_inside().join("deep/er/data.bin");
    assert_eq!(sandbox.stat(&absolute, true).await.unwrap().mode, 0o600);
    assert!(!sandbox.write("deep/er/data.bin", "", None).await.unwrap().created);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn no_path_leads_out() {
    let place = Place::new();
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::os::unix::fs::symlink(outside.path(), place.workspace().join("link")).unwrap();
    let sandbox = place.start().await;
    for path in ["../x".as_ref(), outside.path(), "link".as_ref(), "/etc/passwd".as_ref(), "/tmp/x".as_ref()] {
        assert_eq!(kind(sandbox.read(path, 0, 1).await), FailureKind::OutsideWorkspace, "{path:?}");
        assert_eq!(kind(sandbox.write(path, "x", None).await), FailureKind::OutsideWorkspace, "{path:?}");
    }
    let error = sandbox.read("../x", 0, 1).await.unwrap_err();
    assert_eq!(error.to_string(), "../x leads out of the workspace");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn listing_and_searching_come_back_whole() {
    let place = Place::new();
    let files = 2_000 / slowly(1) as usize;
    for n in 0..files {
        place.file(&format!("dir/file-{n:04}.txt"), format!("line one\nneedle {n}\n"));
    }
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xff");
    std::fs::write(place.workspace().join(odd), "needle odd").unwrap();
    let sandbox = place.start().await;
    let listing = sandbox.list("", None, true, 10_000).await.unwrap();
    assert_eq!((listing.entries.len(), listing.done.truncated), (files + 2, None));
    assert_eq!(listing.entries[0].kind, EntryKind::Directory);
    assert_eq!(listing.entries[files + 1].path.as_path(), Path::new(odd));
    let cut = sandbox.list("dir", Some(1), true, 5).await.unwrap();
    assert_eq!((cut.entries.len(), cut.done.truncated), (5, Some(Truncation::Count)));
    let found = sandbox.search(SearchSpec { max_matches: 10_000, ..find("needle \\d+") }).await.unwrap();
    assert_eq!((found.matches.len(), found.done.matches), (files, files as u32));
    let bad = sandbox.search(find("(")).await;
    assert_eq!(kind(bad), FailureKind::BadRequest);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_dropped_request_is_cancelled() {
    let place = Place::new();
    for n in 0..300 {
        place.file(&format!("{n}"), vec![b'a'; 200_000]);
    }
    let sandbox = place.start().await;
    // Dropped at its first wait; the guest has to get rid of them, or the later ones find no room.
    for _ in 0..200 {
        let search = sandbox.search(find("(a|aa)*b(a|aa)*c"));
        let _ = tokio::time::timeout(std::time::Duration::from_micros(1), search).await;
    }
    let busy =
        |result: &Result<_, SandboxError>| matches!(result, Err(SandboxError::Guest(f)) if f.kind == FailureKind::Busy);
    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(slowly(20_000));
    while busy(&sandbox.stat("0", true).await) {
        assert!(std::time::Instant::now() < deadline, "the guest is still searching");
    }
    assert_eq!(sandbox.stat("0", true).await.unwrap().size_bytes, 200_000);
    sandbox.shutdown().await;
}
