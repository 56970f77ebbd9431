//! `retrace config` and `retrace doctor`.

use super::{LOOKS, Machine};
use crate::cli::Exit;
use serde_json::Value;

#[tokio::test]
async fn show_names_every_source() {
    let mut machine = Machine::alone();
    machine.set("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdefWXYZ");
    let shown = machine.out(&["config", "show", "--max-cost", "2.5"]).await;
    let line = |name: &str| {
        shown.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("model"), "model claude-opus-5-5 default");
    assert_eq!(line("anthropic_api_key"), "anthropic_api_key set (…WXYZ) env ANTHROPIC_API_KEY");
    assert_eq!(line("sandbox"), "sandbox none env USE_SANDBOX");
    assert_eq!(line("budget.cost"), "budget.cost 2.50 flag --max-cost");
    let json = machine.out(&["config", "show", "--json"]).await;
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), crate::config::KEYS.len());
    assert!(!json.contains("0123456789"), "{json}");
}

#[tokio::test]
async fn trust_is_given_and_taken() {
    let machine = Machine::alone();
    std::fs::write(machine.workspace.join(".env"), "MODEL=from-env-file\n").unwrap();
    let model = async || machine.out(&["config", "show"]).await.contains("from-env-file");
    let notice = machine.run(&["config", "show"]).await.err;
    assert!(
        notice.starts_with("warning: ") && notice.contains("retrace config trust") && notice.lines().count() == 1,
        "{notice}"
    );
    assert!(!model().await);
    let folder = machine.workspace.display();
    assert_eq!(machine.out(&["config", "trust"]).await, format!("{folder}: trusted\n"));
    assert_eq!(machine.out(&["config", "trust", "."]).await, format!("{folder}: trusted already\n"));
    assert!(model().await);
    assert_eq!(machine.out(&["config", "untrust"]).await, format!("{folder}: not trusted any more\n"));
    assert!(!model().await);
    assert_eq!(machine.run(&["config", "trust", "nowhere"]).await.exit, Exit::Usage);
}

#[tokio::test]
async fn a_trusted_file_that_is_broken_can_be_given_up() {
    let machine = Machine::alone();
    machine.out(&["config", "trust"]).await;
    std::fs::write(machine.workspace.join(".env"), "MODEL='unfinished\n").unwrap();
    assert_eq!(machine.run(&["config", "show"]).await.exit, Exit::Usage);
    machine.out(&["config", "untrust"]).await;
    assert_eq!(machine.run(&["config", "show"]).await.exit, Exit::Done);
}

#[tokio::test]
async fn paths_say_what_is_there() {
    let machine = Machine::alone();
    std::fs::write(machine.workspace.join(".retrace.toml"), "").unwrap();
    let paths = machine.out(&["config", "path"]).await;
    assert!(paths.contains(&format!("project      {}/.retrace.toml\n", machine.workspace.display())), "{paths}");
    assert!(paths.contains(".env  (not there)\n"), "{paths}");
}

#[tokio::test]
async fn the_doctor_tries_the_key() {
    let mut machine = Machine::with(LOOKS).await;
    let ran = machine.run(&["doctor"]).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    assert!(ran.out.contains("knows the key and claude-opus-5-5"), "{ran:?}");
    assert!(ran.out.contains("warn  sandbox: none, as configured\n      hint: "), "{ran:?}");
    assert!(ran.out.contains("ok    log: embedded "), "{ran:?}");
    machine.set("ANTHROPIC_API_KEY", "sk-of-somebody-else");
    let ran = machine.run(&["doctor", "--json"]).await;
    assert_eq!(ran.exit, Exit::Failed);
    let api = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|row| row["check"] == "api")
        .unwrap();
    assert_eq!(api["health"], "fail");
    assert!(api["hint"].as_str().unwrap().contains("check the key"), "{api}");
    assert_eq!(machine.run(&["doctor", "--offline"]).await.exit, Exit::Done);
    machine.env.remove("ANTHROPIC_API_KEY");
    let ran = machine.run(&["doctor"]).await;
    assert!(ran.exit == Exit::Failed && ran.out.contains("fail  api: no API key is set\n      hint: "), "{ran:?}");
}

#[tokio::test]
async fn the_doctor_leaves_no_event_behind() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["doctor", "--offline"]).await;
    assert!(machine.out(&["log", "info"]).await.contains("0 events"));
}
