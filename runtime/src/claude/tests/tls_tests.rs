//! HTTPS: a certificate that is trusted works, any other fails before a byte of the request is sent.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{ask, endpoint, quick, send};
use crate::claude::{ClaudeClient, FailureKind, Sent};

/// Tells the process that it is the child of one of these tests, and where the server is.
const CHILD: &str = "RETRACE_TEST_TLS_CHILD";

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
    data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"c\"}}\n\n\
    data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
    data: {\"type\":\"message_stop\"}\n\n";

/// A server on 127.0.0.1 whose certificate is signed by an authority, which is written to `authority`.
async fn serve(authority: &Path) -> SocketAddr {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    std::fs::write(authority, pem(issuer.der())).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not trust the certificate ends the handshake.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut request = vec![0; 65_536];
            let size = stream.read(&mut request).await.unwrap();
            assert!(request[..size].starts_with(b"POST /v1/messages HTTP/1.1"));
            stream.write_all(ANSWER.as_bytes()).await.unwrap();
            let _ = stream.shutdown().await;
        }
    });
    address
}

/// `der` as PEM.
fn pem(der: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

#[tokio::test]
async fn an_unknown_certificate_ends_the_connection_before_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(&folder.path().join("authority.pem")).await;
    let client = ClaudeClient::new(&endpoint(&format!("https://{address}"), quick())).unwrap();
    let failure = send(&client, &ask("x")).await.0.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Connection, Sent::Nothing));
    assert!(failure.message.to_lowercase().contains("certificate"), "{}", failure.message);
}

/// Runs itself again in a process that trusts the authority by way of `SSL_CERT_FILE`.
#[tokio::test]
async fn a_certificate_of_a_trusted_authority_works() {
    if let Ok(address) = std::env::var(CHILD) {
        let client = ClaudeClient::new(&endpoint(&format!("https://{address}"), quick())).unwrap();
        assert_eq!(send(&client, &ask("x")).await.0.unwrap().message_id, "m");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority.pem");
    let address = serve(&authority).await;
    let output = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "claude::tests::tls_tests::a_certificate_of_a_trusted_authority_works", "--test-threads=1"])
        .env(CHILD, address.to_string())
        .env("SSL_CERT_FILE", &authority)
        .env_remove("SSL_CERT_DIR")
        .output()
        .await
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn both_versions_of_http_are_offered() {
    let config = crate::claude::test_tls().unwrap();
    assert_eq!(config.alpn_protocols, [b"h2".to_vec(), b"http/1.1".to_vec()]);
}
