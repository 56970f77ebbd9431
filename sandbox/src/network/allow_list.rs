//! What a sandbox may reach, and with what: the policy of the proxy.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;

use super::credential::{Credential, CredentialError};
use super::entry::{AllowError, Entry};
use super::limits::NetworkLimits;
use super::resolver::{Resolve, SystemResolver};
use super::target::{Host, Target};

/// Hosts that a sandbox may reach through the proxy, and how. Everything else is refused.
#[derive(Clone)]
pub struct AllowList {
    texts: Vec<String>,
    entries: Vec<Entry>,
    credentials: Vec<Credential>,
    limits: NetworkLimits,
    resolver: Arc<dyn Resolve>,
    /// Certificates to trust instead of the machine's.
    roots: Option<Vec<CertificateDer<'static>>>,
}

impl fmt::Debug for AllowList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("AllowList");
        debug.field("entries", &self.texts).field("credentials", &self.credentials).field("limits", &self.limits);
        debug.finish_non_exhaustive()
    }
}

impl PartialEq for AllowList {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
            && self.credentials == other.credentials
            && self.limits == other.limits
            && self.roots == other.roots
            && Arc::ptr_eq(&self.resolver, &other.resolver)
    }
}

impl Eq for AllowList {}

/// How a target stands to the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Allowed,
    /// The host is listed, this port of it is not.
    OtherPort,
    NotListed,
}

impl AllowList {
    /// Reads the entries: `example.org`, `*.example.org` (everything below it, not itself), an address or a range of
    /// addresses, each with a port where it is not 80 or 443 (`example.org:8080`).
    ///
    /// # Errors
    /// At the first entry that is none.
    pub fn parse<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Result<Self, AllowError> {
        let texts: Vec<String> = entries.into_iter().map(|entry| entry.as_ref().to_owned()).collect();
        let entries = texts.iter().map(|entry| Entry::parse(entry)).collect::<Result<_, _>>()?;
        Ok(Self {
            texts,
            entries,
            credentials: Vec::new(),
            limits: NetworkLimits::default(),
            resolver: system_resolver(),
            roots: None,
        })
    }

    /// Adds a credential to requests to an allowed domain.
    ///
    /// # Errors
    /// When the list does not allow the domain.
    pub fn with_credential(mut self, credential: Credential) -> Result<Self, CredentialError> {
        let can_be_used = credential.targets().iter().any(|target| self.standing(target) == Standing::Allowed);
        if !can_be_used {
            return Err(CredentialError::NotAllowed { domain: credential.domain().to_owned() });
        }
        self.credentials.push(credential);
        Ok(self)
    }

    /// With other bounds than the default.
    #[must_use]
    pub fn with_limits(mut self, limits: NetworkLimits) -> Self {
        self.limits = limits;
        self
    }

    /// With another way to find addresses than the machine's.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Trusts these certificates (DER) of servers to which a credential is sent, instead of the machine's.
    #[must_use]
    pub fn with_root_certificates(mut self, roots: Vec<Vec<u8>>) -> Self {
        self.roots = Some(roots.into_iter().map(CertificateDer::from).collect());
        self
    }

    /// The entries, as they were given.
    #[must_use]
    pub fn entries(&self) -> &[String] {
        &self.texts
    }

    /// The credentials, with nothing of their secrets to be seen.
    #[must_use]
    pub fn credentials(&self) -> &[Credential] {
        &self.credentials
    }

    /// The bounds.
    #[must_use]
    pub fn limits(&self) -> &NetworkLimits {
        &self.limits
    }

    pub(super) fn resolver(&self) -> &dyn Resolve {
        &*self.resolver
    }

    pub(super) fn roots(&self) -> Option<&[CertificateDer<'static>]> {
        self.roots.as_deref()
    }

    pub(super) fn standing(&self, target: &Target) -> Standing {
        if self.entries.iter().any(|entry| entry.covers(target)) {
            Standing::Allowed
        } else if self.entries.iter().any(|entry| entry.covers_host(&target.host)) {
            Standing::OtherPort
        } else {
            Standing::NotListed
        }
    }

    /// Whether an address is listed as such.
    pub(super) fn lists_address(&self, address: IpAddr, port: u16) -> bool {
        self.standing(&Target { host: Host::Address(address.to_canonical()), port }) == Standing::Allowed
    }

    /// The credential for a target, if there is one.
    pub(super) fn credential_for(&self, target: &Target, with_tls: bool) -> Option<&Credential> {
        self.credentials.iter().find(|credential| credential.serves(target, with_tls))
    }
}

fn system_resolver() -> Arc<dyn Resolve> {
    // One for all, so that lists can be compared.
    static SYSTEM: std::sync::OnceLock<Arc<SystemResolver>> = std::sync::OnceLock::new();
    Arc::clone(SYSTEM.get_or_init(|| Arc::new(SystemResolver))) as Arc<dyn Resolve>
}
