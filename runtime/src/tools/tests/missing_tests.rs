//! Names suggested for a path that is not there.

use crate::tools::missing::nearest;

const NAMES: [&str; 7] =
    ["Cargo.toml", "src/main.rs", "src/lib.rs", "src/net/http_client.rs", "docs/README.md", "README.md", "src/net"];

#[test]
fn the_same_name_elsewhere_comes_first() {
    let table: [(&str, &[&str]); 6] = [
        ("main.rs", &["src/main.rs"]),
        ("./lib/readme.MD", &["docs/README.md", "README.md"]),
        ("src/mian.rs", &["src/main.rs"]),
        ("src/net/httpclient.rs", &["src/net/http_client.rs"]),
        ("cargo.tml", &["Cargo.toml"]),
        ("src/nets/", &["src/net"]),
    ];
    for (path, expected) in table {
        let near = nearest(&NAMES, path).unwrap_or_default();
        assert_eq!(near.first(), expected.first(), "{path}");
        assert!(expected.iter().all(|name| near.contains(name)), "{path}: {near:?}");
    }
}

#[test]
fn nothing_is_made_up() {
    for path in ["", "/", "..", "zzz/qqq/xxx.bin", &"a/".repeat(400)] {
        assert_eq!(nearest(&NAMES, path), None, "{path}");
    }
    assert_eq!(nearest(&[], "src/main.rs"), None);
}

#[test]
fn a_few_are_enough() {
    let names: Vec<String> = (0..50).map(|n| format!("{n}/mod.rs")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(nearest(&names, "mod.rs").unwrap().len(), 5);
    assert!(nearest(&names, "7/mob.rs").unwrap().len() <= 3);
}
