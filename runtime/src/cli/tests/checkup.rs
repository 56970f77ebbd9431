//! `retrace doctor` and `config show --json`: one row a check or key, for people and for programs.

use super::{LOOKS, Machine};
use crate::cli::Exit;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of `config show --json`, by key.
async fn config(machine: &Machine, args: &[&str]) -> BTreeMap<String, Value> {
    let out = machine.out(&[&["config", "show", "--json"], args].concat()).await;
    lines(&out).into_iter().map(|row| (row["key"].as_str().unwrap().to_owned(), row)).collect()
}

#[tokio::test]
async fn every_check_has_one_row_in_order() {
    let mut machine = Machine::alone();
    machine.set("ANTHROPIC_API_KEY", "sk-test-of-the-doctor-1");
    let rows = lines(&machine.out(&["doctor", "--offline", "--json"]).await);
    let checks: Vec<&str> = rows.iter().map(|row| row["check"].as_str().unwrap()).collect();
    assert_eq!(checks, ["version", "log", "state folder", "workspace", "sandbox", "api"]);
    for row in &rows {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["check", "health", "detail", "hint"], "{row}");
        assert!(["ok", "warn", "fail"].contains(&row["health"].as_str().unwrap()), "{row}");
        // Whoever has to do something is told what.
        let told = row["hint"].as_str().is_some_and(|hint| !hint.is_empty());
        assert!(row["health"] == "ok" || told, "{row}");
    }
    assert!(rows[0]["detail"].as_str().unwrap().starts_with(concat!("retrace ", env!("CARGO_PKG_VERSION"), " on ")));
    assert_eq!(rows[4]["health"], "warn");
    assert_eq!(rows[5]["detail"], "a key is set; not tried (--offline)");
    let text = machine.out(&["doctor", "--offline"]).await;
    let marks = text.lines().filter(|line| !line.starts_with("      hint: "));
    for (line, row) in marks.zip(&rows) {
        let head = format!("{:<4}  {}: ", row["health"].as_str().unwrap(), row["check"].as_str().unwrap());
        assert!(line.starts_with(&head), "{line} | {head}");
    }
}

#[tokio::test]
async fn a_log_that_cannot_be_opened_does_not_keep_the_other_checks_from_being_made() {
    let mut machine = Machine::alone();
    machine.set("ANTHROPIC_API_KEY", "sk-test-of-the-doctor-1");
    let file = machine.workspace.with_file_name("file");
    std::fs::write(&file, "no log").unwrap();
    let ran = machine.run(&["doctor", "--offline", "--json", "--log", file.to_str().unwrap()]).await;
    assert_eq!(ran.exit, Exit::Failed);
    let rows = lines(&ran.out);
    assert_eq!((rows.len(), &rows[1]["health"]), (6, &json!("fail")), "{ran:?}");
    assert_eq!(rows.iter().filter(|row| row["health"] == "fail").count(), 1, "{ran:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "no log");
}

#[tokio::test]
async fn a_server_that_is_not_there_fails_the_api_row_with_a_hint() {
    let mut machine = Machine::alone();
    machine.set("ANTHROPIC_API_KEY", "sk-test-of-the-doctor-1");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    machine.set("ANTHROPIC_BASE_URL", &format!("http://{closed}"));
    let ran = machine.run(&["doctor", "--json"]).await;
    let api = lines(&ran.out).pop().unwrap();
    assert_eq!((ran.exit, &api["check"], &api["health"]), (Exit::Failed, &json!("api"), &json!("fail")));
    assert!(api["detail"].as_str().unwrap().starts_with(&format!("http://{closed}: ")), "{api}");
    assert!(api["hint"].as_str().unwrap().contains("check the network and the base URL"), "{api}");
    assert!(!ran.out.contains("sk-test"), "{ran:?}");
}

#[tokio::test]
async fn the_doctor_needs_a_configuration_that_can_be_read() {
    let machine = Machine::with(LOOKS).await;
    std::fs::create_dir_all(&machine.folders.config).unwrap();
    std::fs::write(machine.folders.config_file(), "modle = 1\n").unwrap();
    let ran = machine.run(&["doctor"]).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{ran:?}");
    assert!(ran.err.contains("config.toml:1: unknown key `modle`\nhint: did you mean `model`?"), "{ran:?}");
    assert_eq!(machine.server.as_ref().unwrap().requests().len(), 0);
}

#[tokio::test]
async fn a_broken_table_of_models_is_named() {
    let machine = Machine::alone();
    std::fs::create_dir_all(&machine.folders.config).unwrap();
    let path = machine.folders.config.join("models.toml");
    std::fs::write(&path, "not = [ toml").unwrap();
    let ran = machine.run(&["sessions"]).await;
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.err.starts_with(&format!("error: the table of models: {}: ", path.display())), "{ran:?}");
    std::fs::write(&path, " ".repeat(1024 * 1024 + 1)).unwrap();
    let ran = machine.run(&["sessions"]).await;
    assert!(ran.exit == Exit::Usage && ran.err.contains("models.toml is larger than 1048576 bytes"), "{ran:?}");
    std::fs::write(&path, "").unwrap();
    assert_eq!(machine.run(&["sessions"]).await.exit, Exit::Done);
}

#[tokio::test]
async fn every_value_tells_programs_where_it_came_from() {
    let mut machine = Machine::alone();
    std::fs::create_dir_all(&machine.folders.config).unwrap();
    std::fs::write(machine.folders.config_file(), "model = \"m1\"\nmax_attempts = 3\n[budget]\nsteps = 9\n").unwrap();
    std::fs::write(machine.workspace.join(".retrace.toml"), "mask = [\"a.pem\"]\n[budget]\nsteps = 4\n").unwrap();
    machine.set("RETRACE_MAX_COST", "0.5");
    let rows = config(&machine, &["--max-time", "90m", "--mask", "b.pem", "--mask", "c.pem"]).await;
    let user = machine.folders.config_file().display().to_string();
    let project = machine.workspace.join(".retrace.toml").display().to_string();
    let expected = [
        ("model", json!("m1"), format!("{user}:1")),
        ("max_attempts", json!(3), format!("{user}:2")),
        ("budget.steps", json!(4), format!("{project}:3")),
        ("budget.cost", json!("0.50"), "env RETRACE_MAX_COST".to_owned()),
        ("budget.time", json!("1h 30m"), "flag --max-time".to_owned()),
        ("budget.tokens", Value::Null, "default".to_owned()),
        ("mask", json!(["a.pem", "b.pem", "c.pem"]), format!("{project}:1, flag --mask")),
        ("expose", json!([]), "default".to_owned()),
        ("sandbox", json!("none"), "env USE_SANDBOX".to_owned()),
        ("workspace", json!(machine.workspace), "default".to_owned()),
        ("anthropic_api_key", Value::Null, "-".to_owned()),
        ("accept_nondurable", json!(false), "default".to_owned()),
    ];
    for (key, value, origin) in expected {
        assert_eq!((&rows[key]["value"], &rows[key]["origin"]), (&value, &json!(origin)), "{key}");
    }
    let names: Vec<&str> = crate::config::KEYS.iter().map(|row| row.name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(rows.keys().collect::<Vec<_>>(), sorted);
}

#[tokio::test]
async fn values_for_programs_can_be_given_back_as_flags() {
    let machine = Machine::alone();
    let flags =
        ["--max-cost", "12.345678", "--max-time", "1h 2m 3s", "--max-steps", "77", "--command-timeout", "1500ms"];
    let once = config(&machine, &flags).await;
    let text = |key: &str| once[key]["value"].as_str().map_or_else(|| once[key]["value"].to_string(), str::to_owned);
    let (cost, time) = (text("budget.cost"), text("budget.time"));
    let (steps, timeout) = (text("budget.steps"), text("command_timeout"));
    let again = ["--max-cost", &cost, "--max-time", &time, "--max-steps", &steps, "--command-timeout", &timeout];
    assert_eq!(config(&machine, &again).await, once);
}

#[tokio::test]
async fn secrets_of_the_credentials_file_are_masked_and_its_mode_is_checked() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::alone();
    std::fs::create_dir_all(&machine.folders.config).unwrap();
    let path = machine.folders.credentials_file();
    std::fs::write(&path, "anthropic_api_key = \"sk-0123456789-very-secret-WXYZ\"\n").unwrap();
    let mode = |mode: u32| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    // Commands that only look read the configuration too.
    for args in [&["config", "show"][..], &["sessions"], &["run", "x"], &["doctor", "--offline"]] {
        let ran = machine.run(args).await;
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{args:?}: {ran:?}");
        let said =
            format!("error: {0}: other users may read this file (mode 644)\nhint: chmod 600 {0}\n", path.display());
        assert_eq!(ran.err, said, "{args:?}");
    }
    mode(0o600);
    let rows = config(&machine, &[]).await;
    assert_eq!(rows["anthropic_api_key"]["value"], "set (…WXYZ)");
    assert_eq!(rows["anthropic_api_key"]["origin"], format!("{}:1", path.display()));
    assert!(!machine.out(&["config", "show"]).await.contains("very-secret"));
}

#[tokio::test]
async fn paths_are_told_to_programs_too() {
    let machine = Machine::alone();
    std::fs::create_dir_all(&machine.folders.config).unwrap();
    std::fs::write(machine.folders.config_file(), "").unwrap();
    let rows = lines(&machine.out(&["config", "path", "--json"]).await);
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!(row("config"), json!({ "name": "config", "path": machine.folders.config_file(), "exists": true }));
    assert_eq!(row("credentials")["exists"], false);
    assert_eq!(row("dotenv")["path"], json!(machine.workspace.join(".env")));
    assert_eq!(row("permissions")["path"], json!(machine.folders.permissions_file()));
    assert_eq!(rows.len(), 8);
}

#[tokio::test]
async fn trust_is_told_to_programs_and_a_damaged_list_is_kept() {
    let machine = Machine::alone();
    let trust = async |word: &str| lines(&machine.out(&["config", word, "--json"]).await).remove(0);
    let row =
        |trusted: bool, changed: bool| json!({ "folder": machine.workspace, "trusted": trusted, "changed": changed });
    assert_eq!(trust("untrust").await, row(false, false));
    assert_eq!(trust("trust").await, row(true, true));
    assert_eq!(trust("trust").await, row(true, false));
    assert_eq!(trust("untrust").await, row(false, true));
    let file = machine.folders.trust_file();
    for damaged in ["", "{}", "[1]", "[\"a\"", "null", "\"a\""] {
        std::fs::write(&file, damaged).unwrap();
        for args in [&["config", "trust"][..], &["config", "untrust"], &["sessions"]] {
            let ran = machine.run(args).await;
            assert_eq!(ran.exit, Exit::Usage, "{damaged:?} {args:?}: {ran:?}");
            assert!(ran.err.contains("trusted.json:") && ran.err.contains("not a list of texts"), "{ran:?}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), damaged, "a list that cannot be read is not replaced");
    }
}
