//! Which paths a pattern means.

use crate::query::PathPattern;
use proptest::prelude::*;

fn check(pattern: &str, path: &str, fits: bool) {
    assert_eq!(PathPattern::new(pattern).fits(path), fits, "{pattern} on {path}");
}

#[test]
fn components_anywhere_in_the_path() {
    check("src/auth", "src/auth/login.rs", true);
    check("src/auth", "crates/core/src/auth", true);
    check("login.rs", "src/auth/login.rs", true);
    check("/src/auth/", "src/auth/login.rs", true);
    check("./src", "src/auth/login.rs", true);
    check("SRC/Auth", "src/auth/Login.rs", true);
    check("src", "my_src/auth/login.rs", false);
    check("src/login.rs", "src/auth/login.rs", false);
    check("login", "src/auth/login.rs", false);
    check("src/auth/login.rs/more", "src/auth/login.rs", false);
}

#[test]
fn globs() {
    check("*.rs", "src/auth/login.rs", true);
    check("*.RS", "src/auth/login.rs", true);
    check("*.rs", "src/auth/login.py", false);
    check("src/*/login.rs", "src/auth/login.rs", true);
    check("src/*.rs", "src/auth/login.rs", false);
    check("src/**/login.rs", "src/a/b/login.rs", true);
    check("test_*", "app/tests/test_login/data.json", true);
    check("**/auth/*", "/src/auth/login.rs", true);
    check("lo?in.rs", "src/login.rs", true);
    check("*.{rs,py}", "src/login.py", true);
}

#[test]
fn what_is_no_glob_is_taken_literally() {
    check("a[1].txt", "data/a[1].txt", true);
    check("a*[", "data/a*[", true);
    check("", "src/a", false);
    check("/", "src/a", false);
    check(".", "src/a", false);
}

#[test]
fn literal_components_leave_out_wildcards() {
    let parts = |pattern| PathPattern::literal_components(pattern).collect::<Vec<_>>();
    assert_eq!(parts("src/auth"), ["src", "auth"]);
    assert_eq!(parts("src/**/mod.rs"), ["src", "mod.rs"]);
    assert_eq!(parts("*.rs"), [""; 0]);
    assert_eq!(parts("données/x"), ["x"]);
    assert_eq!(parts("a[1]/b"), ["a[1]", "b"]);
    assert_eq!(parts("a[1]*/b"), ["b"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_pattern_on_any_path(pattern in "\\PC{0,40}", path in "\\PC{0,40}") {
        let _ = PathPattern::new(&pattern).fits(&path);
    }

    /// What drives a search must be in every path that fits, or the search would miss some.
    #[test]
    fn every_fitting_path_has_the_literal_components(
        pattern in "[aAbé*?/.]{1,8}",
        path in "[aAbBé/.]{1,12}",
    ) {
        if !PathPattern::new(&pattern).fits(&path) {
            return Ok(());
        }
        for component in PathPattern::literal_components(&pattern) {
            let has = path.split('/').any(|part| part.to_lowercase() == component.to_ascii_lowercase());
            prop_assert!(has, "{} in {}", component, path);
        }
    }

    /// A path fits itself, and each of its folders.
    #[test]
    fn a_path_fits_its_own_components(parts in prop::collection::vec("[a-zA-Z_é]{1,6}", 1..6), cut in 0_usize..6) {
        let path = parts.join("/");
        prop_assert!(PathPattern::new(&path).fits(&path));
        let folder = parts[..=cut.min(parts.len() - 1)].join("/");
        prop_assert!(PathPattern::new(&folder).fits(&path));
        let glob = format!("{folder}*");
        prop_assert!(PathPattern::new(&glob).fits(&path), "{} on {}", glob, path);
    }
}
