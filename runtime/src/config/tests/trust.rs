//! The list of trusted folders.

use super::Machine;
use crate::config::{TrustList, is_trusted};
use std::os::unix::fs::symlink;

#[test]
fn a_folder_is_trusted_by_its_real_path() {
    let machine = Machine::new().trusting();
    let link = machine.home.join("link");
    symlink(&machine.workspace, &link).unwrap();
    assert!(is_trusted(&machine.folders(), &machine.workspace).unwrap());
    assert!(!is_trusted(&machine.folders(), &link).unwrap());
    assert!(!is_trusted(&machine.folders(), &machine.workspace.join("inner")).unwrap());
    assert!(!is_trusted(&machine.folders(), machine.workspace.parent().unwrap()).unwrap());
}

#[test]
fn the_list_is_kept() {
    let machine = Machine::new();
    let load = || TrustList::load(machine.folders().trust_file()).unwrap();
    let mut list = load();
    assert!(list.set("/a", true).unwrap());
    assert!(!list.set("/a", true).unwrap());
    assert!(list.set("/b", true).unwrap());
    assert_eq!(load().items().collect::<Vec<_>>(), ["/a", "/b"]);
    assert!(load().set("/a", false).unwrap());
    assert!(!load().set("/a", false).unwrap());
    assert_eq!(load().items().collect::<Vec<_>>(), ["/b"]);
}

#[test]
fn a_damaged_list_is_an_error_and_not_an_empty_one() {
    let machine = Machine::new();
    super::write(&machine.folders().trust_file(), "{\n\"a\":", 0o600);
    assert_eq!(machine.refusal(), "/home/state/retrace/trusted.json:1: not a list of texts");
}

#[test]
fn what_a_workspace_writes_does_not_make_it_trusted() {
    let machine = Machine::new().dotenv("MODEL=x\n");
    let own = machine.workspace.to_str().unwrap();
    for name in ["trusted.json", ".retrace/trusted.json", ".local/state/retrace/trusted.json"] {
        super::write(&machine.workspace.join(name), &format!("[\"{own}\"]"), 0o600);
    }
    assert_eq!(machine.config().notices.len(), 1);
}
