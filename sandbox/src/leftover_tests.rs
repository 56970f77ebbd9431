//! Only what a dead program has left is removed.

use super::*;

#[test]
fn what_the_dead_left_goes_and_all_else_stays() {
    let dir = tempfile::tempdir().unwrap();
    let own = temporary(dir.path()).unwrap();
    let name = own.path().file_name().unwrap().to_str().unwrap();
    let parts: Vec<&str> = name.strip_prefix(PREFIX).unwrap().split('-').collect();
    let [namespace, pid, started, _] = parts.as_slice() else { panic!("{name}") };
    // The id is in use, but by a program that was started at another time.
    let earlier = started.parse::<u64>().unwrap() - 1;
    let dead = dir.path().join(format!("{PREFIX}{namespace}-{pid}-{earlier}-abc"));
    let others = [
        format!("{PREFIX}{}-{pid}-{earlier}-abc", namespace.parse::<u64>().unwrap() + 1),
        format!("{PREFIX}{pid}-{earlier}-abc"),
        PREFIX.to_owned(),
        ".retrace-17-0.tmp".to_owned(),
        "mine".to_owned(),
    ]
    .map(|name| dir.path().join(name));
    for file in others.iter().chain([&dead]) {
        fs::write(file, "").unwrap();
    }
    sweep(dir.path());
    assert!(!dead.exists());
    assert!(own.path().exists() && others.iter().all(|other| other.exists()));
}
