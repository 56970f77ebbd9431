//! Toolchains are shown, secrets beside them are not.

use super::*;

fn layout(base: &str) -> &'static Layout {
    LAYOUTS.iter().find(|layout| layout.base == base).unwrap()
}

fn home(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    for (path, contents) in files {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
    (dir, home)
}

#[test]
fn cargo_shows_its_caches_and_never_its_credentials() {
    let (_dir, home) = home(&[
        (".cargo/bin/cargo", ""),
        (".cargo/registry/x", ""),
        (".cargo/credentials.toml", "token"),
        (".cargo/credentials", ""),
        (
            ".cargo/config.toml",
            "[source.crates-io]\nreplace-with = 'mirror'\n[source.mirror]\nregistry = 'https://mirror/index'\n",
        ),
    ]);
    let found = find(&home, layout(".cargo"), |_| None).unwrap();
    let cargo = home.join(".cargo");
    assert_eq!(found.shown, [cargo.join("bin"), cargo.join("registry"), cargo.join("config.toml")]);
    assert_eq!(found.writable_base, Some(cargo.clone()));
    assert!(found.env.contains(&("CARGO_HOME", cargo.to_string_lossy().into_owned())));
    assert!(found.env.contains(&("CARGO_NET_OFFLINE", "true".to_owned())));
}

#[test]
fn configuration_that_holds_a_secret_is_left_out() {
    for config in ["[registries.x]\ntoken = 'abc'", "[http]\nproxy = 'http://user:pw@proxy'", "PASSWORD=1"] {
        let (_dir, home) = home(&[(".cargo/bin/cargo", ""), (".cargo/config.toml", config)]);
        assert_eq!(find(&home, layout(".cargo"), |_| None).unwrap().shown, [home.join(".cargo/bin")], "{config}");
    }
}

#[test]
fn a_variable_may_place_a_toolchain_but_not_expose_the_home() {
    let (_dir, home) = home(&[(".rustup/toolchains/x", ""), ("elsewhere/toolchains/x", "")]);
    let placed = |at: PathBuf| {
        find(&home, layout(".rustup"), |name| (name == "RUSTUP_HOME").then(|| at.to_string_lossy().into_owned()))
    };
    assert_eq!(placed(home.join("elsewhere")).unwrap().shown, [home.join("elsewhere")]);
    for wrong in [
        home.clone(),
        PathBuf::from("/"),
        home.parent().unwrap().to_path_buf(),
        PathBuf::from("relative"),
        home.join("missing"),
    ] {
        assert_eq!(placed(wrong.clone()).unwrap().shown, [home.join(".rustup")], "{wrong:?}");
    }
}

#[test]
fn what_is_not_there_is_not_shown() {
    let (_dir, home) = home(&[("go/src/private.go", ""), (".local/share/other", "")]);
    assert!(LAYOUTS.iter().all(|layout| find(&home, layout, |_| None).is_none()));
    assert!(found(None).is_empty());
}
