//! Addresses, parameters, environment; and that no secret is ever shown.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;

fn env<'a>(vars: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
}

#[test]
fn parameters_of_an_address_are_read() {
    let text = "nats://a:1,tls://b:2?durable=assert&replicas=3&max_bytes=1000&tls_first&creds=/c&ca=/ca&cert=/cert&key=/key&nkey=/n";
    let options: NatsOptions = text.parse().unwrap();
    let expected = NatsOptions {
        url: "nats://a:1,tls://b:2".to_owned(),
        credentials: Some("/c".into()),
        nkey_seed: Some("/n".into()),
        tls_ca: Some("/ca".into()),
        tls_cert: Some("/cert".into()),
        tls_key: Some("/key".into()),
        tls_first: true,
        accept_nondurable: false,
        assert_durable: true,
        replicas: Some(3),
        max_bytes: 1_000,
    };
    assert_eq!(options, expected);
    assert_eq!(options.hosts(), ["nats://a:1", "tls://b:2"]);
    assert_eq!("nats://a:1".parse::<NatsOptions>().unwrap(), NatsOptions::new("nats://a:1"));
}

#[test]
fn wrong_parameters_are_refused_with_what_would_be_right() {
    let wrong = ["durable=maybe", "replicas=2", "max_bytes=lots", "tls_first=perhaps", "colour=red"];
    for parameter in wrong {
        let error = format!("nats://a:1?{parameter}").parse::<NatsOptions>().unwrap_err();
        let LogError::Unfit { location, why } = &error else { panic!("{error}") };
        assert_eq!(location, "nats://a:1");
        assert!(!why.is_empty(), "{error}");
    }
}

#[test]
fn the_environment_fills_what_the_address_leaves_open() {
    let vars = [
        ("NATS_URL", "nats://host:4222?creds=/from-the-address"),
        ("NATS_CREDS", "/from-the-environment"),
        ("NATS_NKEY", "/nkey"),
        ("NATS_CA", ""),
        ("RETRACE_NATS_DURABLE", "accept-nondurable"),
        ("RETRACE_NATS_REPLICAS", "5"),
        ("RETRACE_NATS_TLS_FIRST", "true"),
    ];
    let options = NatsOptions::from_env(env(&vars)).unwrap().unwrap();
    assert_eq!(options.credentials, Some("/from-the-address".into()));
    assert_eq!(options.nkey_seed, Some("/nkey".into()));
    assert_eq!(options.tls_ca, None);
    assert!(options.accept_nondurable && !options.assert_durable && options.tls_first);
    assert_eq!(options.replicas, Some(5));
    assert_eq!(NatsOptions::from_env(env(&[("NATS_CREDS", "/c")])).unwrap(), None);
    assert_eq!(NatsOptions::from_env(env(&[("NATS_URL", " ")])).unwrap(), None);
    let error = NatsOptions::from_env(env(&[("NATS_URL", "nats://a"), ("RETRACE_NATS_REPLICAS", "many")])).unwrap_err();
    assert!(error.to_string().contains("RETRACE_NATS_REPLICAS"), "{error}");
}

#[test]
fn users_and_passwords_are_used_and_not_shown() {
    let cases = [
        ("nats://ada:p%40ss@host:1", Some(("ada", Some("p@ss"))), "nats://host:1"),
        ("nats://host:1,nats://ada:se:cret@other:2", Some(("ada", Some("se:cret"))), "nats://host:1,nats://other:2"),
        ("nats://t0ken@host", Some(("t0ken", None)), "nats://host"),
        ("nats://a:b@c:d@host:1", Some(("a", Some("b@c:d"))), "nats://host:1"),
        ("tls://host", None, "tls://host"),
    ];
    for (url, user, shown) in cases {
        let options: NatsOptions = url.parse().unwrap();
        let expected = user.map(|(name, password)| (name.to_owned(), password.map(str::to_owned)));
        assert_eq!(options.user(), expected, "{url}");
        assert_eq!(options.to_string(), shown);
        assert_eq!(format!("{options:?}"), format!("NatsOptions {{ url: \"{shown}\", .. }}"));
    }
}
