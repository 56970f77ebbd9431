//! `replay --execute` and `replay --what-if`, as a user types them.

use super::Machine;
use crate::cli::Exit;
use serde_json::Value;

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A model that runs these commands, one after the other.
fn runs(commands: &[&str]) -> String {
    let mut script = String::new();
    for command in commands {
        let command = serde_json::to_string(command).unwrap();
        script.push_str(&format!(
            "[[step]]\nblock = [{{ type = \"tool_use\", name = \"bash\", input = {{ command = {command} }} }}]\n"
        ));
    }
    script.push_str("[[step]]\nblock = [{ type = \"text\", text = \"done\" }]\n");
    script
}

async fn recorded(commands: &[&str]) -> (Machine, String) {
    let mut machine = Machine::with(&runs(commands)).await;
    machine.set("RETRACE_INDEX", "false");
    let ran = machine.run(&["run", "go"]).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    let id = machine.session().await;
    (machine, id)
}

/// A model that runs a command of much output 24 times: long enough for some epochs in a small context.
const COUNTS: &str = r#"
[[step]]
name = "count"
next = ["end", "count"]
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; [ $n -lt 24 ] || echo that is enough; seq $((n * 1000)) $((n * 1000 + 900))" }
[[step]]
name = "end"
when = "that is enough"
block = [{ type = "text", text = "done" }]
"#;

fn is_empty(folder: &std::path::Path) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().next().is_none()
}

#[tokio::test]
async fn calls_are_carried_out_again_and_counted() {
    let (machine, id) = recorded(&["echo one > a.txt; cat a.txt", "echo $((1 + 1))s"]).await;
    let replay = &["replay", &id, "--execute", "--sandbox", "none"];
    let ran = machine.run(replay).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    for expected in [
        "calls                  2\n",
        "same                   2  byte for byte\n",
        "100.0%  2 of 2 compared",
        "same files           2/2",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in:\n{}", ran.out);
    }
    assert!(ran.err.contains("warning: no sandbox") && ran.err.contains("2 calls again"), "{}", ran.err);
    let rows = lines(&machine.out(&[replay, &["--json"][..]].concat()).await);
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[0]["verdict"], &rows[0]["files"]["verdict"]), (&"same".into(), &"same".into()));
    assert_eq!(rows[2]["summary"]["reproduced_permille"], 1_000);
    assert!(is_empty(&machine.folders.cache.join("replay")));
}

#[tokio::test]
async fn the_first_divergence_is_shown_with_both_outputs() {
    let random = "echo before; head -c 16 /dev/urandom | od -An -tx1 | tee r.txt";
    let (machine, id) = recorded(&["echo fine", random, random]).await;
    let ran = machine.run(&["replay", &id, "--execute", "--sandbox", "none"]).await;
    assert_eq!(ran.exit, Exit::Failed, "{ran:?}");
    assert_eq!(ran.out.matches("divergence:").count(), 1, "{}", ran.out);
    for expected in [
        "first divergence: ",
        "bash echo before; head",
        "--- then\n  +++ now\n",
        "   before\n",
        "files: r.txt (differs)",
        "2 calls diverge",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in:\n{}", ran.out);
    }
    let all = machine.run(&["replay", &id, "--execute", "--sandbox", "none", "--all"]).await;
    assert_eq!((all.exit, all.out.matches("divergence:").count()), (Exit::Failed, 2), "{}", all.out);
    let json = machine.run(&["replay", &id, "--execute", "--sandbox", "none", "--json"]).await;
    let rows = lines(&json.out);
    assert_eq!((&rows[1]["verdict"], &rows[1]["diverges"]), (&"differs".into(), &true.into()));
    assert!(rows[1]["diff"].as_str().unwrap().contains("+++ now"), "{}", rows[1]);
    assert_eq!(rows[1]["files"]["named"][0]["path"], "r.txt");
}

#[tokio::test]
async fn sessions_that_cannot_be_carried_out_again_say_why() {
    let (mut machine, id) = recorded(&["echo one"]).await;
    let refused = machine.run(&["replay", &id, "--execute"]).await;
    assert_eq!(refused.exit, Exit::Usage, "{refused:?}");
    assert!(refused.err.contains("ran without a sandbox") && refused.err.contains("hint: "), "{}", refused.err);
    let odd = machine.run(&["replay", &id, "--execute", "--sandbox", "box"]).await;
    assert_eq!(odd.exit, Exit::Usage);
    assert!(odd.err.contains("hint: choose one of auto, krun"), "{}", odd.err);
    machine.set("RETRACE_SNAPSHOTS", "off");
    machine.play(&runs(&["echo two"])).await;
    machine.run(&["run", "again"]).await;
    let newest = machine.sessions().await[0].id.clone();
    let none = machine.run(&["replay", newest.as_str(), "--execute", "--sandbox", "none"]).await;
    assert_eq!(none.exit, Exit::Snapshot, "{none:?}");
    assert!(none.err.contains("has no snapshot of its files") && none.err.contains("hint: "), "{}", none.err);
    let unknown = machine.run(&["replay", "zz", "--execute"]).await;
    assert_eq!(unknown.exit, Exit::NotFound);
}

#[tokio::test]
async fn escapes_in_outputs_do_not_reach_the_terminal() {
    let (machine, id) = recorded(&["printf '\\033[31mred\\033[0m \\007 '; head -c 8 /dev/urandom | od -An -tx1"]).await;
    let ran = machine.run(&["replay", &id, "--execute", "--sandbox", "none"]).await;
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.out.contains("red") && !ran.out.contains('\x1b') && !ran.out.contains('\x07'), "{:?}", ran.out);
}

#[tokio::test]
async fn the_simulation_of_what_was_is_what_was_sent() {
    let mut machine = Machine::with(COUNTS).await;
    machine.set("RETRACE_INDEX", "false");
    machine.set("RETRACE_CONTEXT_TOKENS", "16000");
    let ran = machine.run(&["run", "count, and do not hurry"]).await;
    assert_eq!(ran.exit, Exit::Done, "{ran:?}");
    let id = machine.session().await;
    let rows = lines(&machine.out(&["replay", &id, "--what-if", "context_tokens=none", "--json"]).await);
    let (summary, requests) = rows.split_last().unwrap();
    assert_eq!(requests.len(), 25);
    let summary = &summary["summary"];
    let epochs = |column: &str| summary[column]["epoch"].as_u64().unwrap();
    assert!(epochs("sent") > 1, "{summary}");
    assert_eq!((epochs("logged_settings"), epochs("other_settings")), (epochs("sent"), 1), "{summary}");
    assert_eq!((&summary["context_tokens"], &summary["context_tokens_from"]), (&16_000.into(), &"log".into()));
    for request in requests {
        assert_eq!(request["sent"]["input_tokens"], request["logged_settings"]["input_tokens"], "{request}");
        assert_eq!(request["sent"]["epoch"], request["logged_settings"]["epoch"], "{request}");
    }
    let passages = |column: &str| summary[column]["by_kind"]["passages"].as_u64().unwrap();
    assert!(
        passages("sent") > 0 && passages("other_settings") == 0,
        "what was put into other epochs is not in this one: {summary}"
    );
    let tokens = |column: &str| summary[column]["input_tokens"].as_u64().unwrap();
    assert!(tokens("other_settings") > tokens("sent"), "a context without a bound is larger: {summary}");
    let text = machine.out(&["replay", &id, "--what-if", "context_tokens=none"]).await;
    for expected in [
        "25 requests, and what if context_tokens=none?\n",
        "logged settings",
        "epochs",
        "read from cache",
        "simulated: the last two columns",
        "(the log says so)",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing in:\n{text}");
    }
    let every = machine.out(&["replay", &id, "--what-if", "context_tokens=none", "--all"]).await;
    assert_eq!(every.lines().filter(|line| line.starts_with("event ")).count(), 25, "{every}");
    // A smaller one begins afresh more often, and a larger price costs more.
    let rows = lines(&machine.out(&["replay", &id, "--what-if", "context_tokens=8000", "--json"]).await);
    assert!(rows[25]["summary"]["other_settings"]["epoch"].as_u64().unwrap() > epochs("sent"), "{}", rows[25]);
}

#[tokio::test]
async fn another_model_has_other_prices() {
    let (machine, id) = recorded(&["echo one", "echo two"]).await;
    let costs = async |pair: &str| {
        let rows = lines(&machine.out(&["replay", &id, "--what-if", pair, "--json"]).await);
        let summary = rows.last().unwrap()["summary"].clone();
        let cost = |column: &str| summary[column]["cost_microusd"].as_u64().unwrap();
        (cost("logged_settings"), cost("other_settings"), summary)
    };
    let (baseline, same, summary) = costs("model=claude-opus-5-5").await;
    assert_eq!(baseline, same, "{summary}");
    let (_, cheaper, summary) = costs("model=claude-haiku-4-5").await;
    assert!(cheaper < baseline, "{summary}");
    let (_, thoughtless, _) = costs("thinking=off").await;
    assert!(thoughtless > 0);
}

#[tokio::test]
async fn a_setting_that_makes_no_sense_is_refused_with_the_keys() {
    let (machine, id) = recorded(&["echo one"]).await;
    for (pair, words) in [
        ("nonsense=1", "`nonsense` changes nothing of a context"),
        ("sandbox=none", "`sandbox` changes nothing of a context"),
        ("context_tokens", "is not of the form key=value"),
        ("context_tokens=many", "`context_tokens` must be"),
        ("thinking=hard", "`thinking` must be"),
        ("effort=much", "`effort` must be"),
        ("max_tokens=0", "`max_tokens` must be"),
    ] {
        let ran = machine.run(&["replay", &id, "--what-if", pair]).await;
        assert_eq!(ran.exit, Exit::Usage, "{pair}: {ran:?}");
        assert!(ran.err.contains(words), "{pair}: {}", ran.err);
        if words.contains("changes nothing") || words.contains("form") {
            assert!(
                ran.err.contains("the keys are context_tokens, model, max_tokens, thinking, effort"),
                "{}",
                ran.err
            );
        }
    }
    let twice = machine.run(&["replay", &id, "--what-if", "effort=low", "--what-if", "effort=high"]).await;
    assert!(twice.exit == Exit::Usage && twice.err.contains("is given twice"), "{}", twice.err);
}

#[tokio::test]
async fn show_is_what_it_does_when_nothing_is_said() {
    let (machine, id) = recorded(&["echo one"]).await;
    let shown = machine.out(&["replay", &id, "--speed", "0"]).await;
    assert_eq!(machine.out(&["replay", &id, "--show", "--speed", "0"]).await, shown);
}

#[tokio::test]
async fn where_nothing_was_answered_there_is_nothing_to_compare() {
    let machine = Machine::alone();
    super::made::put(&machine, "unanswered", &[super::made::started("t"), super::made::prompted("go")]).await;
    let ran = machine.run(&["replay", "unanswered", "--what-if", "context_tokens=9000"]).await;
    assert_eq!(ran.exit, Exit::NotFound, "{ran:?}");
    assert!(ran.err.contains("has no answered request"), "{}", ran.err);
    let unknown = machine.run(&["replay", "nobody", "--what-if", "context_tokens=9000"]).await;
    assert_eq!(unknown.exit, Exit::NotFound);
    let none = machine.run(&["replay", "unanswered", "--execute"]).await;
    assert_eq!(none.exit, Exit::Snapshot, "{none:?}");
}

#[tokio::test]
async fn a_smaller_answer_leaves_more_of_the_window() {
    let (machine, id) = recorded(&["echo one"]).await;
    let rows = lines(&machine.out(&["replay", &id, "--what-if", "max_tokens=1000", "--json"]).await);
    let summary = &rows.last().unwrap()["summary"];
    assert_eq!(summary["what_if"], serde_json::json!(["max_tokens=1000"]));
    // Only the number itself is another one.
    let tokens = |column: &str| summary[column]["input_tokens"].as_i64().unwrap();
    assert!((tokens("other_settings") - tokens("logged_settings")).abs() < 20, "{summary}");
    assert_eq!(summary["sent"]["output_tokens"], summary["other_settings"]["output_tokens"]);
    assert_eq!(summary["requests"], 2);
    let kinds: u64 =
        summary["sent"]["by_kind"].as_object().unwrap().values().map(|tokens| tokens.as_u64().unwrap()).sum();
    let sent = u64::try_from(tokens("sent")).unwrap();
    assert!(kinds <= sent && kinds + 20 > sent, "every token is of some kind: {summary}");
}
