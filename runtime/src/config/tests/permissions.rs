//! Where permission rules come from, and which of them a repository may give.

use super::{Machine, write};
use crate::config::Key;
use crate::permissions::{Asked, RuleList, Verdict};
use retrace_events::payload::tool::ToolEffect;

/// The rules as `retrace config show` has them.
fn shown(machine: &Machine) -> Vec<String> {
    let rows = machine.config().rows();
    let rules = rows.iter().filter(|row| row.name.starts_with("permissions."));
    rules.map(|row| machine.plain(&format!("{} {} <- {}", row.name, row.shown, row.origin))).collect()
}

const PROJECT: &str = "max_tokens = 5\n[permissions]\ndeny = [\"bash(git push *)\"]\nask = [\n  # why\n  \"bash(make *)\",\n]\nallow = [\"bash\"]\n";

#[test]
fn rules_come_from_the_user_the_flags_and_the_project() {
    let machine = Machine::new()
        .permissions("allow = [\"bash(cargo test *)\"]\n\ndeny = [\n  \"bash(rm *)\",\n  \"read_file(.env)\",\n]\n")
        .rule(RuleList::Allow, "edit_file(src/**)")
        .rule(RuleList::Ask, "bash(cargo publish *)")
        .rule(RuleList::Deny, "bash(curl *)")
        .project(PROJECT);
    assert_eq!(
        shown(&machine),
        [
            "permissions.deny bash(rm *) <- /home/config/retrace/permissions.toml:4",
            "permissions.deny read_file(.env) <- /home/config/retrace/permissions.toml:5",
            "permissions.deny bash(curl *) <- flag --deny",
            "permissions.deny bash(git push *) <- /work/.retrace.toml:3",
            "permissions.ask bash(cargo publish *) <- flag --ask",
            "permissions.ask bash(make *) <- /work/.retrace.toml:6",
            "permissions.allow bash(cargo test *) <- /home/config/retrace/permissions.toml:1",
            "permissions.allow edit_file(src/**) <- flag --allow",
        ]
    );
}

#[test]
fn what_a_project_allows_counts_only_in_a_trusted_folder() {
    let machine = Machine::new().project(PROJECT);
    let notices: Vec<String> = machine.config().notices.iter().map(|line| machine.plain(line)).collect();
    assert_eq!(
        notices,
        [
            "/work/.retrace.toml: 1 rule of `permissions.allow` ignored, because the folder is not trusted (hint: retrace config trust)"
        ]
    );
    assert!(!shown(&machine).iter().any(|row| row.starts_with("permissions.allow")));
    assert!(machine.config().needs_trust);
    let trusted = Machine::new().project(PROJECT).trusting();
    assert_eq!(trusted.config().notices, Vec::<String>::new());
    assert!(!trusted.config().needs_trust);
    // What trust would not bring in either does not call for it.
    let loosens = Machine::new().project("model = \"m\"\n[permissions]\nask = [\"bash\"]\n").config();
    assert!(loosens.notices.len() == 1 && !loosens.needs_trust, "{:?}", loosens.notices);
    assert!(shown(&trusted).contains(&"permissions.allow bash <- /work/.retrace.toml:8".to_owned()));
}

#[test]
fn what_is_broken_stops_the_command() {
    let user = |text: &str| Machine::new().permissions(text).refusal();
    let file = "/home/config/retrace/permissions.toml";
    assert_eq!(
        user("allow = [\n  \"bash(ls)\",\n  \"bash(ls\",\n]\n"),
        format!("{file}:3: `permissions.allow` has a rule `bash(ls` that must end with `)`")
    );
    assert_eq!(
        user("\ndeny = [\"Bash(rm *)\"]\n"),
        format!(
            "{file}:2: `permissions.deny` has a rule `Bash(rm *)` that names a tool that does not exist; did you mean `bash`?"
        )
    );
    assert_eq!(user("allowed = []\n"), format!("{file}:1: unknown key `allowed` | hint: did you mean `allow`?"));
    let list = "must be a list of rules, like [\"bash(cargo test *)\"]";
    assert_eq!(user("allow = \"bash\"\n"), format!("{file}:1: `permissions.allow` {list}"));
    assert_eq!(user("ask = [\n\"bash\",\n3]\n"), format!("{file}:3: `permissions.ask` {list}"));
    assert!(user("allow = [\n").starts_with(&format!("{file}:")));
    assert_eq!(user(&"#".repeat(300_000)), format!("{file}: cannot be read: it is larger than 262144 bytes"));

    let project = |text: &str| Machine::new().project(text).refusal();
    let file = "/work/.retrace.toml";
    // Broken even in the list that is not taken, since nobody can know what else the author got wrong.
    assert_eq!(
        project("[permissions]\nallow = [\"bash(\"]\n"),
        format!("{file}:2: `permissions.allow` has a rule `bash(` that must end with `)`")
    );
    assert_eq!(
        project("[permissions]\ndenied = []\n"),
        format!("{file}:2: unknown key `permissions.denied` | hint: did you mean `deny`?")
    );
    assert_eq!(project("permissions = 3\n"), format!("{file}:1: `permissions` must be a table of deny, ask and allow"));

    let misplaced = Machine::new().user("[permissions]\nallow = [\"bash\"]\n").refusal();
    assert_eq!(
        misplaced,
        "/home/config/retrace/config.toml:1: permission rules are in permissions.toml, beside config.toml"
    );
    let flag = Machine::new().rule(RuleList::Deny, "bash(\"rm\" *)").refusal();
    assert!(flag.starts_with("flag --deny: `permissions.deny` has a rule `bash(\"rm\" *)` that has a quote"), "{flag}");
}

#[test]
fn a_file_that_others_may_write_is_not_believed() {
    let machine = Machine::new();
    write(&machine.folders().permissions_file(), "allow = [\"bash\"]\n", 0o666);
    assert_eq!(
        machine.refusal(),
        "/home/config/retrace/permissions.toml: cannot be read: other users may write it (mode 666); chmod 600"
    );
}

#[test]
fn sessions_get_the_rules_and_the_mode_of_their_settings() {
    let machine = Machine::new().permissions("allow = [\"bash(ls *)\"]\n").flag(Key::Approvals, "--approvals", "ask");
    let config = machine.config();
    let settings = config.settings(&crate::claude::ModelTable::builtin().unwrap());
    assert_eq!(settings.approvals, "ask");
    let permissions = config.permissions(&settings, true);
    let decide = |command: &str| {
        let input = serde_json::json!({ "command": command }).to_string();
        permissions.decide(&Asked { tool: "bash", input: &input, effect: ToolEffect::Writes, session_rules: &[] })
    };
    assert_eq!(decide("ls -l"), Verdict::Allow { by: Some("permissions.toml:1 `bash(ls *)`".to_owned()) });
    assert!(matches!(decide("touch x"), Verdict::Ask { .. }));
    permissions.remember("bash(touch *)").unwrap();
    let by = Some("permissions.toml:2 `bash(touch *)`".to_owned());
    assert_eq!(decide("touch x"), Verdict::Allow { by }, "at once");
    assert!(shown(&machine).iter().any(|row| row.contains("bash(touch *)")), "and for the next one");
}

#[test]
fn approvals_effort_and_limits_of_the_tree_are_read_from_everywhere() {
    let machine = Machine::new().user("approvals = \"ask\"\neffort = \"low\"\n[tree_budget]\ncost = 1.5\n");
    assert_eq!(machine.row(Key::Approvals), "ask <- /home/config/retrace/config.toml:1");
    assert_eq!(machine.row(Key::Effort), "low <- /home/config/retrace/config.toml:2");
    assert_eq!(machine.row(Key::MaxTreeCost), "1.50 <- /home/config/retrace/config.toml:4");
    let machine =
        machine.env("RETRACE_APPROVALS", "allow").env("RETRACE_EFFORT", "none").env("RETRACE_MAX_TREE_TIME", "1h");
    assert_eq!(machine.row(Key::Approvals), "allow <- env RETRACE_APPROVALS");
    assert_eq!(machine.row(Key::Effort), "the model's own <- env RETRACE_EFFORT");
    assert_eq!(machine.row(Key::MaxTreeTime), "1h <- env RETRACE_MAX_TREE_TIME");
    let refusal = |key, name, value| Machine::new().flag(key, name, value).refusal();
    assert_eq!(
        refusal(Key::Approvals, "--approvals", "never"),
        "flag --approvals: `approvals` must be auto, ask or allow"
    );
    assert_eq!(
        refusal(Key::Effort, "--effort", "huge"),
        "flag --effort: `effort` must be one of low, medium, high, xhigh, max, or `none`"
    );
}
