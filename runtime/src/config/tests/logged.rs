//! Going on with a session: the log's settings hold, unless a flag says otherwise, with two exceptions.

use super::Machine;
use crate::claude::ModelTable;
use crate::config::{Key, LoggedError};
use retrace_events::payload::settings::{Budget, Settings};

fn logged() -> Settings {
    Settings {
        model: "claude-sonnet-5-5".to_owned(),
        max_tokens: 1_234,
        thinking: None,
        effort: None,
        base_url: "https://api.anthropic.com".to_owned(),
        sandbox: "process".to_owned(),
        approvals: "auto".to_owned(),
        budget: Budget { max_steps: Some(7), ..Budget::default() },
        tree_budget: Budget { max_tokens: Some(70), ..Budget::default() },
        command_timeout_ms: 5_000,
        max_attempts: 2,
    }
}

fn models() -> ModelTable {
    ModelTable::builtin().unwrap()
}

#[test]
fn files_and_environment_do_not_change_a_session() {
    let machine = Machine::new()
        .user("max_tokens = 9\ncommand_timeout = \"9s\"\n[budget]\nsteps = 99\n")
        .env("MODEL", "other")
        .env("USE_SANDBOX", "false");
    let resumed = machine.config().resumed(&logged(), &models()).unwrap();
    assert_eq!((resumed.settings, resumed.why), (logged(), None));
}

#[test]
fn flags_do() {
    let machine = Machine::new()
        .flag(Key::MaxSteps, "--max-steps", "50")
        .flag(Key::MaxCost, "--max-cost", "2")
        .flag(Key::Sandbox, "--sandbox", "container")
        .flag(Key::MaxTreeSteps, "--max-tree-steps", "500")
        .flag(Key::MaxTreeTokens, "--max-tree-tokens", "none")
        .flag(Key::MaxTreeCost, "--max-tree-cost", "3")
        .flag(Key::MaxTreeTime, "--max-tree-time", "1s")
        .flag(Key::Effort, "--effort", "max")
        .flag(Key::CommandTimeout, "--command-timeout", "1m");
    let resumed = machine.config().resumed(&logged(), &models()).unwrap();
    let expected = Settings {
        budget: Budget { max_steps: Some(50), max_cost_microusd: Some(2_000_000), ..Budget::default() },
        tree_budget: Budget {
            max_steps: Some(500),
            max_tokens: None,
            max_cost_microusd: Some(3_000_000),
            max_time_ms: Some(1_000),
        },
        effort: Some("max".to_owned()),
        sandbox: "container".to_owned(),
        command_timeout_ms: 60_000,
        ..logged()
    };
    assert_eq!(resumed.settings, expected);
    let why = resumed.why.unwrap();
    assert!(why.contains("\"process\" -> \"container\"") && why.contains("command_timeout_ms: 5000 -> 60000"), "{why}");
}

#[test]
fn another_model_brings_its_own_way_of_thinking() {
    let machine = Machine::new().flag(Key::Model, "--model", "claude-opus-5-5");
    let resumed = machine.config().resumed(&logged(), &models()).unwrap();
    let row = models().row("claude-opus-5-5");
    assert_eq!(resumed.settings.thinking, row.thinking_field(1_234).map(|field| field.to_string()));
    let same = Machine::new().flag(Key::Model, "--model", "claude-sonnet-5-5");
    assert_eq!(same.config().resumed(&logged(), &models()).unwrap().why, None);
}

#[test]
fn a_log_cannot_send_the_key_elsewhere() {
    let foreign = Settings { base_url: "https://evil.example".to_owned(), ..logged() };
    let silent = Machine::new().config().resumed(&foreign, &models()).unwrap_err();
    assert_eq!(silent.hint(), "say --base-url https://evil.example or --base-url https://api.anthropic.com");
    let named = Machine::new().flag(Key::BaseUrl, "--base-url", "https://evil.example");
    assert_eq!(named.config().resumed(&foreign, &models()).unwrap().why, None);
    let today = Machine::new().env("ANTHROPIC_BASE_URL", "http://localhost:1");
    let resumed = today.config().resumed(&foreign, &models()).unwrap();
    assert_eq!(resumed.settings.base_url, "http://localhost:1");
    assert!(resumed.why.unwrap().contains("base_url"));
}

#[test]
fn a_log_cannot_do_without_a_sandbox() {
    let bare = Settings { sandbox: "none".to_owned(), ..logged() };
    assert_eq!(Machine::new().config().resumed(&bare, &models()), Err(LoggedError::NoSandbox));
    for asked in [Machine::new().env("USE_SANDBOX", "false"), Machine::new().flag(Key::Sandbox, "--sandbox", "none")] {
        assert_eq!(asked.config().resumed(&bare, &models()).unwrap().settings.sandbox, "none");
    }
    let lifted = Machine::new().flag(Key::Sandbox, "--sandbox", "process");
    assert_eq!(lifted.config().resumed(&bare, &models()).unwrap().settings.sandbox, "process");
}

#[test]
fn of_a_logs_approvals_and_todays_the_stricter_hold() {
    let of = |machine: Machine, logged_mode: &str| {
        let logged = Settings { approvals: logged_mode.to_owned(), ..logged() };
        machine.config().resumed(&logged, &models()).unwrap().settings.approvals
    };
    assert_eq!(of(Machine::new(), "allow"), "auto", "a log cannot do without asking");
    assert_eq!(of(Machine::new(), "ask"), "ask");
    assert_eq!(of(Machine::new().user("approvals = \"allow\"\n"), "allow"), "allow");
    assert_eq!(of(Machine::new().user("approvals = \"allow\"\n"), "auto"), "auto");
    assert_eq!(of(Machine::new().project("approvals = \"ask\"\n"), "auto"), "ask");
    assert_eq!(of(Machine::new().flag(Key::Approvals, "--approvals", "allow"), "ask"), "allow");
    assert_eq!(of(Machine::new(), "of-a-later-version"), "of-a-later-version", "which counts as ask");
}

#[test]
fn new_sessions_get_what_the_model_can() {
    let config = Machine::new().config();
    let settings = config.settings(&models());
    let row = models().row(&settings.model);
    assert!(models().find(&settings.model).is_some(), "the default model must be in the table");
    assert!(u64::from(settings.max_tokens) <= row.max_output_tokens);
    assert_eq!(settings.thinking, row.thinking_field(u64::from(settings.max_tokens)).map(|field| field.to_string()));
    let budget = Machine::new().flag(Key::Thinking, "--thinking", "4096").config().settings(&models());
    assert_eq!(budget.thinking.as_deref(), Some(r#"{"type":"enabled","budget_tokens":4096}"#));
}
