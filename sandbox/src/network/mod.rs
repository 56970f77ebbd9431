//! A way out for a sandbox that has no network: a filtering proxy in the host's process.
//!
//! The guest listens on the sandbox's own loopback and hands over what connects there as byte streams; the host listens
//! nowhere. The proxy resolves names itself, connects only to what the allow-list says, and tells about every
//! connection.
//!
//! Invariants:
//! - a name is compared, resolved, checked and connected to in one and the same form, and the address that was checked
//!   is the one that is connected to; what is not the public internet must be listed as an address;
//! - TLS through a tunnel must ask for the name that the tunnel was asked for;
//! - a credential goes to exactly its domain, over TLS that the host has verified (unless its entry says otherwise), and
//!   never into the sandbox: not into its environment, its files, an error or a report;
//! - whatever the guest or a server sends, memory, time and bytes are bounded.
//!
//! What it does not do: it cannot see what happens inside TLS that it does not end (a server may serve other names of
//! its own there), speaks no HTTP/2 and changes no protocol where it ends TLS, and does not hide a credential that a
//! server itself repeats in its answer.

mod address;
mod allow_list;
mod authority;
mod credential;
mod dial;
mod entry;
mod gate;
mod hello;
mod inside;
mod limits;
mod metered;
mod outside;
mod proxy;
mod record;
mod refusal;
mod report;
mod request;
mod resolver;
mod stream;
mod target;
mod tunnel;

pub use allow_list::AllowList;
pub use credential::{Credential, CredentialError, Secret};
pub use entry::AllowError;
pub use limits::NetworkLimits;
pub use report::{ConnectionCount, ConnectionEvent, ConnectionReport, Connections, How, Verdict};
pub use resolver::Resolve;

pub(crate) use gate::Gate;
#[cfg(any(test, fuzzing))]
pub(crate) use stream::ForwardedStream;

#[cfg(test)]
mod tests;
