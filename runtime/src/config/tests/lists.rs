//! The lists in the state folder when something is wrong with them, and files that are no plain files.

use super::{Machine, write};
use crate::config::TrustList;
use proptest::prelude::*;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn whatever_is_no_list_of_texts_is_an_error_with_its_line() {
    let machine = Machine::new();
    let file = machine.folders().trust_file();
    for (damaged, line) in [("", 1), ("[\n\"a\",\n1]", 3), ("{}", 1), ("null", 1), ("[\"a\"", 1), ("[\"a\"]\nx", 2)] {
        write(&file, damaged, 0o600);
        let error = TrustList::load(file.clone()).unwrap_err().to_string();
        // An empty file ends before its first line begins.
        let line = if damaged.is_empty() && error.contains(":0:") { 0 } else { line };
        assert!(error.ends_with(&format!("trusted.json:{line}: not a list of texts")), "{damaged:?}: {error}");
    }
}

#[test]
fn a_list_that_is_too_large_binary_or_no_file_is_refused() {
    let machine = Machine::new();
    let file = machine.folders().trust_file();
    write(&file, &format!("[\"{}\"]", "x".repeat(256 * 1024)), 0o600);
    let error = TrustList::load(file.clone()).unwrap_err().to_string();
    assert!(error.contains("is larger than 262144 bytes"), "{error}");
    std::fs::write(&file, b"[\"\xff\"]").unwrap();
    let error = TrustList::load(file.clone()).unwrap_err().to_string();
    assert!(error.contains("it is not UTF-8"), "{error}");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let error = TrustList::load(file).unwrap_err().to_string();
    assert!(error.contains("it is not a plain file"), "{error}");
}

#[test]
fn a_list_is_replaced_whole_and_nothing_is_left_beside_it() {
    let machine = Machine::new();
    let file = machine.folders().trust_file();
    let mut list = TrustList::load(file.clone()).unwrap();
    for item in ["/b", "/a", "/b", "/c d", "/ü\n\"x\""] {
        list.set(item, true).unwrap();
    }
    let names: Vec<_> = std::fs::read_dir(file.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["trusted.json"]);
    let again = TrustList::load(file.clone()).unwrap();
    assert_eq!(again, list);
    assert_eq!(again.items().collect::<Vec<_>>(), ["/a", "/b", "/c d", "/ü\n\"x\""]);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "others have no business in it");
}

#[test]
fn a_list_that_cannot_be_written_says_where() {
    let machine = Machine::new();
    let folders = machine.folders();
    // A file stands where the folder should be: that stops even root.
    write(&folders.state, "", 0o600);
    let mut list = TrustList::load(folders.trust_file()).unwrap();
    let error = list.set("/a", true).unwrap_err().to_string();
    assert!(error.contains("trusted.json"), "{error}");
    assert_eq!(std::fs::read_to_string(&folders.state).unwrap(), "");
}

#[test]
fn the_users_files_may_be_links_and_the_workspaces_may_not() {
    let machine = Machine::new();
    let real = machine.home.join("dotfiles/config.toml");
    write(&real, "model = \"from-a-link\"\n", 0o644);
    std::fs::create_dir_all(&machine.folders().config).unwrap();
    symlink(&real, machine.folders().config_file()).unwrap();
    assert_eq!(machine.config().values.model.value, "from-a-link");

    let machine = Machine::new();
    let secret = machine.home.join("secret.toml");
    write(&secret, "max_attempts = 1\n", 0o644);
    symlink(&secret, machine.workspace.join(crate::config::PROJECT_FILE)).unwrap();
    assert!(machine.refusal().contains("it is a symbolic link"), "{}", machine.refusal());
}

#[test]
fn a_pipe_or_a_folder_in_the_place_of_a_file_does_not_hang() {
    let machine = Machine::new();
    let file = machine.workspace.join(crate::config::PROJECT_FILE);
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(machine.refusal().contains("it is not a plain file"), "{}", machine.refusal());
    let machine = Machine::new();
    std::fs::create_dir_all(machine.folders().config_file()).unwrap();
    assert!(machine.refusal().contains("it is not a plain file"), "{}", machine.refusal());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_list_keeps_any_texts(steps in prop::collection::vec((".{0,12}", any::<bool>()), 0..12)) {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("list.json");
        let mut expected = std::collections::BTreeSet::new();
        for (item, listed) in steps {
            let changed = if listed { expected.insert(item.clone()) } else { expected.remove(&item) };
            // Each step as a process of its own would take it.
            let mut list = TrustList::load(file.clone()).unwrap();
            prop_assert_eq!(list.set(&item, listed).unwrap(), changed);
            prop_assert_eq!(list.contains(&item), listed);
        }
        let list = TrustList::load(file).unwrap();
        prop_assert!(list.items().eq(expected.iter().map(String::as_str)));
    }
}
