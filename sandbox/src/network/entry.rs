//! One entry of the allow-list: a name, all names below one, an address, or a range of addresses; with a port or not.

use std::net::IpAddr;

use ipnet::IpNet;

use super::target::{Host, Target, TargetError, normal_name, parse_port};

/// Ports of an entry that names none.
pub(super) const USUAL_PORTS: [u16; 2] = [80, 443];
/// Wider ranges than these would be no list any more, in bits that are fixed.
const MIN_PREFIX_V4: u8 = 8;
const MIN_PREFIX_V6: u8 = 16;

/// Why an entry cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot allow {given:?}: {reason}\n\
     hint: an entry is example.org, *.example.org, 192.0.2.7, 10.1.0.0/16 or [2001:db8::7], with a port as in example.org:8080 if it is not 80 or 443"
)]
pub struct AllowError {
    /// What was given.
    pub given: String,
    /// What is wrong with it.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Name(String),
    /// Names below this one, not itself.
    Below(String),
    Range(IpNet),
}

/// A part of the allow-list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    subject: Subject,
    port: Option<u16>,
}

impl Entry {
    pub(super) fn parse(given: &str) -> Result<Self, AllowError> {
        let fail = |reason: String| AllowError { given: given.chars().take(300).collect(), reason };
        if given.contains("://") {
            return Err(fail("only hosts can be allowed, not parts of them".to_owned()));
        }
        let (host, port) = split_port(given).map_err(|error| fail(error.to_string()))?;
        let subject = if host.contains('/') {
            let range = host.parse().map_err(|_| fail("it is no range of addresses".to_owned()))?;
            checked_range(range, host)
        } else if let Ok(address) = host.parse::<IpAddr>() {
            Ok(Subject::Range(IpNet::from(address.to_canonical())))
        } else {
            read_name(host)
        };
        Ok(Self { subject: subject.map_err(fail)?, port })
    }

    /// Whether the host is meant by it, whatever the port.
    pub(super) fn covers_host(&self, host: &Host) -> bool {
        match (&self.subject, host) {
            (Subject::Name(allowed), Host::Name(name)) => allowed == name,
            (Subject::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (Subject::Range(range), Host::Address(address)) => range.contains(address),
            (Subject::Name(_) | Subject::Below(_), Host::Address(_)) | (Subject::Range(_), Host::Name(_)) => false,
        }
    }

    pub(super) fn covers_port(&self, port: u16) -> bool {
        self.port.map_or_else(|| USUAL_PORTS.contains(&port), |allowed| allowed == port)
    }

    pub(super) fn covers(&self, target: &Target) -> bool {
        self.covers_host(&target.host) && self.covers_port(target.port)
    }
}

/// Splits off the port; a lone IPv6 address has colons of its own.
fn split_port(given: &str) -> Result<(&str, Option<u16>), TargetError> {
    if let Some(inner) = given.strip_prefix('[') {
        let (address, rest) = inner.split_once(']').ok_or(TargetError::Bracket)?;
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(parse_port(port)?),
            None if rest.is_empty() => None,
            None => return Err(TargetError::Port),
        };
        return if address.contains(':') { Ok((address, port)) } else { Err(TargetError::Bracket) };
    }
    match given.split_once(':') {
        Some((host, port)) if !port.contains(':') => Ok((host, Some(parse_port(port)?))),
        Some(_) | None => Ok((given, None)),
    }
}

fn checked_range(range: IpNet, text: &str) -> Result<Subject, String> {
    let least = if range.addr().is_ipv4() { MIN_PREFIX_V4 } else { MIN_PREFIX_V6 };
    if range.prefix_len() < least {
        return Err(format!("a range has at least /{least}"));
    }
    if range.addr() != range.network() {
        return Err(format!("the range that {text} lies in begins at {}", range.trunc()));
    }
    if let IpNet::V6(inner) = range
        && inner.addr().to_ipv4_mapped().is_some()
    {
        return Err("write it as a range of IPv4 addresses".to_owned());
    }
    Ok(Subject::Range(range))
}

fn read_name(host: &str) -> Result<Subject, String> {
    if let Some(parent) = host.strip_prefix("*.") {
        let parent = normal_name(parent).map_err(|error| error.to_string())?;
        if !parent.contains('.') {
            return Err(format!("all of .{parent} is too much; name a domain of two parts or more"));
        }
        return Ok(Subject::Below(parent));
    }
    if host.contains('*') {
        return Err("a star can only stand for everything in front of the first dot".to_owned());
    }
    match Host::parse(host).map_err(|error| error.to_string())? {
        Host::Name(name) => Ok(Subject::Name(name)),
        Host::Address(address) => Ok(Subject::Range(IpNet::from(address))),
    }
}
