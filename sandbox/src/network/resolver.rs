//! From names to addresses: on the host, so that nothing inside a sandbox needs a resolver or can talk to one.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Finds the addresses of a name. The answer is checked by who asks.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// The addresses of a name, best first.
    ///
    /// # Errors
    /// When there are none, or nobody could be asked.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// What the machine is set up with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}
