//! Connecting to the outside: names are resolved here, what they lead to is checked, and the very address that was
//! checked is connected to.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::address;
use super::allow_list::AllowList;
use super::metered::Metered;
use super::record::Record;
use super::refusal::Refusal;
use super::target::{Host, Target};

/// The most addresses of a name that are looked at, and of those, the most that are tried.
const MAX_ADDRESSES: usize = 32;
const MAX_ATTEMPTS: usize = 4;

/// Connects to an allowed target.
pub(super) async fn dial(list: &AllowList, target: &Target, record: &Arc<Record>) -> Result<Metered, Refusal> {
    let patience = Duration::from_millis(list.limits().setup_ms);
    let addresses = match &target.host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => checked(list, target, &resolve(list, name, patience).await?)?,
    };
    let mut last = "it has no address".to_owned();
    for address in addresses.into_iter().take(MAX_ATTEMPTS) {
        match timeout(patience, TcpStream::connect(SocketAddr::new(address, target.port))).await {
            Ok(Ok(stream)) => {
                refuse_self(list, target, &stream)?;
                // Small writes are passed on as they come.
                let _ = stream.set_nodelay(true);
                return Ok(Metered::new(stream, Arc::clone(record)));
            }
            Ok(Err(error)) => last = format!("{address}: {error}"),
            Err(_) => last = format!("{address}: no answer within {} ms", patience.as_millis()),
        }
    }
    Err(Refusal::Unreachable(format!("cannot connect to {target}: {last}")))
}

async fn resolve(list: &AllowList, name: &str, patience: Duration) -> Result<Vec<IpAddr>, Refusal> {
    let fail = |detail: String| Refusal::Unreachable(format!("cannot find the address of {name}: {detail}"));
    match timeout(patience, list.resolver().resolve(name)).await {
        Ok(Ok(addresses)) if addresses.is_empty() => Err(fail("it has none".to_owned())),
        Ok(Ok(addresses)) => Ok(addresses.into_iter().take(MAX_ADDRESSES).collect()),
        Ok(Err(error)) => Err(fail(error.to_string())),
        Err(_) => Err(fail(format!("no answer within {} ms", patience.as_millis()))),
    }
}

/// Those that may be connected to; an error when none may.
fn checked(list: &AllowList, target: &Target, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, Refusal> {
    let mut fine = Vec::new();
    let mut refused = None;
    for address in addresses.iter().map(IpAddr::to_canonical) {
        match address::special(address).filter(|_| !list.lists_address(address, target.port)) {
            None => fine.push(address),
            Some(kind) => refused = Some(Refusal::Address { target: target.clone(), address, kind }),
        }
    }
    match refused {
        Some(refusal) if fine.is_empty() => Err(refusal),
        Some(_) | None => Ok(fine),
    }
}

/// A connection from an address to itself is one to this machine, whatever was known before.
fn refuse_self(list: &AllowList, target: &Target, stream: &TcpStream) -> Result<(), Refusal> {
    let (Ok(own), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else {
        return Err(Refusal::Unreachable(format!("the connection to {target} broke")));
    };
    let address = peer.ip().to_canonical();
    if own.ip().to_canonical() == address && !list.lists_address(address, target.port) {
        return Err(Refusal::Address { target: target.clone(), address, kind: "this machine's own" });
    }
    Ok(())
}
