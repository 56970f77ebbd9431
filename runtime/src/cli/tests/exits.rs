//! Every exit code, from something real that leads to it.

use super::{LOOKS, Machine};
use crate::cli::Exit;

async fn refused(machine: &Machine, args: &[&str], exit: Exit, said: &[&str]) {
    let ran = machine.run(args).await;
    assert_eq!(ran.exit, exit, "{args:?}: {ran:?}");
    for words in said {
        assert!(ran.err.contains(words), "{args:?}: {words:?} is missing in:\n{}", ran.err);
    }
}

#[tokio::test]
async fn usage_without_a_key() {
    let machine = Machine::alone();
    let said = ["error: no API key is set\n", "hint: export ANTHROPIC_API_KEY=…", "`retrace demo` works without one"];
    refused(&machine, &["run", "x"], Exit::Usage, &said).await;
    assert_eq!(machine.sessions().await, []);
}

#[tokio::test]
async fn usage_with_a_bad_configuration() {
    let machine = Machine::with(LOOKS).await;
    refused(&machine, &["run", "x", "-w", "nowhere"], Exit::Usage, &["nowhere (flag --workspace) cannot be used"])
        .await;
    refused(&machine, &["run", "x", "--max-cost", "much"], Exit::Usage, &["flag --max-cost: `budget.cost` must be"])
        .await;
    refused(&machine, &["run", "  "], Exit::Usage, &["the task is empty"]).await;
    refused(&machine, &["resume"], Exit::Usage, &["which session?", "hint: retrace resume <SESSION|--last>"]).await;
    std::fs::write(machine.workspace.join(".retrace.toml"), "max_step = 1\n").unwrap();
    refused(&machine, &["run", "x"], Exit::Usage, &[".retrace.toml:1: unknown key `max_step`"]).await;
}

#[tokio::test]
async fn the_model_refuses() {
    let script = "[[step]]\nrefusal = { category = \"c\", explanation = \"no\" }\n[[step.block]]\ntype = \"text\"\ntext = \"No.\"\n";
    refused(&Machine::with(script).await, &["run", "x"], Exit::Refused, &["the model refused"]).await;
}

#[tokio::test]
async fn a_budget_is_reached() {
    let machine = Machine::with(LOOKS).await;
    refused(&machine, &["run", "x", "--max-steps", "1"], Exit::Budget, &["a budget is used up", "ended: "]).await;
}

#[tokio::test]
async fn the_key_is_wrong() {
    let mut machine = Machine::with(LOOKS).await;
    machine.set("ANTHROPIC_API_KEY", "sk-of-somebody-else");
    let said = ["! authentication (HTTP 401)", "hint: check the key: `retrace config show` says where it came from"];
    refused(&machine, &["run", "x"], Exit::Request, &said).await;
}

#[tokio::test]
async fn nobody_answers() {
    let mut machine = Machine::with(LOOKS).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    machine.set("ANTHROPIC_BASE_URL", &format!("http://{closed}"));
    let said = ["! connection: ", "hint: nothing is lost: check the network and the base URL"];
    refused(&machine, &["run", "x", "--max-attempts", "1"], Exit::Request, &said).await;
}

#[tokio::test]
async fn the_model_is_unknown() {
    let machine = Machine::with(LOOKS).await;
    let said = ["warning: model `claude-nonesuch` is not in the table", "hint: check the model's name"];
    refused(&machine, &["run", "x", "--model", "claude-nonesuch"], Exit::Request, &said).await;
}

#[tokio::test]
async fn the_log_cannot_be_reached() {
    let machine = Machine::with(LOOKS).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    refused(
        &machine,
        &["run", "x", "--log", &format!("nats://{closed}")],
        Exit::Log,
        &["error: the log at nats://127.0.0.1:"],
    )
    .await;
    std::fs::write(machine.folders.cache.parent().unwrap().with_file_name("file"), "").unwrap();
    let file = machine.folders.cache.parent().unwrap().with_file_name("file");
    refused(&machine, &["sessions", "--log", file.to_str().unwrap()], Exit::Log, &["error: "]).await;
}

#[tokio::test]
async fn the_log_is_damaged() {
    let machine = Machine::with(LOOKS).await;
    machine.run(&["run", "the words to be damaged"]).await;
    let id = machine.session().await;
    closed(&machine.folders.state).await;
    assert!(flip(&machine.folders.state, b"the words to be damaged") > 0);
    refused(&machine, &["show", &id], Exit::Log, &["is damaged", "hint: `retrace log verify`"]).await;
    refused(&machine, &["replay", &id, "--verify"], Exit::Log, &["is damaged"]).await;
    let ran = machine.run(&["log", "verify"]).await;
    assert_eq!(ran.exit, Exit::Log);
    assert!(ran.out.contains("damaged: ") && ran.err.contains("error: 1 stream damaged"), "{ran:?}");
    refused(&machine, &["resume", &id, "x"], Exit::Log, &["is damaged"]).await;
}

/// Waits for the last connection to the log in `folder`, which may be a moment longer at work in a thread: with it goes the
/// file of what was written last, in which a changed byte would not be damage but the end of what is valid.
async fn closed(folder: &std::path::Path) {
    let begun = std::time::Instant::now();
    let is_open = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().path().to_string_lossy().ends_with("-wal");
    while std::fs::read_dir(folder).unwrap().any(is_open) {
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "the log stays open");
        tokio::task::yield_now().await;
    }
}

/// Changes one byte of `words` wherever they stand in the files of `folder`; tells how often.
fn flip(folder: &std::path::Path, words: &[u8]) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let mut bytes = std::fs::read(entry.path()).unwrap();
        let found: Vec<usize> =
            (0..bytes.len().saturating_sub(words.len())).filter(|at| bytes[*at..].starts_with(words)).collect();
        found.iter().for_each(|at| bytes[*at] ^= 1);
        if !found.is_empty() {
            std::fs::write(entry.path(), bytes).unwrap();
        }
        count += found.len();
    }
    count
}

#[tokio::test]
async fn there_is_no_such_sandbox() {
    let mut machine = Machine::with(LOOKS).await;
    machine.set("RETRACE_CONTAINER_SOCKET", "/nowhere/podman.sock");
    let said = ["error: no container engine answers: tried /nowhere/podman.sock", "hint: krun and container"];
    for named in ["krun", "container"] {
        refused(&machine, &["run", "x", "--sandbox", named], Exit::Sandbox, &said).await;
    }
    assert_eq!(machine.sessions().await, []);
}

#[tokio::test]
async fn there_is_no_such_session() {
    let machine = Machine::with(LOOKS).await;
    for args in [
        &["show", "zz"][..],
        &["replay", "zz"],
        &["resume", "zz"],
        &["export", "zz"],
        &["log", "verify", "zz"],
        &["resume", "--last"],
    ] {
        refused(&machine, args, Exit::NotFound, &["error: there is no session", "hint: `retrace sessions`"]).await;
    }
    machine.run(&["run", "x"]).await;
    let id = machine.session().await;
    let typo = format!("{}u", &id[..id.len() - 1]);
    refused(&machine, &["show", &typo], Exit::NotFound, &[&format!("hint: did you mean `{id}`?")]).await;
}

#[tokio::test]
async fn errors_are_json_too() {
    let machine = Machine::alone();
    let ran = machine.run(&["run", "x", "--json"]).await;
    let error: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&error["error"]["message"], &error["error"]["exit_code"]), (&"no API key is set".into(), &2.into()));
}
