//! A certificate authority for one session and for the domains that have a credential, nothing else.
//!
//! Its key never leaves this process's memory and goes with the session. Commands are told to trust it, and its name
//! constraints bind even those to the domains it is for. All certificates are made at the start.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CidrSubnet, DnType, ExtendedKeyUsagePurpose, GeneralSubtree,
    IsCa, KeyPair, KeyUsagePurpose, NameConstraints, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Sessions are shorter than that; clocks inside may differ from the host's by the day before.
const VALID_DAYS: u32 = 90;

/// The authority, and a server's configuration for each domain.
pub(super) struct Authority {
    pem: String,
    servers: HashMap<String, Arc<ServerConfig>>,
}

/// A certificate could not be made, or a configuration not be set up.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthorityError {
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl Authority {
    /// An authority for these domains.
    pub(super) fn new(domains: &[&str]) -> Result<Self, AuthorityError> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.distinguished_name.push(DnType::CommonName, "retrace session authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: domains.iter().map(|domain| GeneralSubtree::DnsName((*domain).to_owned())).collect(),
            excluded_subtrees: vec![
                GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(Ipv4Addr::UNSPECIFIED.into(), 0)),
                GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(Ipv6Addr::UNSPECIFIED.into(), 0)),
            ],
        });
        set_validity(&mut params);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let mut servers = HashMap::new();
        for domain in domains {
            servers.insert((*domain).to_owned(), Arc::new(server(domain, &issuer)?));
        }
        Ok(Self { pem: issuer.pem(), servers })
    }

    /// The certificate that commands are to trust.
    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// How to speak as the server of a domain.
    pub(super) fn server(&self, domain: &str) -> Option<Arc<ServerConfig>> {
        self.servers.get(domain).map(Arc::clone)
    }
}

fn server(domain: &str, issuer: &CertifiedIssuer<'_, KeyPair>) -> Result<ServerConfig, AuthorityError> {
    let mut params = CertificateParams::new(vec![domain.to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "retrace proxy");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    set_validity(&mut params);
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn set_validity(params: &mut CertificateParams) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + now.saturating_sub(DAY);
    params.not_after = epoch + now + DAY * VALID_DAYS;
}
