//! Reading hosts: one form for each, and nothing that two programs could read differently.

use std::net::IpAddr;

use proptest::prelude::*;

use crate::network::target::{Host, Target, TargetError};

fn name(text: &str, port: u16) -> Result<Target, TargetError> {
    Ok(Target { host: Host::Name(text.to_owned()), port })
}

fn address(text: &str, port: u16) -> Result<Target, TargetError> {
    Ok(Target { host: Host::Address(text.parse::<IpAddr>().unwrap()), port })
}

fn read(text: &str) -> Result<Target, TargetError> {
    Target::parse(text, Some(80))
}

#[test]
fn names_come_in_one_form() {
    for text in ["example.org", "EXAMPLE.org", "example.org.", "example.ORG:80"] {
        assert_eq!(read(text), name("example.org", 80), "{text}");
    }
    assert_eq!(read("xn--bcher-kva.example:443"), name("xn--bcher-kva.example", 443));
    assert_eq!(read("_dmarc.example.org"), name("_dmarc.example.org", 80));
    assert_eq!(Target::parse("example.org", None), Err(TargetError::NoPort));
}

#[test]
fn addresses_come_in_one_form() {
    assert_eq!(read("192.0.2.1:8080"), address("192.0.2.1", 8080));
    assert_eq!(read("[2001:db8::1]"), address("2001:db8::1", 80));
    assert_eq!(read("[::ffff:127.0.0.1]:1"), address("127.0.0.1", 1), "it is an IPv4 address");
    for odd in ["127.1", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "127.0.0.01", "1.2.3.4.5", "127.0.0.1."]
    {
        assert_eq!(read(odd), Err(TargetError::Number), "{odd}");
    }
    for odd in ["[127.0.0.1]", "[::1", "[fe80::1%eth0]", "[::1]x", "[]"] {
        assert!(read(odd).is_err(), "{odd}");
    }
}

#[test]
fn what_is_odd_is_refused_with_a_reason() {
    let long_label = format!("{}.org", "a".repeat(64));
    let long_name = format!("{}org", "a.".repeat(126));
    let cases = [
        ("", TargetError::Empty),
        (":80", TargetError::Empty),
        (".", TargetError::Empty),
        ("user@example.org", TargetError::UserInfo),
        ("good.test:80@evil.test:80", TargetError::UserInfo),
        ("example.org:", TargetError::Port),
        ("example.org:0", TargetError::Port),
        ("example.org:+80", TargetError::Port),
        ("example.org:65536", TargetError::Port),
        ("example.org:80:80", TargetError::Port),
        ("exa mple.org", TargetError::Characters),
        ("example.org%00.evil.test", TargetError::Characters),
        ("b\u{fc}cher.example", TargetError::Characters),
        ("example\u{3002}org", TargetError::Characters),
        ("example.org/path", TargetError::Characters),
        ("example.org\\evil", TargetError::Characters),
        ("*.example.org", TargetError::Characters),
        ("example..org", TargetError::Label),
        (".example.org", TargetError::Label),
        ("example.org..", TargetError::Label),
        ("-a.example.org", TargetError::Label),
        (&long_label, TargetError::TooLong),
        (&long_name, TargetError::TooLong),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), Err(expected), "{text}");
    }
}

proptest! {
    /// Whatever it is: no panic, and what is read is written in the form that is read again.
    #[test]
    fn reading_is_stable(text in "\\PC{0,40}|[a-z0-9.:\\[\\]@%-]{0,30}|([a-z0-9]{1,5}\\.){1,4}[a-z]{1,4}(:[0-9]{1,5})?") {
        if let Ok(target) = read(&text) {
            prop_assert_eq!(Target::parse(&target.to_string(), None), Ok(target));
        }
    }

    /// What the standard library's resolver takes for an address is never read as a name.
    #[test]
    fn an_address_is_no_name(bytes in any::<u32>(), style in 0..4u8) {
        let [a, b, c, d] = bytes.to_be_bytes();
        let text = match style {
            0 => bytes.to_string(),
            1 => format!("0x{bytes:x}"),
            2 => format!("{a}.{}", bytes & 0x00ff_ffff),
            _ => format!("0{a:o}.0{b:o}.{c}.{d}"),
        };
        let is_name = matches!(read(&text), Ok(Target { host: Host::Name(_), .. }));
        prop_assert!(!is_name, "{text}");
    }
}
