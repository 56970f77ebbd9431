//! Searching what real sessions left behind: whatever somebody remembers of it leads to the event, on both logs, also while
//! the session still runs, after it was killed, and after the index was thrown away. Nothing secret is found.

use crate::checks::{Running, objects, wait_for};
use crate::world::{Backend, World, payloads};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// How far down a hit may stand.
const FIRST: usize = 5;
/// The exit code of a search without hits.
const NOTHING_FOUND: i32 = 8;

/// Made up, in parts, so that no scanner takes this file for a leak.
fn secret() -> String {
    format!("ghp_{}", "Zk3jd9Xq21mmLpQ8vv0aBcD7eF5gH6iJ7kL8")
}

/// Sessions, told apart by their prompts: one about wrong totals, one about a deployment, one that only makes noise, one that
/// looks into the past, and one that does not end.
fn script() -> String {
    let leaked = secret();
    // The first steps stand first: a step that waits for no words takes any prompt.
    let steps = [
        step("totals", "totals", "totals-2", &[call("read_file", r#"{ path = "src/billing/invoice_totals.py" }"#)]),
        step("deploy", "deploy", "deploy-2", &[bash("cat deploy/settings.yaml")]),
        step("noise", "noise", "noise-2", &[bash("cat src/*.txt")]),
        step(
            "remember",
            "remember",
            "remember-2",
            &[call("recall", r#"{ query = "cents lost when rounding lines" }"#)],
        ),
        step("linger", "linger", "linger-2", &[bash("echo 'the otter sleeps on its back'")]),
        step("totals-2", "", "totals-3", &[bash("sh tests/run.sh")]),
        step("totals-3", "", "totals-4", &[call("edit_file", EDIT)]),
        step("totals-4", "", "totals-5", &[bash("sh tests/long.sh")]),
        step(
            "totals-5",
            "",
            "",
            &[say("Each line was rounded by itself, so cents got lost; now only the sum is rounded.")],
        ),
        step("deploy-2", "", "deploy-3", &[bash("sh deploy/roll_out.sh; exit 7")]),
        step("deploy-3", "", "", &[say(&format!("The rollout was refused. The token is {leaked}, by the way."))]),
        step("noise-2", "", "", &[say("There is much text in there about this and that.")]),
        step("remember-2", "", "", &[say("That was it.")]),
        step("linger-2", "", "linger-3", &[bash("touch begun; sleep 1000")]),
        step("linger-3", "", "", &[say("Over.")]),
    ];
    steps.concat()
}

const EDIT: &str =
    r#"{ path = "src/billing/invoice_totals.py", old_string = "roundHalfEven(line)", new_string = "line" }"#;

fn step(name: &str, when: &str, next: &str, blocks: &[String]) -> String {
    let when = if when.is_empty() { String::new() } else { format!("when = \"{when}\"\n") };
    let next = if next.is_empty() { String::new() } else { format!("next = [\"{next}\"]\n") };
    format!("[[step]]\nname = \"{name}\"\n{when}{next}{}", blocks.concat())
}

fn say(text: &str) -> String {
    format!("[[step.block]]\ntype = \"text\"\ntext = {}\n", Value::from(text))
}

fn call(tool: &str, input: &str) -> String {
    format!("[[step.block]]\ntype = \"tool_use\"\nname = \"{tool}\"\ninput = {input}\n")
}

fn bash(command: &str) -> String {
    call("bash", &format!("{{ command = {} }}", Value::from(command)))
}

/// A world with a workspace; nothing has been said in it yet.
fn world(backend: Backend) -> World {
    let world = World::new(backend, &script());
    world.file(
        "src/billing/invoice_totals.py",
        "def total(lines):\n    return sum(roundHalfEven(line) for line in lines)\n\n\ndef roundHalfEven(value):\n    ...\n",
    );
    world.file(
        "tests/run.sh",
        "echo 'test_sum_of_many_lines ... FAILED'\necho 'decimal.InvalidOperation: [ConversionSyntax] in line 17'\nexit 3\n",
    );
    // Too long to be shown: the middle is only in the log's blob.
    world.file("tests/long.sh", "seq 1 9000\necho 'the heron waits beneath the quiet bridge'\nseq 9001 30000\n");
    world.file("deploy/settings.yaml", format!("region: eu-north\ntoken: {}\nreplicas: 3\n", secret()));
    world.file("deploy/roll_out.sh", "echo 'quota exceeded for replicas in eu-north' >&2\n");
    for n in 0..40 {
        let about = ["lines", "totals", "rounding", "tests", "errors", "the bridge", "operations", "regions"];
        let lines = (0..20).map(|k| format!("note {n}.{k}: some words about {}\n", about[(n + k) % about.len()]));
        world.file(&format!("src/notes_{n}.txt"), lines.collect::<String>());
    }
    world
}

/// The same, with all three sessions behind it.
fn told(backend: Backend) -> World {
    let world = world(backend);
    for prompt in ["make some noise", "why are the totals wrong?", "deploy it"] {
        world.run(&["run", prompt]).expect(0);
    }
    world
}

#[track_caller]
fn search(world: &World, args: &[&str]) -> Vec<Value> {
    let ran = world.run(&[&["search", "--json"], args].concat());
    let code = if ran.stdout.is_empty() { NOTHING_FOUND } else { 0 };
    objects(&ran.expect(code))
}

/// Fails the test unless one of the first hits is an event of `kind` that `fits`.
#[track_caller]
fn finds(world: &World, args: &[&str], kind: &str, fits: impl Fn(&Value) -> bool) {
    let hits = search(world, args);
    let found = hits.iter().take(FIRST).any(|hit| hit["kind"] == kind && fits(hit));
    let lines = hits.iter().map(|hit| format!("{} {} {:.80}\n", hit["kind"], hit["key"], hit["snippet"]));
    assert!(found, "{args:?} does not find the {kind}:\n{}", lines.collect::<String>());
}

/// The event that a hit names, as it was exported.
fn event<'a>(events: &'a [Value], hit: &Value) -> &'a Value {
    let found = events.iter().find(|event| event["id"] == hit["event"]);
    found.unwrap_or_else(|| panic!("no such event: {hit}"))
}

/// Whatever somebody remembers leads to the event.
#[track_caller]
fn everything_is_found(world: &World) {
    let events = world.events();
    let says = |words: &'static str| {
        let events = &events;
        move |hit: &Value| event(events, hit)["payload"].to_string().contains(words)
    };
    // A phrase from a result, an error message, a file, a part of a name.
    finds(world, &["\"quota exceeded for replicas\""], "result", says("quota exceeded"));
    finds(world, &["decimal.InvalidOperation: [ConversionSyntax]"], "result", says("ConversionSyntax"));
    finds(world, &["src/billing/invoice_totals.py"], "result", |hit| hit["path"] == "src/billing/invoice_totals.py");
    finds(world, &["--path", "src/billing", "--kind", "result"], "result", says("roundHalfEven"));
    finds(world, &["half even"], "call", says("roundHalfEven"));
    finds(world, &["invoiceTotals"], "result", says("invoice_totals.py"));
    // What was said, in other words of the same roots.
    finds(world, &["why do we lose a cent when rounding lines"], "answer", says("cents got lost"));
    finds(world, &["wrong total"], "prompt", says("why are the totals wrong?"));
    // What stands only in the middle of a long output.
    finds(world, &["heron beneath the bridge"], "result", |hit| event(&events, hit)["payload"]["output"].is_object());
    // Filters.
    finds(world, &["--tool", "bash", "--exit", "7"], "result", says("quota exceeded"));
    finds(world, &["tool:bash exit:3"], "result", says("ConversionSyntax"));
    assert!(search(world, &["quota", "--kind", "prompt"]).is_empty());
    assert!(search(world, &["\"heron waits beneath\" -bridge"]).is_empty());
}

/// All files beneath a folder with their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut folders, mut files) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => files.push((entry.path(), fs::read(entry.path()).unwrap_or_default())),
                _ => {}
            }
        }
    }
    files
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn whatever_one_remembers_leads_to_the_event() {
    everything_is_found(&told(Backend::Embedded));
}

#[test]
fn on_jetstream_too() {
    everything_is_found(&told(Backend::JetStream));
}

#[test]
fn a_secret_is_not_found_and_not_shown() {
    let world = told(Backend::Embedded);
    let secret = secret();
    let holds = |folder: &str| files(&world.path(folder)).iter().any(|(_, bytes)| contains(bytes, secret.as_bytes()));
    assert!(holds("state"), "an answer stands in the log as it came: otherwise there is nothing to hide");
    for query in [secret.clone(), format!("\"{secret}\""), secret[4..20].to_owned()] {
        let hits = search(&world, &[&query, "--limit", "50"]);
        assert!(hits.iter().all(|hit| !hit.to_string().contains(&secret[4..20])), "{query}: {hits:#?}");
        assert!(search(&world, &[&query, "--in", "events,summaries"]).is_empty(), "{query}");
    }
    // What stands around it is found.
    for (words, kind) in [("\"the rollout was refused\"", "answer"), ("\"eu-north\" replicas", "result")] {
        finds(&world, &[words], kind, |hit| !hit.to_string().contains(&secret[4..]));
    }
    let shown = world.run(&["search", "token", "--limit", "50"]).expect(0);
    assert!(shown.stdout.contains("[redacted:"), "{}", shown.stdout);
    assert!(!shown.stdout.contains(&secret[4..20]) && !shown.stderr.contains(&secret[4..20]));
}

#[test]
fn what_happens_is_found_while_it_happens_and_after_a_kill() {
    let world = world(Backend::Embedded);
    let session = Running::start(&world, world.command(&["run", "please linger"]));
    wait_for("the second command", || !world.read("begun").is_empty() || world.workspace().join("begun").exists());
    let otter = || search(&world, &["\"otter sleeps\""]);
    wait_for("the index", || otter().iter().any(|hit| hit["kind"] == "result"));
    session.signal(libc::SIGKILL);
    session.end(&world);
    let hits = otter();
    assert!(hits.iter().any(|hit| hit["kind"] == "result"), "{hits:#?}");
    // Nobody writes it now, so this process does, and has all of it.
    finds(&world, &["sleep 1000"], "call", |hit| hit["tool"] == "bash");
    let keys: Vec<String> = otter().iter().map(|hit| hit["key"].to_string()).collect();
    let mut unique = keys.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), keys.len(), "found twice: {keys:?}");
}

#[test]
fn an_index_that_is_gone_or_damaged_is_made_again() {
    let world = told(Backend::Embedded);
    let before = search(&world, &["cents"]);
    assert!(!before.is_empty());
    let keys = |hits: &[Value]| hits.iter().map(|hit| hit["key"].clone()).collect::<Vec<_>>();
    let index = world.path("state").join("retrace/index");
    fs::remove_dir_all(&index).unwrap();
    assert_eq!(keys(&search(&world, &["cents"])), keys(&before));
    for (path, _) in files(&index) {
        fs::write(path, b"this is no index").unwrap();
    }
    assert_eq!(keys(&search(&world, &["cents"])), keys(&before));
    everything_is_found(&world);
}

#[test]
fn an_agent_recalls_what_an_earlier_session_found_out() {
    let world = told(Backend::Embedded);
    // The index is up to date behind this, so that the test does not depend on how fast it catches up by itself.
    assert!(!search(&world, &["cents"]).is_empty());
    world.run(&["run", "do you remember?"]).expect(0);
    let events = world.events();
    let results = payloads(&events, "tool.finished");
    let recalled = results.iter().filter(|result| result["content"].to_string().contains("so cents got lost"));
    assert_eq!(recalled.count(), 1, "{results:#?}");
    // It stands in the log twice now, and is found once, where it first stood.
    let hits = search(&world, &["\"so cents got lost\"", "--in", "events"]);
    let kinds: Vec<&Value> = hits.iter().map(|hit| &hit["kind"]).collect();
    assert_eq!(kinds, ["answer"], "{hits:#?}");
}
