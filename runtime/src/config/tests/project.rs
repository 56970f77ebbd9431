//! A project may forbid more, and nothing else.

use super::Machine;
use crate::config::choice::surely_as_strict;
use crate::config::{Config, Home, KEYS, Key, SandboxValues};
use expect_test::expect;
use proptest::prelude::*;

#[test]
fn stricter_values_are_taken() {
    let machine = Machine::new().project(
        "max_tokens = 500\nsandbox = \"krun\"\ncommand_timeout = \"10s\"\nmax_attempts = 2\nmask = [\"secret.txt\"]\n\
         [budget]\nsteps = 3\ntokens = 1000\ncost = 0.5\ntime = \"1m\"\n\
         [tree_budget]\nsteps = 3\ntokens = 1000\ncost = 0.5\ntime = \"1m\"\n",
    );
    assert_eq!(machine.config().notices, Vec::<String>::new());
    assert_eq!(machine.row(Key::MaxTokens), "500 <- /work/.retrace.toml:1");
    assert_eq!(machine.row(Key::Sandbox), "krun <- /work/.retrace.toml:2");
    assert_eq!(machine.row(Key::CommandTimeout), "10s <- /work/.retrace.toml:3");
    assert_eq!(machine.row(Key::MaxAttempts), "2 <- /work/.retrace.toml:4");
    assert_eq!(machine.row(Key::Mask), "secret.txt <- /work/.retrace.toml:5");
    assert_eq!(machine.row(Key::MaxSteps), "3 <- /work/.retrace.toml:7");
    assert_eq!(machine.row(Key::MaxTotalTokens), "1000 <- /work/.retrace.toml:8");
    assert_eq!(machine.row(Key::MaxCost), "0.50 <- /work/.retrace.toml:9");
    assert_eq!(machine.row(Key::MaxTime), "1m <- /work/.retrace.toml:10");
    assert_eq!(machine.row(Key::MaxTreeSteps), "3 <- /work/.retrace.toml:12");
    assert_eq!(machine.row(Key::MaxTreeTokens), "1000 <- /work/.retrace.toml:13");
    assert_eq!(machine.row(Key::MaxTreeCost), "0.50 <- /work/.retrace.toml:14");
    assert_eq!(machine.row(Key::MaxTreeTime), "1m <- /work/.retrace.toml:15");
}

#[test]
fn everything_else_is_refused_with_a_line_each() {
    let hostile = "model = \"other\"\nthinking = \"off\"\nbase_url = \"https://evil.example\"\nworkspace = \"/\"\n\
         sandbox = \"none\"\nlog = \"nats://evil.example\"\naccept_nondurable = true\nmax_tokens = 900000\n\
         command_timeout = \"9h\"\nmax_attempts = 99\nexpose = [\"/root/.ssh\"]\n\
         effort = \"max\"\napprovals = \"allow\"\n\
         [tree_budget]\nsteps = \"none\"\ntokens = \"none\"\ncost = \"none\"\ntime = \"none\"\n\
         [budget]\nsteps = \"none\"\ntokens = \"none\"\ncost = \"none\"\ntime = \"none\"\n";
    let user = "max_tokens = 1000\n[tree_budget]\nsteps = 10\ntokens = 10\ncost = 1\ntime = \"1m\"\n[budget]\nsteps = 10\ntokens = 10\ncost = 1\ntime = \"1m\"\n";
    let with = Machine::new().user(user).project(hostile);
    let without = Machine::new().user(user);
    let (with_rows, without_rows) = (rows(&with), rows(&without));
    assert_eq!(with_rows, without_rows);
    let notices: String = with.config().notices.iter().map(|line| with.plain(line) + "\n").collect();
    expect![[r#"
        /work/.retrace.toml:7: `accept_nondurable` ignored: a project may not set it
        /work/.retrace.toml:13: `approvals` ignored: a project may only make it stricter
        /work/.retrace.toml:3: `base_url` ignored: a project may not set it
        /work/.retrace.toml:22: `budget.cost` ignored: a project may only make it stricter
        /work/.retrace.toml:20: `budget.steps` ignored: a project may only make it stricter
        /work/.retrace.toml:23: `budget.time` ignored: a project may only make it stricter
        /work/.retrace.toml:21: `budget.tokens` ignored: a project may only make it stricter
        /work/.retrace.toml:9: `command_timeout` ignored: a project may only make it stricter
        /work/.retrace.toml:12: `effort` ignored: a project may not set it
        /work/.retrace.toml:11: `expose` ignored: a project may not set it
        /work/.retrace.toml:6: `log` ignored: a project may not set it
        /work/.retrace.toml:10: `max_attempts` ignored: a project may only make it stricter
        /work/.retrace.toml:8: `max_tokens` ignored: a project may only make it stricter
        /work/.retrace.toml:1: `model` ignored: a project may not set it
        /work/.retrace.toml:5: `sandbox` ignored: a project may only make it stricter
        /work/.retrace.toml:2: `thinking` ignored: a project may not set it
        /work/.retrace.toml:17: `tree_budget.cost` ignored: a project may only make it stricter
        /work/.retrace.toml:15: `tree_budget.steps` ignored: a project may only make it stricter
        /work/.retrace.toml:18: `tree_budget.time` ignored: a project may only make it stricter
        /work/.retrace.toml:16: `tree_budget.tokens` ignored: a project may only make it stricter
        /work/.retrace.toml:4: `workspace` ignored: a project may not set it
    "#]]
    .assert_eq(&notices);
}

fn rows(machine: &Machine) -> Vec<String> {
    machine
        .config()
        .rows()
        .iter()
        .map(|row| machine.plain(&format!("{}: {} <- {}", row.name, row.shown, row.origin)))
        .collect()
}

#[test]
fn what_cannot_be_read_stops_the_command() {
    let broken = Machine::new().project("max_tokens = [\n");
    assert!(broken.refusal().starts_with("/work/.retrace.toml:"), "{}", broken.refusal());
    let typo = Machine::new().project("\nmax_token = 5\n");
    assert_eq!(typo.refusal(), "/work/.retrace.toml:2: unknown key `max_token` | hint: did you mean `max_tokens`?");
    let key = Machine::new().project("anthropic_api_key = \"sk-1234567890abcdefgh\"\n");
    assert_eq!(
        key.refusal(),
        "/work/.retrace.toml:1: `anthropic_api_key` is a secret and not read from this file | \
         hint: put it into /home/config/retrace/credentials.toml (mode 600) or the environment"
    );
    let value = Machine::new().project("[budget]\ncost = \"lots\"\n");
    assert_eq!(
        value.refusal(),
        "/work/.retrace.toml:2: `budget.cost` must be an amount in US dollars like `2.50`, or `none`"
    );
}

#[test]
fn links_pipes_and_giants_are_not_read() {
    let machine = Machine::new();
    let elsewhere = machine.home.join("private.toml");
    std::fs::write(&elsewhere, "max_tokens = 5\n").unwrap();
    let file = machine.workspace.join(".retrace.toml");
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert_eq!(machine.refusal(), "/work/.retrace.toml: cannot be read: it is a symbolic link");
    std::fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert_eq!(machine.refusal(), "/work/.retrace.toml: cannot be read: it is not a plain file");
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "#".repeat(300_000)).unwrap();
    assert_eq!(machine.refusal(), "/work/.retrace.toml: cannot be read: it is larger than 262144 bytes");
    std::fs::write(&file, [0xff, 0xfe]).unwrap();
    assert_eq!(machine.refusal(), "/work/.retrace.toml: cannot be read: it is not UTF-8");
}

#[test]
fn later_layers_still_win_since_they_are_the_users_own() {
    let machine = Machine::new().project("max_tokens = 500\n").flag(Key::MaxTokens, "--max-tokens", "9000");
    assert_eq!(machine.row(Key::MaxTokens), "9000 <- flag --max-tokens");
}

/// Whether `with` allows nothing that `without` does not.
fn at_most_as_loose(with: &Config, without: &Config) -> bool {
    let limit = |one: Option<u64>, other: Option<u64>| other.is_none_or(|other| one.is_some_and(|one| one <= other));
    let (with_values, without_values) = (&with.values, &without.values);
    let (one, other) = (with_values.budget(), without_values.budget());
    let (one_tree, other_tree) = (with_values.tree_budget(), without_values.tree_budget());
    let masks = |config: &Config| config.values.mask.iter().map(|name| name.value.clone()).collect::<Vec<_>>();
    limit(with_values.max_tokens.value.map(u64::from), without_values.max_tokens.value.map(u64::from))
        && limit(one.max_steps.map(u64::from), other.max_steps.map(u64::from))
        && limit(one.max_tokens, other.max_tokens)
        && limit(one.max_cost_microusd, other.max_cost_microusd)
        && limit(one.max_time_ms, other.max_time_ms)
        && limit(one_tree.max_steps.map(u64::from), other_tree.max_steps.map(u64::from))
        && limit(one_tree.max_tokens, other_tree.max_tokens)
        && limit(one_tree.max_cost_microusd, other_tree.max_cost_microusd)
        && limit(one_tree.max_time_ms, other_tree.max_time_ms)
        && with_values.approvals.value >= without_values.approvals.value
        && with_values.effort.value == without_values.effort.value
        && with_values.command_timeout_ms.value <= without_values.command_timeout_ms.value
        && with_values.max_attempts.value <= without_values.max_attempts.value
        && surely_as_strict(with_values.sandbox.value, without_values.sandbox.value)
        && tighter(&with_values.sandboxes, &without_values.sandboxes)
        && masks(without).iter().all(|name| masks(with).contains(name))
        && with_values.model.value == without_values.model.value
        && with_values.thinking.value == without_values.thinking.value
        && with_values.base_url.value == without_values.base_url.value
        && with_values.expose.value == without_values.expose.value
        && with_values.log.value == without_values.log.value
        && with_values.pure.value == without_values.pure.value
        && with.workspace.file_name() == without.workspace.file_name()
        && with.auth() == without.auth()
}

fn tighter(with: &SandboxValues, without: &SandboxValues) -> bool {
    let (one, other) = (with.limits(), without.limits());
    let limit = |one: Option<u64>, other: Option<u64>| one.unwrap_or(u64::MAX) <= other.unwrap_or(u64::MAX);
    one.memory() <= other.memory()
        && limit(with.cpus_percent.value.map(u64::from), without.cpus_percent.value.map(u64::from))
        && limit(one.disk_bytes, other.disk_bytes)
        && limit(one.idle_ms, other.idle_ms)
        && one.pids <= other.pids
        && one.tmp_bytes <= other.tmp_bytes
        && one.output_bytes <= other.output_bytes
        && one.cpu_seconds <= other.cpu_seconds
        && one.wall_ms <= other.wall_ms
        && with.image.value == without.image.value
        && with.engine.value == without.engine.value
        && with.network.value == without.network.value
        && with.credentials.value == without.credentials.value
}

/// A value that some key takes, as TOML.
fn value(key: Key) -> BoxedStrategy<String> {
    let text =
        |words: &'static [&'static str]| prop::sample::select(words).prop_map(|word| format!("\"{word}\"")).boxed();
    let number = (1_u32..100_000).prop_map(|n| n.to_string()).boxed();
    let limit = prop_oneof![Just("\"none\"".to_owned()), number.clone()].boxed();
    match key {
        Key::Model => text(&["a", "b"]),
        Key::Thinking => text(&["off", "auto", "adaptive"]),
        Key::Effort => text(&["low", "max", "none"]),
        Key::Approvals => text(&["auto", "ask", "allow"]),
        Key::BaseUrl => text(&["https://a.example", "http://localhost:1"]),
        Key::ApiKey | Key::AuthToken => text(&["sk-1234567890abcdefgh"]),
        Key::Workspace => text(&["/", "..", "/tmp"]),
        Key::Sandbox => text(&["auto", "krun", "container", "process", "none", "false", "true"]),
        Key::Log => text(&["embedded", "/tmp/elsewhere", "nats://evil.example"]),
        Key::Compaction => text(&["api", "off"]),
        Key::Pure => text(&["rm *", "cargo test *"]).prop_map(|pattern| format!("[{pattern}]")).boxed(),
        Key::Snapshots => text(&["on", "off", "with-ignored"]),
        Key::Summaries => text(&["claude", "extractive"]),
        Key::SummaryModel => text(&["dear-model", "none"]),
        Key::EmbedModel => text(&["/models/evil", "some-model", "none"]),
        Key::Index | Key::AcceptNondurable => prop_oneof![Just("true".to_owned()), Just("false".to_owned())].boxed(),
        Key::Memory | Key::Scratch | Key::OutputSize => (1_u32..9_999).prop_map(|n| format!("\"{n}MiB\"")).boxed(),
        Key::Disk => {
            prop_oneof![Just("\"none\"".to_owned()), (1_u32..99_999).prop_map(|n| format!("\"{n}MiB\""))].boxed()
        }
        Key::Cpus => prop_oneof![Just("\"none\"".to_owned()), (1_u32..99).prop_map(|n| n.to_string())].boxed(),
        Key::Image => text(&["evil/image", "none"]),
        Key::Engine => text(&["/tmp/evil.sock", "none"]),
        Key::Network => text(&["evil.example", "*.evil.example"]).prop_map(|name| format!("[{name}]")).boxed(),
        Key::NetworkCredentials => text(&["evil.example X: $HOME"]).prop_map(|line| format!("[{line}]")).boxed(),
        Key::MaxTokens | Key::MaxAttempts | Key::Processes => number,
        Key::MaxSteps | Key::MaxTotalTokens | Key::MaxCost | Key::ContextTokens => limit,
        Key::MaxTreeSteps | Key::MaxTreeTokens | Key::MaxTreeCost => limit,
        Key::MaxTime | Key::MaxTreeTime | Key::IdleTime => {
            prop_oneof![Just("\"none\"".to_owned()), (1_u32..9_999).prop_map(|n| format!("\"{n}s\""))].boxed()
        }
        Key::CommandTimeout | Key::CpuTime | Key::CommandTime => {
            (1_u32..9_999).prop_map(|n| format!("\"{n}s\"")).boxed()
        }
        Key::Expose => text(&["/etc", "/root"]).prop_map(|path| format!("[{path}]")).boxed(),
        Key::Mask => text(&["a", "b", "c"]).prop_map(|name| format!("[{name}]")).boxed(),
    }
}

/// Any of the keys that may stand in a configuration file, some left out, with values.
fn file() -> impl Strategy<Value = String> {
    let keys: Vec<_> = KEYS.iter().filter(|row| row.home == Home::Config).collect();
    let one = |row: &&'static crate::config::KeyInfo| {
        let name = row.name;
        prop::option::of(value(row.key)).prop_map(move |value| value.map(|value| format!("{name} = {value}\n")))
    };
    keys.iter().map(one).collect::<Vec<_>>().prop_map(|lines| lines.into_iter().flatten().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the user allows and whatever the project writes: nothing gets looser, and whatever it may not set stays.
    #[test]
    fn a_project_never_loosens(user in file(), project in file()) {
        // Where the user's own workspace leads does not matter here.
        let user: String = user.lines().filter(|line| !line.starts_with("workspace")).map(|line| format!("{line}\n")).collect();
        let without = Machine::new().user(&user);
        let with = Machine::new().user(&user).project(&project);
        let (without, with) = (without.config(), with.config());
        prop_assert!(at_most_as_loose(&with, &without), "user:\n{user}\nproject:\n{project}\n{:#?}", with.values);
    }
}
