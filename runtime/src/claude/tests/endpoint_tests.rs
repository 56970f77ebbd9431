//! Addresses and keys: what is taken, what is refused, and that keys show nowhere.

use crate::claude::endpoint::{is_loopback, join};
use crate::claude::{Auth, ClaudeClient, ClientError, Endpoint, Secret};

fn new(base_url: &str, key: &str) -> Result<ClaudeClient, ClientError> {
    ClaudeClient::new(&Endpoint::new(base_url, Auth::ApiKey(Secret::new(key))))
}

#[test]
fn sound_endpoints_are_taken() {
    for url in
        ["https://api.anthropic.com", "http://127.0.0.1:4321/", "https://gateway.example/claude/ ", "http://[::1]:1"]
    {
        assert!(new(url, "sk-ant-api03-x_Y").is_ok(), "{url}");
    }
    assert!(ClaudeClient::new(&Endpoint::new(Endpoint::DEFAULT_BASE_URL, Auth::Bearer(Secret::new("token")))).is_ok());
}

#[test]
fn unsound_addresses_are_refused_with_a_hint() {
    for url in [
        "",
        "api.anthropic.com",
        "ftp://x",
        "file:///etc/passwd",
        "https://user:pw@x",
        "https://x/?a=1",
        "https://x/#f",
    ] {
        let error = new(url, "key").unwrap_err();
        assert!(matches!(error, ClientError::BaseUrl { .. }), "{url}");
        let text = error.to_string();
        assert!(text.contains("hint: check ANTHROPIC_BASE_URL") && !text.contains("pw@"), "{text}");
    }
}

#[test]
fn unsendable_keys_are_refused_without_being_shown() {
    for key in ["secret\n", "sec ret", "secret\0", "sécret", "\r\nx-evil: secret"] {
        let error = new("https://x", key).unwrap_err();
        assert!(matches!(error, ClientError::UnusableKey { .. }), "{key:?}");
        assert!(!format!("{error} {error:?}").contains("ret"), "{error:?}");
    }
    assert!(matches!(new("https://x", ""), Err(ClientError::EmptyKey { .. })));
}

#[test]
fn keys_show_nowhere() {
    let endpoint = Endpoint::new("http://127.0.0.1:1", Auth::ApiKey(Secret::new("sk-hidden")));
    let bearer = Endpoint::new("http://127.0.0.1:1", Auth::Bearer(Secret::new("sk-hidden")));
    for endpoint in [endpoint, bearer] {
        let client = ClaudeClient::new(&endpoint).unwrap();
        let shown = format!("{endpoint:?} {client:?}");
        assert!(!shown.contains("sk-hidden"), "{shown}");
        assert!(shown.contains("Secret(…)"));
    }
}

#[test]
fn paths_are_added_below_the_base() {
    let url = |text: &str| reqwest::Url::parse(text).unwrap();
    for (base, due) in [
        ("https://x", "https://x/v1/messages"),
        ("https://x/", "https://x/v1/messages"),
        ("https://x/gw/a/", "https://x/gw/a/v1/messages"),
        ("http://127.0.0.1:5/gw", "http://127.0.0.1:5/gw/v1/messages"),
    ] {
        assert_eq!(join(&url(base), "/v1/messages").as_str(), due);
    }
    for (address, loopback) in [
        ("http://127.0.0.1", true),
        ("http://127.9.9.9:8", true),
        ("http://[::1]:8", true),
        ("http://localhost", true),
        ("http://a.localhost", true),
        ("http://10.0.0.1", false),
        ("https://api.anthropic.com", false),
        ("https://localhost.evil.example", false),
    ] {
        assert_eq!(is_loopback(&url(address)), loopback, "{address}");
    }
}
