//! `retrace bench context` as a user runs it: over recordings and over sessions of the log, as table, JSON and page, the same
//! each time; and what it says of bad input.

use crate::checks::{objects, text};
use crate::scripts::{says, script};
use crate::world::{Backend, Ran, World};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn world() -> World {
    World::new(Backend::Embedded, &script(&[says("unused")]))
}

/// One line of a recording, a second behind the one before.
fn line(session: &str, second: usize, kind: &str, tool: Option<&str>, path: Option<&str>, text: &str) -> String {
    let ts = format!("2026-01-05T{:02}:{:02}:{:02}.000Z", second / 3_600, second / 60 % 60, second % 60);
    let row = json!({ "session": session, "i": second, "ts": ts, "kind": kind, "tool": tool, "path": path, "text": text, "tok": 1 });
    format!("{row}\n")
}

/// Line `number` of file `file`, as it is there after `edits` edits.
fn row(file: usize, number: usize, edits: usize) -> String {
    format!("    let field_{file}_{number} = compute_{number}(input_{file}, {edits});")
}

/// How many steps lie between reading a file and changing it.
const LATER: usize = 6;

/// A session that reads twelve files in turn and changes each some steps later: long enough to be measured.
fn recording(session: &str, steps: usize) -> String {
    let mut lines = vec![line(session, 0, "user", None, None, "Make all of compute_7 faster.")];
    for step in 0..steps {
        let (file, edits) = (step % 12, step / 12);
        let path = format!("src/file_{file}.rs");
        let (changed, changes) = (step.saturating_sub(LATER) % 12, step.saturating_sub(LATER) / 12);
        let changed_path = format!("src/file_{changed}.rs");
        let view: String = (0..40).map(|n| format!("{:6}→{}\n", n + 1, row(file, n, edits))).collect();
        let old = format!("{}\n{}", row(changed, 7, changes), row(changed, 8, changes));
        let mut add = |kind: &str, tool: Option<&str>, path: Option<&str>, text: &str| {
            lines.push(line(session, lines.len(), kind, tool, path, text));
        };
        add("thinking", None, None, &format!("compute_7 in {changed_path} comes next, field_{changed}_7."));
        add("tool_call", Some("Read"), Some(&path), &json!({ "file_path": path }).to_string());
        add("tool_result", Some("Read"), Some(&path), &view);
        let new = row(changed, 7, changes + 1);
        let edit = json!({ "file_path": changed_path, "old_string": old, "new_string": new });
        add("tool_call", Some("Edit"), Some(&changed_path), &edit.to_string());
        add("tool_result", Some("Edit"), Some(&changed_path), "The file was changed.");
    }
    lines.concat()
}

/// A file with two sessions.
fn recorded(world: &World) -> PathBuf {
    let path = world.path("recorded.jsonl");
    fs::write(&path, [recording("first", 60), recording("second", 70), recording("short", 3)].concat()).unwrap();
    path
}

fn bench(world: &World, args: &[&str], code: i32) -> Ran {
    world.run(&[&["bench", "context"], args].concat()).expect(code)
}

#[test]
fn a_recording_is_measured_the_same_each_time() {
    let world = world();
    let file = recorded(&world);
    let (file, page, object) = (file.to_str().unwrap(), world.path("report.html"), world.path("report.json"));
    let outputs = ["--html", page.to_str().unwrap(), "--json-file", object.to_str().unwrap()];
    let args = [&[file, "--budgets", "8000,2000"][..], &outputs].concat();
    let first = bench(&world, &args, 0);
    let (page_before, object_before) = (fs::read(&page).unwrap(), fs::read(&object).unwrap());
    assert_eq!(bench(&world, &args, 0).stdout, first.stdout);
    assert_eq!((fs::read(&page).unwrap(), fs::read(&object).unwrap()), (page_before, object_before));
    assert!(
        first.stdout.contains(" points in 2 sessions, composed directly before the calls, seed 7, prices of "),
        "{}",
        first.stdout
    );
    for arm in ["all", "tail", "mask", "summary", "bm25", "workset", "bag"] {
        assert!(first.stdout.contains(&format!("| {arm} ")), "{arm}: {}", first.stdout);
    }
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && !page.contains("<script"), "{page}");
    let report: Value = serde_json::from_str(&fs::read_to_string(&object).unwrap()).unwrap();
    // Budgets stand in order, and the points of a report are a list that can be given.
    assert_eq!(report["budgets"], json!([2_000, 8_000]));
    let points = world.path("points.json");
    fs::write(&points, report["points"].to_string()).unwrap();
    let again = bench(&world, &[file, "--budgets", "2000,8000", "--points", points.to_str().unwrap(), "--json"], 0);
    assert_eq!(objects(&again)[0], report);
    // Latencies are there when asked for.
    let timed =
        bench(&world, &[file, "--session", "first", "--budgets", "2000", "--arms", "tail,workset", "--timing"], 0);
    assert!(timed.stdout.contains("time to compose") && timed.stdout.contains(" in 1 session,"), "{}", timed.stdout);
    assert!(!timed.stdout.contains("| bag "), "{}", timed.stdout);
}

#[test]
fn what_is_old_is_found_by_the_working_set_and_not_by_the_tail() {
    let world = world();
    let file = recorded(&world);
    let ran = bench(&world, &[file.to_str().unwrap(), "--budgets", "2000", "--json"], 0);
    let report = objects(&ran).remove(0);
    let cell = |arm: &str| report["cells"].as_array().unwrap().iter().find(|cell| cell["arm"] == arm).unwrap();
    let mean = |arm: &str, column: &str| cell(arm)["shares"][column]["mean"].as_f64().unwrap();
    assert_eq!((mean("all", "pair"), mean("tail", "id-old"), mean("bag", "pair")), (100.0, 0.0, 0.0));
    assert!(mean("workset", "pair-old") > 50.0, "{report}");
    let read = |arm: &str| cell(arm)["requests"]["cache_read_percent_while_warm"].as_f64().unwrap();
    assert!(read("all") > 95.0 && read("tail") < 50.0, "{} {}", read("all"), read("tail"));
}

/// A transcript of Claude Code's, long enough to be measured.
fn transcript(world: &World) -> PathBuf {
    const SESSION: &str = include_str!("../../runtime/src/import/tests/transcripts/session.jsonl");
    let turn = |n: usize| {
        let text = SESSION.replace("a0000000-", &format!("{n:08x}-")).replace("msg_", &format!("msg_{n}_"));
        let text = text.replace("toolu_", &format!("toolu_{n}_")).replace("T09:", &format!("T{:02}:", 9 + n / 5));
        text.replace(
            "test empty ... ok",
            &format!("test empty ... ok{}", format!("\\ntest number_{n} ... ok").repeat(250)),
        )
    };
    let path = world.path("5e551011-0000-4000-8000-000000000001.jsonl");
    fs::write(&path, (0..40).map(turn).collect::<String>()).unwrap();
    path
}

#[test]
fn sessions_of_the_log_are_measured_too() {
    let world = world();
    let path = transcript(&world);
    world.run(&["import", "claude-code", path.to_str().unwrap()]).expect(0);
    let all = bench(&world, &["--budgets", "4000", "--arms", "tail,workset", "--json"], 0);
    let report = objects(&all).remove(0);
    assert_eq!(report["sessions"], 1);
    assert_eq!(text(&report["points"][0][0]), "5e551011-0000-4000-8000-000000000001");
    let one = bench(&world, &["--session", "5e55", "--budgets", "4000", "--arms", "tail,workset", "--json"], 0);
    assert_eq!(one.stdout, all.stdout);
    let ran = bench(&world, &["--session", "zzzz"], 8);
    assert!(ran.stderr.contains("there is no session `zzzz`") && ran.stderr.contains("hint:"), "{}", ran.stderr);
}

#[test]
fn bad_input_is_one_line_and_a_hint() {
    let world = world();
    let file = recorded(&world);
    let file = file.to_str().unwrap();
    let write = |name: &str, content: &str| {
        fs::write(world.path(name), content).unwrap();
        world.path(name).to_str().unwrap().to_owned()
    };
    let none = world.path("none").to_str().unwrap().to_owned();
    let folder = world.path("home").to_str().unwrap().to_owned();
    let damaged = write("damaged.jsonl", &format!("{}{{\"session\": 1}}\n", recording("a", 2)));
    let packed = write("packed.gz", "");
    fs::write(&packed, b"\x1f\x8bno gzip at all").unwrap();
    let short = write("short.jsonl", &recording("a", 2));
    let (no_list, nobody, no_call) = (
        write("no_list.json", "{}"),
        write("nobody.json", "[[\"third\", 5]]"),
        write("no_call.json", "[[\"first\", 0]]"),
    );
    for (args, code, what) in [
        (vec![none.as_str()], 2, "there is no "),
        (vec![folder.as_str()], 2, "cannot read "),
        (vec![damaged.as_str()], 1, "damaged.jsonl:12: invalid type"),
        (vec![short.as_str()], 8, "there is nothing to measure"),
        (vec![], 8, "there is nothing to measure"),
        (vec![file, "--session", "fourth"], 8, "there is no session `fourth` in "),
        (vec![file, "--points", &none], 2, "there is no "),
        (vec![file, "--points", &no_list], 2, "it is no list of [session, index]"),
        (vec![file, "--points", &nobody], 8, "session third is not among those that are measured"),
        (vec![file, "--points", &no_call], 8, "session first has no call at 0"),
        (vec![file, "--arms", "tial"], 2, "there is no arm `tial`"),
        (vec![file, "--budgets", "0"], 2, "a budget of 0 tokens"),
    ] {
        let ran = bench(&world, &args, code);
        assert_eq!(ran.stdout, "", "{args:?}");
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].contains(what) && lines[1].starts_with("hint: "),
            "{args:?}: {}",
            ran.stderr
        );
    }
    assert!(bench(&world, &[file, "--arms", "tial"], 2).stderr.contains("did you mean `tail`?"));
    assert!(bench(&world, &[&packed], 1).stderr.contains("packed.gz:1: "));
    // Where a report cannot be written, what is wrong is said too.
    let ran = bench(&world, &[file, "--budgets", "2000", "--arms", "tail", "--html", &folder], 1);
    assert!(ran.stderr.contains("cannot write "), "{}", ran.stderr);
}
