//! The TLS configuration: rustls with the `ring` provider (no C build system needed), trusting the machine's
//! certificates, or the Mozilla set that is built in where the machine has none (bare containers).

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

/// A client configuration that speaks HTTP/2 and HTTP/1.1.
///
/// # Errors
/// When the provider supports no protocol version.
pub(crate) fn client_config() -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    // Honours SSL_CERT_FILE and SSL_CERT_DIR; unreadable or broken certificates are left out, not fatal.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
