//! What is not the public internet.

use std::net::IpAddr;

use crate::network::address::special;

#[test]
fn everything_but_the_public_internet_is_special() {
    for text in [
        "0.0.0.0",
        "0.1.2.3",
        "127.0.0.1",
        "127.255.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.127.0.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "192.88.99.1",
        "::",
        "::1",
        "::2",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "2001::1",
        "2002:7f00:1::1",
        "2002:808:808::1",
        "3fff::1",
        "5f00::1",
        "4000::1",
    ] {
        assert!(special(text.parse::<IpAddr>().unwrap()).is_some(), "{text}");
    }
}

#[test]
fn the_public_internet_is_not() {
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "128.0.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "192.167.1.1",
        "198.17.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450::1",
        "64:ff9b::808:808",
        "2001:4860::8888",
        "::ffff:8.8.8.8",
    ] {
        assert_eq!(special(text.parse::<IpAddr>().unwrap()), None, "{text}");
    }
}

#[test]
fn the_metadata_service_is_named_so_that_it_is_understood() {
    let kind = special("169.254.169.254".parse().unwrap()).unwrap();
    assert!(kind.contains("metadata"), "{kind}");
}
