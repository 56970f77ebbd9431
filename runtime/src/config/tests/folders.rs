//! Where the user's folders are, by the XDG rules; and that a workspace never contains them.

use crate::config::{ConfigError, Folders};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the rules say for `variable`, below the home folder otherwise; relative values do not count.
fn by_the_rules(variable: &str, otherwise: &str) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(otherwise)).join("retrace")
}

#[test]
fn folders_follow_the_environment() {
    let folders = Folders::of_user().unwrap();
    assert_eq!(folders.config, by_the_rules("XDG_CONFIG_HOME", ".config"));
    assert_eq!(folders.state, by_the_rules("XDG_STATE_HOME", ".local/state"));
    assert_eq!(folders.cache, by_the_rules("XDG_CACHE_HOME", ".cache"));
}

/// The test above in processes of their own, since a process must not change its own environment.
#[test]
fn folders_follow_any_environment() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().to_str().unwrap();
    let environments: [&[(&str, &str)]; 5] = [
        &[],
        &[("XDG_CONFIG_HOME", "/elsewhere/config")],
        &[("XDG_STATE_HOME", "/elsewhere/state"), ("XDG_CACHE_HOME", "/elsewhere/cache")],
        &[("XDG_CONFIG_HOME", "relative/config"), ("XDG_STATE_HOME", "./state")],
        &[("XDG_CONFIG_HOME", ""), ("XDG_STATE_HOME", ""), ("XDG_CACHE_HOME", "")],
    ];
    for environment in environments {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "config::tests::folders::folders_follow_the_environment"])
            .env_clear()
            .env("HOME", home)
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && said.contains("1 passed"), "{environment:?}: {said}");
    }
}

fn below(base: &Path) -> Folders {
    Folders { config: base.join("config"), state: base.join("state"), cache: base.join("cache") }
}

#[test]
fn files_lie_in_their_folders() {
    let folders = below(Path::new("/u"));
    assert_eq!(folders.config_file(), Path::new("/u/config/config.toml"));
    assert_eq!(folders.credentials_file(), Path::new("/u/config/credentials.toml"));
    assert_eq!(folders.trust_file(), Path::new("/u/state/trusted.json"));
    assert_eq!(folders.imported_file(), Path::new("/u/state/imported.json"));
}

#[test]
fn a_workspace_may_lie_beside_and_below_the_folders_but_not_around_them() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let folders = below(&root.join("user"));
    for fine in ["work", "user/statement", "user/cache", "user/state/retrace/deeper", "user/config-of-mine"] {
        assert!(folders.check_outside(&root.join(fine)).is_ok(), "{fine}");
    }
    for (around, what) in
        [("user/state", "the state folder"), ("user/config", "the configuration folder"), ("user", "the state folder")]
    {
        let Err(ConfigError::InsideWorkspace { what: found, workspace, .. }) =
            folders.check_outside(&root.join(around))
        else {
            panic!("{around} was taken");
        };
        assert_eq!((found, workspace), (what, root.join(around)));
    }
}

#[test]
fn links_are_followed_before_the_folders_are_compared() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("work/hidden")).unwrap();
    std::os::unix::fs::symlink(root.join("work/hidden"), root.join("state")).unwrap();
    // What lies behind the link does not exist yet.
    let folders = Folders { state: root.join("state/retrace/log"), ..below(&root.join("user")) };
    let error = folders.check_outside(&root.join("work")).unwrap_err();
    assert!(error.to_string().contains("work/hidden/retrace/log"), "{error}");
}
