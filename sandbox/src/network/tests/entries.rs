//! The matcher: what an entry covers, what it must not, and what is no entry.

use proptest::prelude::*;

use crate::network::allow_list::{AllowList, Standing};
use crate::network::target::Target;

fn standing(entries: &[&str], target: &str) -> Standing {
    AllowList::parse(entries).unwrap().standing(&Target::parse(target, Some(443)).unwrap())
}

fn allowed(entries: &[&str], target: &str) -> bool {
    standing(entries, target) == Standing::Allowed
}

#[test]
fn an_exact_name_is_that_name_only() {
    let list = ["Example.org"];
    for target in ["example.org", "EXAMPLE.ORG:80", "example.org.:443"] {
        assert!(allowed(&list, target), "{target}");
    }
    for target in ["www.example.org", "example.org.evil.test", "evilexample.org", "example.or", "org", "192.0.2.1"] {
        assert_eq!(standing(&list, target), Standing::NotListed, "{target}");
    }
}

#[test]
fn a_star_is_everything_below_and_not_the_name_itself() {
    let list = ["*.example.org"];
    for target in ["www.example.org", "a.b.c.example.org", "WWW.Example.Org."] {
        assert!(allowed(&list, target), "{target}");
    }
    for target in ["example.org", "evilexample.org", "www.example.org.evil.test", "x-example.org"] {
        assert!(!allowed(&list, target), "{target}");
    }
}

#[test]
fn ports_are_the_usual_ones_or_the_one_that_is_named() {
    assert!(allowed(&["example.org"], "example.org:80") && allowed(&["example.org"], "example.org:443"));
    assert_eq!(standing(&["example.org"], "example.org:22"), Standing::OtherPort);
    assert!(allowed(&["example.org:8080"], "example.org:8080"));
    assert_eq!(standing(&["example.org:8080"], "example.org:443"), Standing::OtherPort);
    assert!(allowed(&["example.org:8080", "example.org"], "example.org:443"));
    assert!(allowed(&["*.example.org:8080"], "a.example.org:8080"));
}

#[test]
fn addresses_and_ranges() {
    assert!(allowed(&["192.0.2.7"], "192.0.2.7"));
    assert!(!allowed(&["192.0.2.7"], "192.0.2.8"));
    assert!(!allowed(&["192.0.2.7"], "192.0.2.7:22"));
    assert!(allowed(&["10.1.0.0/16:5432"], "10.1.255.1:5432"));
    assert!(!allowed(&["10.1.0.0/16"], "10.2.0.1"));
    for entry in ["2001:db8::7", "[2001:db8::7]", "2001:db8::/32", "[2001:db8::/32]"] {
        assert!(allowed(&[entry], "[2001:db8::7]"), "{entry}");
    }
    assert!(allowed(&["[2001:db8::/32]:8080"], "[2001:db8::7]:8080"));
    assert!(allowed(&["::ffff:192.0.2.7"], "192.0.2.7"));
    assert!(allowed(&["192.0.2.7"], "[::ffff:192.0.2.7]"));
    // A range does not allow names, nor a name addresses.
    assert!(!allowed(&["192.0.2.0/24"], "example.org"));
}

#[test]
fn what_is_no_entry_is_refused_with_a_hint() {
    let cases = [
        ("", "names no host"),
        ("*", "a star"),
        ("*.org", "too much"),
        ("a.*.org", "a star"),
        ("*example.org", "a star"),
        ("https://example.org", "only hosts"),
        ("example.org/path", "no range"),
        ("example.org:", "port"),
        ("example.org:0", "port"),
        ("example.org:http", "port"),
        ("user@example.org", "characters"),
        ("exa mple.org", "characters"),
        (" example.org", "characters"),
        ("b\u{fc}cher.example", "xn--"),
        ("127.1", "IPv4"),
        ("0.0.0.0/0", "at least /8"),
        ("::/0", "at least /16"),
        ("10.1.2.3/8", "begins at 10.0.0.0/8"),
        ("10.0.0.0/33", "no range"),
        ("[10.0.0.1]", "IPv6"),
        ("[::1", "IPv6"),
        ("[::1]443", "port"),
        ("::ffff:10.0.0.0/104", "IPv4"),
    ];
    for (entry, expected) in cases {
        let error = AllowList::parse(["fine.example", entry]).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("hint:"), "{entry}: {error}");
    }
}

fn label() -> impl Strategy<Value = String> {
    "[a-z]([a-z0-9-]{0,8}[a-z0-9])?"
}

fn domain() -> impl Strategy<Value = String> {
    prop::collection::vec(label(), 2..5).prop_map(|labels| labels.join("."))
}

/// The rule once more, as simple as it can be said: by parts of names.
fn covers(entry: &str, name: &str) -> bool {
    let parts = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    match entry.strip_prefix("*.") {
        Some(parent) => {
            let (parent, name) = (parts(parent), parts(name));
            name.len() > parent.len() && name[name.len() - parent.len()..] == parent[..]
        }
        None => parts(entry) == parts(name),
    }
}

proptest! {
    #[test]
    fn the_matcher_agrees_with_the_rule(
        entries in prop::collection::vec((any::<bool>(), domain()), 1..4),
        other in domain(),
        prefix in label(),
        pick in any::<prop::sample::Index>(),
        shape in 0..5u8,
    ) {
        let entries: Vec<String> =
            entries.into_iter().map(|(star, name)| if star { format!("*.{name}") } else { name }).collect();
        let near = entries[pick.index(entries.len())].trim_start_matches("*.").to_owned();
        let asked = match shape {
            0 => near,
            1 => format!("{prefix}.{near}"),
            2 => format!("{prefix}{near}"),
            3 => format!("{near}.{prefix}"),
            _ => other,
        };
        let list = AllowList::parse(&entries).unwrap();
        let target = Target::parse(&asked, Some(443)).unwrap();
        let expected = entries.iter().any(|entry| covers(entry, &asked));
        prop_assert_eq!(list.standing(&target) == Standing::Allowed, expected, "{:?} {}", entries, asked);
        // Case and a last dot make no difference, neither here nor there.
        let shouted = Target::parse(&format!("{}.", asked.to_uppercase()), Some(443)).unwrap();
        prop_assert_eq!(list.standing(&shouted), list.standing(&target));
        let other_port = Target { port: 8443, ..target };
        prop_assert_ne!(list.standing(&other_port), Standing::Allowed);
    }

    #[test]
    fn any_text_is_an_entry_or_an_error(text in "\\PC{0,60}") {
        let _ = AllowList::parse([text]);
    }
}
