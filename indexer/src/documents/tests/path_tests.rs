//! Paths as documents have them, and the files in commands.

use super::super::command_paths::command_paths;
use super::super::paths::{MAX_PATHS, add_path, normalised};
use proptest::prelude::*;

#[test]
fn paths_are_relative_to_the_workspace() {
    let cases = [
        ("/work/x/src/a.rs", Some("src/a.rs")),
        ("/work/x//src/./b/../a.rs", Some("src/a.rs")),
        ("/work/x/../x/a.rs", Some("a.rs")),
        ("file:///work/x/a.rs", Some("a.rs")),
        ("src/a.rs", Some("src/a.rs")),
        ("./src/", Some("src")),
        (" src/a.rs\n", Some("src/a.rs")),
        ("/work/xy/a.rs", Some("/work/xy/a.rs")),
        ("/etc/hosts", Some("/etc/hosts")),
        ("/work/x/../../../etc/hosts", Some("/etc/hosts")),
        ("../y/a.rs", Some("../y/a.rs")),
        ("a/../../b", Some("../b")),
        ("~/notes.md", Some("~/notes.md")),
        ("naïve/日本.rs", Some("naïve/日本.rs")),
        ("/work/x", None),
        ("/work/x/", None),
        (".", None),
        ("", None),
        ("a\nb", None),
        ("a\u{1b}[31m", None),
    ];
    for (path, expected) in cases {
        assert_eq!(normalised(path, "/work/x").as_deref(), expected, "{path:?}");
        assert_eq!(normalised(path, "/work/x/").as_deref(), expected, "{path:?}");
    }
    assert_eq!(normalised("/a/b", "").as_deref(), Some("/a/b"));
    assert_eq!(normalised("/a/b", "/").as_deref(), Some("/a/b"));
    assert_eq!(normalised(&"x/".repeat(10_000), "/work/x"), None);
}

#[test]
fn files_in_commands_are_found_and_other_words_are_not() {
    let cases: &[(&str, &[&str])] = &[
        ("cat src/a.rs b.toml", &["src/a.rs", "b.toml"]),
        ("pytest tests/test_x.py::TestA::test_b -q", &["tests/test_x.py"]),
        ("sed -n '1,20p' src/main.rs:12", &["src/main.rs"]),
        ("python manage.py test --settings=conf/test.py", &["manage.py", "conf/test.py"]),
        ("cd /work/x && make -f build/Makefile all > out.log 2>&1", &["build/Makefile", "out.log"]),
        ("cat \"my file.txt\" 'a.rs'", &["a.rs"]),
        ("git commit -m 'fix src/a.rs and more'", &[]),
        ("sed -i 's/foo/bar/g' a.c", &["a.c"]),
        ("git checkout origin/main v1.2.3 python3.11", &[]),
        ("curl https://example.com/a.json example.com", &[]),
        ("git config user.name x; cargo test foo.bar", &[]),
        ("cat > a.py <<'EOF'\nopen('b.py')\nEOF", &["a.py"]),
        ("rm *.rs $HOME/x.rs; cat {a,b}.rs", &[]),
        ("echo .rs ..rs /dev/null.txt /proc/1/x.txt -c.rs", &[]),
        ("cat .env a/.env .gitignore", &[".env", "a/.env"]),
        ("(cd sub; cat X.JSON)|tee LOG.TXT", &["X.JSON", "LOG.TXT"]),
        ("cat 'unbalanced.rs", &["unbalanced.rs"]),
        ("", &[]),
    ];
    for (command, expected) in cases {
        assert_eq!(command_paths(command), *expected, "{command}");
    }
}

#[test]
fn endings_are_in_order() {
    // They are searched by halves.
    for ending in ["adoc", "c", "rs", "py", "h", "lock", "zsh", "yml", "sqlite"] {
        assert_eq!(command_paths(&format!("cat a.{ending}")), [format!("a.{ending}")]);
    }
}

proptest! {
    #[test]
    fn a_normalised_path_stays_as_it_is(path in "[a-z./~ ]{0,60}", workspace in "(/[a-z]{0,3}){0,3}") {
        if let Some(once) = normalised(&path, &workspace) {
            prop_assert!(!once.is_empty());
            if !once.starts_with(' ') && !once.ends_with(' ') {
                prop_assert_eq!(normalised(&once, &workspace), Some(once));
            }
        }
    }

    #[test]
    fn any_command_is_borne(command in any::<String>(), quotes in "['\"; a.rs<>(]{0,40}") {
        for text in [command, quotes] {
            for path in command_paths(&text) {
                prop_assert!(text.contains(path));
            }
        }
    }

    #[test]
    fn paths_are_few_and_each_is_there_once(names in prop::collection::vec("[a-d]{1,2}", 0..60)) {
        let mut paths = Vec::new();
        names.iter().for_each(|name| add_path(&mut paths, name, "/w"));
        let mut unique = paths.clone();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), paths.len());
        prop_assert!(paths.len() <= MAX_PATHS);
    }
}
