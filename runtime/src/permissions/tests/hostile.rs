//! Inputs made to break the readers: each is decided, soon, and on the strict side.

use super::{World, word};
use std::time::{Duration, Instant};

/// The longest command the tool takes, and a little more.
const SIZE: usize = 110_000;

fn world() -> World {
    World::new(&["allow bash(ls *)", "allow bash(echo *)", "deny bash(rm *)"])
}

#[test]
fn long_and_deep_scripts_are_decided_soon_and_never_allowed() {
    let many = |text: &str| text.repeat(SIZE / text.len());
    let scripts = [
        many("ls; "),
        many("ls && ") + "ls",
        many("ls | ") + "ls",
        many("ls\n"),
        many("("),
        many("$("),
        many("$(ls "),
        many("`"),
        many("$(("),
        many("{ "),
        many("\""),
        many("'"),
        many("\\"),
        many("<<A\n"),
        many("<<A "),
        many("${x:-"),
        many("if ls; then "),
        many("case x in "),
        many("a[$("),
        many("bash -c '"),
        many("eval "),
        many("sudo "),
        many("env -i "),
        many("-exec "),
        many("find -exec "),
        many("echo \"$(echo \""),
        many("x "),
        many("=( "),
        many("<( "),
        many("\0"),
        many("\u{1F980} "),
        "ls ".to_owned() + &"*".repeat(SIZE),
        "a".repeat(SIZE),
        format!("echo {}", many("$(ls) ")),
        format!("{}ls{}", "$(".repeat(30_000), ")".repeat(30_000)),
        format!("{}ls{}", "(".repeat(30_000), ")".repeat(30_000)),
        format!("cat {}\n{}", "<<A ".repeat(10_000), "A\n".repeat(10_000)),
    ];
    let world = world();
    for script in scripts {
        let start: String = script.chars().take(30).collect();
        let began = Instant::now();
        assert_ne!(word(&world.bash(&script)), "allow", "{start:?}");
        assert_eq!(word(&world.bash(&format!("rm x\n{script}"))), "deny", "{start:?}");
        assert!(world.permissions.rule_like("bash", &serde_json::json!({ "command": script }).to_string()).is_empty());
        assert!(began.elapsed() < Duration::from_secs(20), "{start:?} took {:?}", began.elapsed());
    }
}

#[test]
fn patterns_full_of_stars_do_not_take_for_ever() {
    let world =
        World::new(&[&format!("deny bash({}b)", "*a".repeat(500)), &format!("allow bash({}b)", "*a".repeat(500))]);
    let began = Instant::now();
    assert_eq!(word(&world.bash(&format!("echo {}", "a".repeat(15_000)))), "ask");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn paths_may_be_anything() {
    let world = World::new(&["allow edit_file(**)", "deny edit_file(secret/**)"]);
    for path in ["/".repeat(SIZE), "a/".repeat(SIZE / 2), "../".repeat(SIZE / 3), "x".repeat(SIZE)] {
        assert_ne!(word(&world.path("edit_file", &path)), "allow");
    }
    assert_eq!(word(&world.path("edit_file", &format!("/{}secret/x", "a/".repeat(SIZE / 2)))), "deny");
    assert_eq!(word(&world.path("edit_file", "\u{0}/secret/x")), "deny");
}

#[test]
fn many_rules_are_no_burden() {
    let rules: Vec<String> = (0..1_500).map(|n| format!("deny bash(tool{n} *)")).collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let world = World::new(&rules);
    let began = Instant::now();
    assert_eq!(word(&world.bash(&"echo hello; ls\n".repeat(5_000))), "ask");
    assert_eq!(word(&world.bash(&("echo hello; ls\n".repeat(5_000) + "tool1499 x"))), "deny");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
