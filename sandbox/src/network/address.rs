//! Addresses that a name of the allow-list must not lead to unless they are listed themselves: whatever is not the
//! public internet, and this machine.
//!
//! Whoever controls a name's records could otherwise point it at the host's own services, at its neighbours, or at a
//! cloud's metadata service.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// What an address is, when it is not an ordinary one of the public internet.
pub(super) fn special(address: IpAddr) -> Option<&'static str> {
    let kind = match address.to_canonical() {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    };
    kind.or_else(|| is_own(address).then_some("this machine's own"))
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (0, ..) => Some("unspecified"),
        (127, ..) => Some("loopback"),
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => Some("private"),
        (169, 254, _) => Some("link-local (where clouds keep their metadata)"),
        (100, 64..=127, _) => Some("shared by a provider's customers"),
        (224..=239, ..) => Some("multicast"),
        (240.., ..) => Some("reserved"),
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113) => {
            Some("set aside for special purposes")
        }
        _ => None,
    }
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    let [a, b, c, d, e, f, g, h] = segments;
    let embedded = |high: u16, low: u16| special_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        _ if a & 0xffc0 == 0xfe80 => Some("link-local"),
        _ if a & 0xffc0 == 0xfec0 || a & 0xfe00 == 0xfc00 => Some("private"),
        _ if a & 0xff00 == 0xff00 => Some("multicast"),
        // Translated by a gateway to the IPv4 address at its end.
        _ if [a, b, c, d, e, f] == [0x64, 0xff9b, 0, 0, 0, 0] => embedded(g, h),
        _ if a == 0x2002 => embedded(b, c).or(Some("a tunnel to IPv4")),
        // Only one eighth of the addresses is given out for the public internet.
        _ if a & 0xe000 != 0x2000 => Some("reserved"),
        _ if (a == 0x2001 && (b < 0x0200 || b == 0x0db8)) || (a == 0x3fff && b < 0x1000) => {
            Some("set aside for special purposes")
        }
        _ => None,
    }
}

/// Only an address of this machine can be bound to (where the system does not allow any to be).
fn is_own(address: IpAddr) -> bool {
    let documentation = Ipv4Addr::new(192, 0, 2, 1);
    UdpSocket::bind((address, 0)).is_ok() && UdpSocket::bind((documentation, 0)).is_err()
}
