//! Credentials: where they may go, and that they cannot be seen.

use std::io::Write as _;

use crate::network::target::Target;
use crate::network::{AllowList, Credential, CredentialError, Secret};

const SECRET: &str = "s3cr3t-value";

fn secret() -> Secret {
    Secret::new(SECRET)
}

fn serves(credential: &Credential, target: &str, with_tls: bool) -> bool {
    credential.serves(&Target::parse(target, None).unwrap(), with_tls)
}

#[test]
fn a_secret_is_never_shown() {
    let secret = secret();
    let credential = Credential::new("api.example.org", "authorization", &secret.prefixed("Bearer ")).unwrap();
    let list = AllowList::parse(["api.example.org"]).unwrap().with_credential(credential.clone()).unwrap();
    for shown in [format!("{secret:?}"), format!("{credential:?}"), format!("{list:?} {list:#?}")] {
        assert!(!shown.contains(SECRET), "{shown}");
    }
    let error = Credential::new("api.example.org", "x", &Secret::new(format!("{SECRET}\n"))).unwrap_err();
    assert!(!format!("{error} {error:?}").contains(SECRET));
}

#[test]
fn it_serves_its_domain_only_and_over_tls_only() {
    let credential = Credential::new("api.example.org", "authorization", &secret()).unwrap();
    assert!(serves(&credential, "api.example.org:443", true));
    for (target, with_tls) in [
        ("api.example.org:80", false),
        ("api.example.org:443", false),
        ("api.example.org:8443", true),
        ("www.api.example.org:443", true),
        ("example.org:443", true),
        ("192.0.2.1:443", true),
    ] {
        assert!(!serves(&credential, target, with_tls), "{target}");
    }
    let plain = credential.over_plain_http();
    assert!(serves(&plain, "api.example.org:80", false) && serves(&plain, "api.example.org:443", true));
    assert!(!serves(&plain, "api.example.org:443", false));
    let other_port = Credential::new("api.example.org:8443", "authorization", &secret()).unwrap();
    assert!(serves(&other_port, "api.example.org:8443", true) && !serves(&other_port, "api.example.org:443", true));
}

#[test]
fn what_cannot_be_used_is_refused() {
    for domain in ["*.example.org", "192.0.2.1", "exa mple.org", "example.org:x", ""] {
        let error = Credential::new(domain, "authorization", &secret()).unwrap_err();
        assert!(matches!(error, CredentialError::Domain(_)), "{domain}: {error}");
    }
    for header in ["Host", "content-length", "Transfer-Encoding", "Connection", "two words", ""] {
        let error = Credential::new("example.org", header, &secret()).unwrap_err();
        assert!(matches!(error, CredentialError::Header { .. }), "{header}: {error}");
    }
    let credential = Credential::new("api.example.org", "authorization", &secret()).unwrap();
    let error = AllowList::parse(["*.example.com"]).unwrap().with_credential(credential.clone()).unwrap_err();
    assert!(error.to_string().contains("hint: put api.example.org on the allow-list"), "{error}");
    assert!(AllowList::parse(["*.example.org"]).unwrap().with_credential(credential).is_ok());
}

#[test]
fn a_secret_comes_from_a_file_or_a_variable() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    assert!(Secret::from_file(file.path()).unwrap_err().to_string().contains("empty"));
    writeln!(file, "{SECRET}").unwrap();
    assert_eq!(Secret::from_file(file.path()).unwrap(), secret());
    file.write_all(&vec![b'x'; 1 << 16]).unwrap();
    assert!(Secret::from_file(file.path()).unwrap_err().to_string().contains("too long"));
    let error = Secret::from_file("/nonexistent/secret".as_ref()).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/secret"), "{error}");
    // One that every process has, and one that none has.
    assert!(Secret::from_variable("PATH").is_ok());
    let error = Secret::from_variable("RETRACE_NO_SUCH_VARIABLE").unwrap_err().to_string();
    assert!(error.contains("RETRACE_NO_SUCH_VARIABLE") && error.contains("hint:"), "{error}");
}
