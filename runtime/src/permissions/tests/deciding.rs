//! The order of lists, the defaults by mode, and the words.

use super::{World, word};
use crate::permissions::{ApprovalMode, Permissions, Verdict};
use expect_test::expect;

#[test]
fn deny_is_before_ask_is_before_allow_is_before_the_default() {
    let world = World::new(&["allow bash(git *)", "ask bash(git push *)", "deny bash(git push --force *)"])
        .session(&["bash(git push *)"]);
    assert_eq!(word(&world.bash("git status")), "allow");
    assert_eq!(word(&world.bash("git push")), "ask");
    assert_eq!(word(&world.bash("git push --force")), "deny");
    assert_eq!(word(&world.bash("git status; git push; git push --force")), "deny");
    assert_eq!(word(&world.bash("make")), "ask");
}

#[test]
fn defaults_depend_on_mode_sandbox_and_effect() {
    use ApprovalMode::{Allow, Ask, Auto};
    let cases = [
        (Auto, true, "allow"),
        (Auto, false, "ask"),
        (Ask, true, "ask"),
        (Ask, false, "ask"),
        (Allow, true, "allow"),
        (Allow, false, "allow"),
    ];
    for (mode, sandboxed, expected) in cases {
        let world = World::with(mode, sandboxed, &[]);
        assert_eq!(word(&world.bash("make $(x) > y")), expected, "{mode} {sandboxed}");
        assert_eq!(word(&world.path("write_file", "/etc/x")), expected, "{mode} {sandboxed}");
        assert_eq!(world.path("read_file", "x"), Verdict::Allow { by: None }, "looking is always allowed");
        if expected == "allow" {
            assert_eq!(world.bash("make"), Verdict::Allow { by: None }, "a default is not worth logging");
        }
    }
    let world = World { permissions: Permissions::builtin(true), session: Vec::new() };
    assert_eq!(word(&world.bash("make")), "allow");
}

#[test]
fn looking_can_be_forbidden_and_asked_about() {
    let world =
        World::with(ApprovalMode::Allow, true, &["ask read_file(a)", "deny list_dir", "deny search_files(b/**)"]);
    assert_eq!(word(&world.path("read_file", "a")), "ask");
    assert_eq!(word(&world.decide("list_dir", "{}")), "deny");
    assert_eq!(word(&world.path("search_files", "b/c")), "deny");
    let all = World::with(ApprovalMode::Allow, true, &["deny *"]);
    assert_eq!(word(&all.path("read_file", "a")), "deny");
}

#[test]
fn an_input_that_is_no_object_is_asked_about_unless_the_tool_is_forbidden() {
    for input in ["", "{", "[]", "null", "\"ls\"", "{\"command\":\"ls\"", "{\"command\":\"ls\"} x", "\0"] {
        for mode in [ApprovalMode::Allow, ApprovalMode::Auto] {
            let world = World::with(mode, true, &["allow bash", "allow *", "deny bash(ls)"]);
            assert_eq!(word(&world.decide("bash", input)), "ask", "{input:?}");
        }
        assert_eq!(word(&World::new(&["deny bash"]).decide("bash", input)), "deny", "{input:?}");
    }
    let world = World::new(&["allow bash(ls *)", "allow edit_file(**)"]);
    for (tool, input) in [("bash", "{}"), ("bash", r#"{"command":["ls"]}"#), ("edit_file", r#"{"path":7}"#)] {
        assert_eq!(word(&world.decide(tool, input)), "ask", "{tool} {input}");
    }
    // Of two, the last counts, as it does for the tool.
    assert_eq!(word(&world.decide("bash", r#"{"command":"ls","command":"rm x"}"#)), "ask");
}

#[test]
fn session_rules_allow_and_broken_ones_do_not() {
    let world = World::new(&["deny bash(rm *)"]).session(&[
        "",
        "bash(",
        "nonsense here",
        "bash(make *)",
        "bash(rm *)",
        "later_tool",
    ]);
    assert_eq!(world.bash("make all"), Verdict::Allow { by: Some("this session's rule `bash(make *)`".to_owned()) });
    assert_eq!(word(&world.bash("rm x")), "deny");
    assert_eq!(word(&world.bash("ls")), "ask");
    assert_eq!(word(&world.decide("later_tool", "{}")), "allow");
}

#[test]
fn the_words_say_who_why_and_what_now() {
    let world = World::new(&[
        "allow bash(cargo test *)",
        "allow bash(ls *)",
        "ask bash(cargo publish *)",
        "deny bash(git push *)",
        "deny edit_file(*.lock)",
        "allow bash(echo *)",
        "allow bash(cat *)",
    ]);
    let verdicts = [
        world.bash("cargo test && ls"),
        world.bash("ls; cat x; echo a; cargo test; ls"),
        world.bash("cargo publish"),
        world.bash("make"),
        world.bash("make > log"),
        World::with(ApprovalMode::Ask, true, &[]).bash("make"),
        world.decide("bash", "{"),
        world.bash("cd x\ngit push --force"),
        world.path("edit_file", "Cargo.lock"),
    ];
    let lines: String = verdicts.iter().map(|verdict| format!("{verdict:#?}\n")).collect();
    expect![[r#"
        Allow {
            by: Some(
                "permissions.toml:1 `bash(cargo test *)`, permissions.toml:2 `bash(ls *)`",
            ),
        }
        Allow {
            by: Some(
                "permissions.toml:2 `bash(ls *)`, permissions.toml:7 `bash(cat *)`, permissions.toml:6 `bash(echo *)`, 1 more",
            ),
        }
        Ask {
            why: "permissions.toml:3 `bash(cargo publish *)` is to be asked about each time",
        }
        Ask {
            why: "it runs on this machine without a sandbox, and no rule allows it",
        }
        Ask {
            why: "it runs on this machine without a sandbox, and no rule allows it; the command is more than a list of plain commands",
        }
        Ask {
            why: "approvals are set to `ask`, and no rule allows it",
        }
        Ask {
            why: "its input is no JSON object, so no rule can be compared with it",
        }
        Deny {
            by: "permissions.toml:4 `bash(git push *)`",
            content: "denied: bash `cd x\ngit push --force` was not run, because a permission rule forbids it: permissions.toml:4 `bash(git push *)`. The rule is about any command in it, also one within a substitution or behind a wrapper.\nDo not try to reach the same by a detour. Find a way that does without it, or say what you need and why, so that the user can decide.",
        }
        Deny {
            by: "permissions.toml:5 `edit_file(*.lock)`",
            content: "denied: edit_file `Cargo.lock` was not run, because a permission rule forbids it: permissions.toml:5 `edit_file(*.lock)`.\nDo not try to reach the same by a detour. Find a way that does without it, or say what you need and why, so that the user can decide.",
        }
    "#]].assert_eq(&lines);
}
