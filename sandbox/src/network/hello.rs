//! The first words of TLS: which server a client asks for. Read by rustls, passed on as they came.

use bytes::BytesMut;
use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::allow_list::{AllowList, Standing};
use super::refusal::Refusal;
use super::target::{Host, Target, normal_name};

/// The first byte of TLS: a record of the handshake.
pub(super) const HANDSHAKE: u8 = 22;
/// A fatal alert, "access denied": what a client can show of a refusal at this point.
pub(super) const ACCESS_DENIED: [u8; 7] = [21, 3, 3, 0, 2, 2, 49];
/// The longest hello.
const MAX_HELLO_BYTES: usize = 64 * 1024;

/// Reads until the hello is whole, on top of what was read before, and checks the name in it.
pub(super) async fn check_hello(
    client: &mut (impl AsyncRead + Unpin),
    seen: &mut BytesMut,
    target: &Target,
    list: &AllowList,
) -> Result<(), Refusal> {
    let bad = |what: &str| Refusal::BadRequest(format!("{what} was sent to {target} where TLS begins"));
    let mut acceptor = Acceptor::default();
    let mut fed = 0;
    loop {
        let mut fresh = seen.get(fed..).unwrap_or_default();
        while !fresh.is_empty() {
            let count = acceptor.read_tls(&mut fresh).map_err(|_| bad("something too long"))?;
            fed += count;
            if count == 0 {
                return Err(bad("something too long"));
            }
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => return check_name(accepted.client_hello().server_name(), target, list),
            Ok(None) if seen.len() > MAX_HELLO_BYTES => return Err(bad("something too long")),
            Ok(None) => {}
            Err((error, _)) => return Err(bad(&format!("something else ({error})"))),
        }
        match client.read_buf(seen).await {
            Ok(0) if seen.is_empty() => return Err(bad("nothing")),
            Ok(0) | Err(_) => return Err(bad("half a greeting")),
            Ok(_) => {}
        }
    }
}

/// The name that TLS asks for must be the one that was asked for before: a server for many names would otherwise
/// answer for one that is not allowed.
pub(super) fn check_name(asked: Option<&str>, target: &Target, list: &AllowList) -> Result<(), Refusal> {
    let refuse = |what: String| Err(Refusal::BadRequest(what));
    match (&target.host, asked) {
        (Host::Name(name), Some(asked)) if normal_name(asked).as_ref() == Ok(name) => Ok(()),
        (Host::Name(name), Some(asked)) => {
            let asked = super::refusal::printable(asked, 253);
            refuse(format!("the connection to {name} asks for the server {asked:?} in TLS, which is not the same"))
        }
        (Host::Name(name), None) => {
            refuse(format!("the connection to {name} does not say in TLS which server it wants"))
        }
        (Host::Address(_), None) => Ok(()),
        (Host::Address(_), Some(asked)) => {
            let Ok(name) = normal_name(asked) else {
                return refuse("an impossible name is asked for in TLS".to_owned());
            };
            let named = Target { host: Host::Name(name), port: target.port };
            match list.standing(&named) {
                Standing::Allowed => Ok(()),
                Standing::OtherPort => Err(Refusal::OtherPort(named)),
                Standing::NotListed => Err(Refusal::NotListed(named)),
            }
        }
    }
}
