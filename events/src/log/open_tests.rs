//! Where a log is, as people write it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;

#[test]
fn paths_and_addresses_are_told_apart() {
    for path in ["/var/lib/retrace", "relative/dir", "./x", "nats", "a:b", "C:/logs", "with space"] {
        assert_eq!(path.parse::<LogLocation>().unwrap(), LogLocation::Embedded(PathBuf::from(path)));
        assert_eq!(path.parse::<LogLocation>().unwrap().to_string(), path);
    }
    for url in ["nats://localhost:4222", "tls://nats.example.com", "nats://a:1,nats://b:2"] {
        let LogLocation::Nats(options) = url.parse().unwrap() else { panic!("{url}") };
        assert_eq!(options.url, url);
        assert_eq!(options.to_string(), url);
    }
}

#[test]
fn what_is_neither_is_refused_without_showing_secrets() {
    for text in [
        "",
        "  ",
        "http://user:hidden@host",
        "postgres://user:hidden@host",
        "nats://",
        "nats://a:1,http://b:2",
        "tls://user:hidden@",
    ] {
        let error = text.parse::<LogLocation>().unwrap_err().to_string();
        assert!(error.contains("hint:"), "{error}");
        assert!(!error.contains("hidden"), "{error}");
    }
}

#[tokio::test]
async fn a_path_is_opened_as_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let location = LogLocation::Embedded(dir.path().join("new"));
    let log = open_log(&location).await.unwrap();
    assert_eq!(log.location(), location.to_string());
    assert!(dir.path().join("new/log.db").is_file());
    assert!(dir.path().join("new/blobs").is_dir());
}
