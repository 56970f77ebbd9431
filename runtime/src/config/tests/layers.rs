//! Each source beats the one before it, for every key; and each value knows its source.

use super::Machine;
use crate::config::{Home, KEYS, Key};

/// For each key: a value for the user file (TOML), for `.env`, for the environment, for a flag, and how each is shown.
fn samples(key: Key) -> [(&'static str, &'static str); 4] {
    match key {
        Key::Model => [("\"m1\"", "m1"), ("m2", "m2"), ("m3", "m3"), ("m4", "m4")],
        Key::MaxTokens => [("1001", "1001"), ("1002", "1002"), ("1003", "1003"), ("1_004", "1004")],
        Key::Thinking => [("\"off\"", "off"), ("", ""), ("adaptive", "adaptive"), ("2048", "2048")],
        Key::BaseUrl => [
            ("\"https://a.example\"", "https://a.example"),
            ("https://b.example/", "https://b.example"),
            ("https://c.example/x/", "https://c.example/x"),
            ("http://127.0.0.1:9", "http://127.0.0.1:9"),
        ],
        Key::ApiKey | Key::AuthToken => [
            ("\"sk-aaaaaaaaaaaaaaaa1111\"", "set (…1111)"),
            ("sk-bbbbbbbbbbbbbbbb2222", "set (…2222)"),
            ("sk-cccccccccccccccc3333", "set (…3333)"),
            ("sk-dddddddddddddddd4444", "set (…4444)"),
        ],
        Key::Workspace => [("\"../../../w1\"", "/w1"), ("../w2", "/w2"), ("../w3", "/w3"), ("../w4", "/w4")],
        Key::Sandbox => [("\"process\"", "process"), ("false", "none"), ("krun", "krun"), ("container", "container")],
        Key::Log => [
            ("\"/tmp/log1\"", "/tmp/log1"),
            ("", ""),
            ("nats://me:secret@host:1", "nats://host:1"),
            ("tls://host:2", "tls://host:2"),
        ],
        Key::Memory | Key::Scratch | Key::OutputSize => {
            [("\"512 MiB\"", "512.0 MiB"), ("", ""), ("1gib", "1.0 GiB"), ("2048MiB", "2.0 GiB")]
        }
        Key::Disk => [("\"1 TiB\"", "1.0 TiB"), ("", ""), ("3GiB", "3.0 GiB"), ("none", "none")],
        Key::Cpus => [("1.5", "1.5"), ("", ""), ("2", "2"), ("none", "all")],
        Key::Image => {
            [("\"debian:12\"", "debian:12"), ("", ""), ("localhost/x", "localhost/x"), ("none", "retrace's own")]
        }
        Key::Engine => [("\"/run/a.sock\"", "/run/a.sock"), ("", ""), ("unix:///b", "/b"), ("none", "found")],
        Key::Network => [
            ("[\"crates.example\", \"*.example.org\"]", "crates.example, *.example.org"),
            ("", ""),
            ("a.example,b.example:8443", "a.example, b.example:8443"),
            ("c.example", "c.example"),
        ],
        Key::NetworkCredentials => [
            ("[\"a.example X-Key: $A\"]", "a.example X-Key: $A"),
            ("", ""),
            ("a.example X-Key: $B", "a.example X-Key: $B"),
            ("c.example X-Key: $C", "c.example X-Key: $C"),
        ],
        Key::Index => [("false", "false"), ("", ""), ("no", "false"), ("yes", "true")],
        Key::EmbedModel => [("\"/models/m\"", "/models/m"), ("", ""), ("a-model", "a-model"), ("none", "none")],
        Key::AcceptNondurable => [("true", "true"), ("", ""), ("no", "false"), ("yes", "true")],
        Key::Snapshots => [("\"off\"", "off"), ("", ""), ("on", "on"), ("with-ignored", "with-ignored")],
        Key::Compaction => [("\"api\"", "api"), ("", ""), ("off", "off"), ("api", "api")],
        Key::Summaries => [("\"claude\"", "claude"), ("", ""), ("extractive", "extractive"), ("claude", "claude")],
        Key::SummaryModel => {
            [("\"claude-small\"", "claude-small"), ("", ""), ("other", "other"), ("none", "the session's")]
        }
        Key::Effort => [("\"low\"", "low"), ("", ""), ("high", "high"), ("max", "max")],
        Key::Approvals => [("\"ask\"", "ask"), ("", ""), ("allow", "allow"), ("auto", "auto")],
        Key::ContextTokens => [("50000", "50000"), ("", ""), ("20000", "20000"), ("none", "the model's window")],
        Key::MaxSteps
        | Key::MaxTotalTokens
        | Key::MaxTreeSteps
        | Key::MaxTreeTokens
        | Key::MaxAttempts
        | Key::Processes => [("11", "11"), ("", ""), ("12", "12"), ("13", "13")],
        Key::MaxCost | Key::MaxTreeCost => [("2.5", "2.50"), ("", ""), ("$0.000001", "0.000001"), ("1000", "1000.00")],
        Key::MaxTime | Key::MaxTreeTime | Key::CommandTimeout | Key::CpuTime | Key::CommandTime | Key::IdleTime => {
            [("\"30m\"", "30m"), ("", ""), ("90s", "1m 30s"), ("1h 5m", "1h 5m")]
        }
        Key::Expose => [
            ("[\"/opt/a\", \"/opt/b\"]", "/opt/a, /opt/b"),
            ("", ""),
            ("/opt/c:/opt/d", "/opt/c, /opt/d"),
            ("/opt/e", "/opt/e"),
        ],
        Key::Mask => [
            ("[\"a.pem\"]", "a.pem"),
            ("", ""),
            ("b.pem,c.pem", "a.pem, b.pem, c.pem"),
            ("d.pem", "a.pem, b.pem, c.pem, d.pem"),
        ],
    }
}

fn toml_line(name: &str, value: &str) -> String {
    match name.split_once('.') {
        Some((table, key)) => format!("# a comment\n[{table}]\n{key} = {value}\n"),
        None => format!("# a comment\n\n{name} = {value}\n"),
    }
}

fn machine() -> Machine {
    let machine = Machine::new();
    for name in ["w1", "w2", "w3", "w4"] {
        std::fs::create_dir_all(machine.home.parent().unwrap().join(name)).unwrap();
    }
    machine
}

#[test]
fn each_source_beats_the_one_before_it() {
    for row in KEYS {
        let [user, dotenv, env, flag] = samples(row.key);
        let mut machine = machine().trusting();
        machine = match row.home {
            Home::Config => machine.user(&toml_line(row.name, user.0)),
            Home::Credentials => machine.credentials(&toml_line(row.name, user.0), 0o600),
        };
        let file = match row.home {
            Home::Config => "config.toml:3",
            Home::Credentials => "credentials.toml:3",
        };
        assert_eq!(machine.row(row.key), format!("{} <- /home/config/retrace/{file}", user.1), "{}", row.name);

        if row.key == Key::Workspace {
            // The user's file names another workspace, and it is that one's `.env` that would be read.
            machine = self::machine().trusting();
        }
        if let Some(name) = row.dotenv {
            machine = machine.dotenv(&format!("# a comment\nOTHER=1\nexport {name}='{}'\n", dotenv.0));
            assert_eq!(machine.row(row.key), format!("{} <- /work/.env:3", dotenv.1), "{}", row.name);
        }
        let name = row.env[row.env.len() - 1];
        machine = machine.env(name, env.0);
        let adds_up = row.key == Key::Mask;
        let origins =
            if adds_up { format!("/home/config/retrace/config.toml:3, env {name}") } else { format!("env {name}") };
        assert_eq!(machine.row(row.key), format!("{} <- {origins}", env.1), "{}", row.name);

        machine = machine.flag(row.key, "--flag", flag.0);
        let origins = if adds_up { format!("{origins}, flag --flag") } else { "flag --flag".to_owned() };
        assert_eq!(machine.row(row.key), format!("{} <- {origins}", flag.1), "{}", row.name);
    }
}

#[test]
fn the_first_of_several_variables_counts_and_empty_ones_do_not() {
    let both = Machine::new().env("MODEL", "general").env("RETRACE_MODEL", "special");
    assert_eq!(both.row(Key::Model), "special <- env RETRACE_MODEL");
    let empty = Machine::new().env("MODEL", "general").env("RETRACE_MODEL", " ");
    assert_eq!(empty.row(Key::Model), "general <- env MODEL");
    let none = Machine::new().env("MODEL", "");
    assert_eq!(none.row(Key::Model), "claude-opus-5-5 <- default");
}

#[test]
fn defaults_need_nothing_at_all() {
    let machine = Machine::new();
    let config = machine.config();
    assert_eq!(config.notices, Vec::<String>::new());
    assert_eq!(config.workspace, machine.workspace);
    assert!(config.auth().is_none());
    assert!(config.rows().iter().all(|row| row.origin == "default" || row.origin == "-"), "{:?}", config.rows());
    assert_eq!(machine.row(Key::Log), "embedded (/home/state/retrace) <- default");
}

#[test]
fn use_sandbox_lifts_none_and_never_weakens() {
    let off = Machine::new().env("USE_SANDBOX", "false");
    assert_eq!(off.row(Key::Sandbox), "none <- env USE_SANDBOX");
    let on = Machine::new().user("sandbox = \"none\"\n").env("USE_SANDBOX", "true");
    assert_eq!(on.row(Key::Sandbox), "auto <- env USE_SANDBOX");
    let kept = Machine::new().user("sandbox = \"krun\"\n").env("USE_SANDBOX", "1");
    assert_eq!(kept.row(Key::Sandbox), "krun <- /home/config/retrace/config.toml:1");
    let wrong = Machine::new().env("USE_SANDBOX", "perhaps");
    assert_eq!(wrong.refusal(), "env USE_SANDBOX: `sandbox` must be one of auto, krun, container, process, none");
}

#[test]
fn limits_can_be_lifted_by_the_user() {
    let machine = Machine::new().user("[budget]\nsteps = 5\ncost = 1\n").flag(Key::MaxSteps, "--max-steps", "none");
    assert_eq!(machine.row(Key::MaxSteps), "none <- flag --max-steps");
    assert_eq!(machine.config().values.budget().max_steps, None);
    assert_eq!(machine.config().values.budget().max_cost_microusd, Some(1_000_000));
}

#[test]
fn nats_takes_its_files_from_the_environment() {
    use retrace_events::log::LogLocation;
    let machine = Machine::new()
        .env("NATS_URL", "nats://u:p@h:4222")
        .env("NATS_CREDS", "/x.creds")
        .user("accept_nondurable = true\n");
    let config = machine.config();
    let LogLocation::Nats(options) = &config.log else { panic!("{:?}", config.log) };
    assert_eq!(options.url, "nats://u:p@h:4222");
    assert_eq!(options.credentials.as_deref(), Some(std::path::Path::new("/x.creds")));
    assert!(options.accept_nondurable);
    let shown = format!("{config:?}{:?}", config.rows());
    assert!(!shown.contains("u:p"), "{shown}");
}
