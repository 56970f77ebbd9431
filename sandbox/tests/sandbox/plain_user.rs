//! The same for a user without any privileges: this test binary runs its own tests again as uid 1000.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::{as_root, on_process};

/// Tests that together touch everything that depends on who the user is.
const AGAIN: [&str; 10] = [
    "start::every_proof_is_there_and_passes",
    "isolation::there_is_no_network",
    "isolation::only_the_workspace_and_scratch_are_writable",
    "isolation::the_kernel_cannot_be_reached_through_proc",
    "isolation::secrets_in_the_workspace_are_masked_at_any_depth_nearby",
    "isolation::files_belong_to_the_user_on_both_sides",
    "limits::a_fork_bomb_is_contained",
    "limits::a_memory_hog_is_killed_and_named",
    "lifecycle::a_killed_guest_fails_all_calls_and_another_can_be_started",
    "programs::git_works",
];

#[test]
fn all_of_it_works_for_a_plain_user_too() {
    if !as_root() || !on_process() {
        // Then every test in this binary has just shown it. (An engine's containers know no other user.)
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let binary = dir.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let home = dir.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(1000), Some(1000)).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid", "1000", "--regid", "1000", "--clear-groups"])
        .arg(&binary)
        .args(["--exact", "--test-threads", "2"])
        .args(AGAIN)
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir(&home)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&format!("{} passed", AGAIN.len())), "{said}");
}
