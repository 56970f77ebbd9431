//! The user's own files, and where things may lie.

use super::{Machine, write};
use crate::config::Key;
use expect_test::expect;

#[test]
fn mistakes_are_named_with_file_line_and_a_suggestion() {
    let cases = [
        "modle = \"x\"\n",
        "\n\n[budget]\nstep = 4\n",
        "[budgets]\nsteps = 4\n",
        "zzz = 1\n",
        "model = 5\n",
        "max_tokens = 0\n",
        "max_tokens = -5\n",
        "max_tokens = 99999999999\n",
        "max_tokens = \"many\"\n",
        "sandbox = \"docker\"\n",
        "thinking = 100\n",
        "base_url = \"ftp://x\"\n",
        "base_url = \"https://user:pass@x\"\n",
        "log = \"redis://user:pass@x\"\n",
        "command_timeout = 30\n",
        "expose = [1]\n",
        "mask = [\"a/b\"]\n",
        "model = 1979-05-27\n",
        "[model]\nid = 1\n",
        "budget = 5\n",
        "model = \"a\"\nmodel = \"b\"\n",
        "model = \"unfinished\n",
        "anthropic_api_key = \"sk-1\"\n",
    ];
    let told: String = cases
        .iter()
        .map(|text| format!("{}\n", Machine::new().user(text).refusal().replace("/home/config/retrace/", "")))
        .collect();
    expect![[r#"
        config.toml:1: unknown key `modle` | hint: did you mean `model`?
        config.toml:4: unknown key `budget.step` | hint: did you mean `budget.steps`?
        config.toml:1: unknown key `budgets` | hint: did you mean `budget`?
        config.toml:1: unknown key `zzz` | hint: `retrace config show` lists all keys
        config.toml:1: `model` must be text
        config.toml:1: `max_tokens` must be a whole number from 1 on that is not too large
        config.toml:1: `max_tokens` must be a whole number from 1 on that is not too large
        config.toml:1: `max_tokens` must be a whole number from 1 on that is not too large
        config.toml:1: `max_tokens` must be a whole number from 1 on that is not too large
        config.toml:1: `sandbox` must be one of auto, krun, container, process, none
        config.toml:1: `thinking` must be auto, off, adaptive, or a number of tokens from 1024 on
        config.toml:1: `base_url` must be an address like https://host[:port][/path], without user, password or query
        config.toml:1: `base_url` must be an address like https://host[:port][/path], without user, password or query
        config.toml:1: `log` must be `embedded`, a folder, or an address like nats://host:4222
        config.toml:1: `command_timeout` must be a length of time with a unit, like `30m` or `1h 30m`
        config.toml:1: `expose` must be a list of strings
        config.toml:1: `mask` must be names of files, without folders
        config.toml:1: `model` must not be a date
        config.toml:1: `model` must not be a table
        config.toml:1: unknown key `budget` | hint: `retrace config show` lists all keys
        config.toml:2: duplicate key
        config.toml:1: invalid basic string, expected `"`
        config.toml:1: `anthropic_api_key` is a secret and not read from this file | hint: put it into credentials.toml (mode 600) or the environment
    "#]]
    .assert_eq(&told);
}

#[test]
fn credentials_must_be_the_users_alone() {
    for mode in [0o644, 0o640, 0o604, 0o660, 0o666] {
        let machine = Machine::new().credentials("anthropic_api_key = \"sk-1234567890abcdefgh\"\n", mode);
        assert_eq!(
            machine.refusal(),
            format!(
                "/home/config/retrace/credentials.toml: other users may read this file (mode {mode:03o}) | \
                 hint: chmod 600 /home/config/retrace/credentials.toml"
            )
        );
    }
    for mode in [0o600, 0o400] {
        let machine = Machine::new().credentials("anthropic_api_key = \"sk-1234567890abcdefgh\"\n", mode);
        assert!(machine.config().auth().is_some());
    }
}

#[test]
fn credentials_hold_only_credentials() {
    let machine = Machine::new().credentials("model = \"x\"\n", 0o600);
    assert!(
        machine.refusal().starts_with("/home/config/retrace/credentials.toml:1: unknown key `model`"),
        "{}",
        machine.refusal()
    );
    let machine = Machine::new().credentials("anthropic_api_kye = \"x\"\n", 0o600);
    assert!(machine.refusal().ends_with("did you mean `anthropic_api_key`?"), "{}", machine.refusal());
}

#[test]
fn no_message_repeats_a_secret() {
    let key = "sk-ant-very-secret";
    let machines = [
        Machine::new().env("ANTHROPIC_API_KEY", "sk-ant-very-secret with spaces"),
        Machine::new().credentials(&format!("anthropic_api_key = [\"{key}\"]\n"), 0o600),
        Machine::new().credentials(&format!("anthropic_api_key = {key}\n"), 0o600),
        Machine::new().credentials(&format!("anthropic_api_key = \"{key}\n"), 0o600),
        Machine::new()
            .env("NATS_URL", &format!("nats:/{key}@host"))
            .env("RETRACE_LOG_LOCATION", &format!("ftp://u:{key}@h")),
        Machine::new().user(&format!("base_url = \"https://u:{key}@h\"\n")),
    ];
    for machine in machines {
        let refusal = machine.refusal();
        assert!(!refusal.contains("very-secret"), "{refusal}");
    }
}

#[test]
fn the_key_comes_before_the_token() {
    use crate::claude::Auth;
    let both = Machine::new().env("ANTHROPIC_API_KEY", "key-key-key").env("ANTHROPIC_AUTH_TOKEN", "token-token");
    assert!(matches!(both.config().auth(), Some(Auth::ApiKey(_))));
    let token = Machine::new().env("ANTHROPIC_AUTH_TOKEN", "token-token");
    assert!(matches!(token.config().auth(), Some(Auth::Bearer(_))));
}

#[test]
fn a_workspace_must_be_a_folder() {
    let missing = Machine::new().flag(Key::Workspace, "--workspace", "nowhere");
    assert_eq!(
        missing.refusal(),
        "the workspace /work/nowhere (flag --workspace) cannot be used: No such file or directory (os error 2) | \
         hint: name an existing folder with --workspace DIR"
    );
    let file = Machine::new().env("SAFEDIR", "file");
    write(&file.workspace.join("file"), "", 0o644);
    assert!(file.refusal().contains("(env SAFEDIR) cannot be used: it is not a folder"), "{}", file.refusal());
}

#[test]
fn state_configuration_and_log_lie_outside_the_workspace() {
    let machine = Machine::new().flag(Key::Workspace, "--workspace", "..");
    assert!(machine.refusal().contains("contains the state folder (/home/state/retrace)"), "{}", machine.refusal());

    let machine = Machine::new().flag(Key::Workspace, "--workspace", "../home/config");
    std::fs::create_dir_all(machine.home.join("config")).unwrap();
    assert!(machine.refusal().contains("contains the configuration folder"), "{}", machine.refusal());

    let machine = Machine::new().flag(Key::Log, "--log", "logs/here");
    assert!(machine.refusal().contains("contains the event log (/work/logs/here)"), "{}", machine.refusal());

    // A link does not hide it.
    let machine = Machine::new();
    let link = machine.home.join("link");
    std::os::unix::fs::symlink(&machine.workspace, &link).unwrap();
    let machine = machine.flag(Key::Log, "--log", "../home/link/log");
    assert!(machine.refusal().contains("contains the event log (/work/log)"), "{}", machine.refusal());
}

#[test]
fn unencrypted_requests_to_elsewhere_are_pointed_out() {
    let away = Machine::new().env("ANTHROPIC_BASE_URL", "http://10.0.0.5:8080");
    assert_eq!(away.config().notices, ["env ANTHROPIC_BASE_URL: requests and key go to 10.0.0.5 unencrypted (http)"]);
    for here in ["http://127.0.0.1:1", "http://localhost", "http://[::1]:5", "https://far.example"] {
        assert_eq!(Machine::new().env("ANTHROPIC_BASE_URL", here).config().notices, Vec::<String>::new(), "{here}");
    }
}
