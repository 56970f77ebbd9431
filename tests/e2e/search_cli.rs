//! `retrace search` and `retrace index` as commands: flags, exit codes, bad input, what goes where. What is found for which
//! words is another file's business.

use crate::checks::{objects, text};
use crate::scripts::{runs, says, script};
use crate::terminal::Terminal;
use crate::world::{Backend, Ran, World};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A world in which one session ran a command that failed and said what it saw.
fn world() -> World {
    let world = World::new(
        Backend::Embedded,
        &script(&[runs("echo the zebra escaped >&2; exit 3"), says("The zebra is gone."), says("more")]),
    );
    world.file("src/zoo.rs", "/// Where animals live.\npub fn open_zebra_cage() {\n    unlock();\n}\n");
    world.run(&["run", "where is the zebra?"]).expect(0);
    world
}

/// The hits of a search that must find something.
#[track_caller]
fn hits(world: &World, args: &[&str]) -> Vec<Value> {
    let ran = world.run(&[&["search", "--json"], args].concat()).expect(0);
    let hits = objects(&ran);
    assert!(!hits.is_empty(), "{args:?}: {}", ran.stderr);
    hits
}

/// The kinds of all hits, each once, in order of the alphabet.
fn kinds(hits: &[Value]) -> Vec<String> {
    let mut kinds: Vec<String> = hits.iter().map(|hit| text(&hit["kind"]).to_owned()).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

/// The folders of indexes, those of code aside.
fn indexes(world: &World) -> Vec<PathBuf> {
    let folder = world.path("state/retrace/index");
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let folders: Vec<PathBuf> = entries.unwrap_or_default();
    folders.into_iter().filter(|folder| !folder.ends_with("code")).collect()
}

#[test]
fn hits_are_data_and_all_else_is_said_beside_them() {
    let world = world();
    let ran = world.run(&["search", "zebra"]).expect(0);
    assert!(ran.stdout.contains("where is the zebra?") && ran.stdout.contains("#"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the zebra escaped"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran:?}");
    assert!(ran.stderr.contains(" hits · ") && ran.stderr.contains("look: retrace show "), "{}", ran.stderr);
    let quiet = world.run(&["search", "-q", "zebra"]).expect(0);
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (ran.stdout, ""));
}

#[test]
fn every_hit_is_an_object_with_all_fields() {
    let world = world();
    let found = hits(&world, &["zebra"]);
    let session = world.session();
    for hit in &found {
        for field in [
            "key",
            "kind",
            "session",
            "stream",
            "title",
            "workspace",
            "seq",
            "last_seq",
            "event",
            "path",
            "paths",
            "first_line",
            "last_line",
            "at",
            "tool",
            "exit",
            "score",
            "parts",
            "snippet",
            "highlights",
        ] {
            assert!(hit.get(field).is_some(), "no {field} in {hit}");
        }
        let of_session = hit["kind"] != "code";
        assert_eq!(hit["session"] == session.as_str(), of_session, "{hit}");
    }
    assert!(kinds(&found).len() > 2, "{found:?}");
    let result = found.iter().find(|hit| hit["kind"] == "result").unwrap();
    assert_eq!((&result["tool"], &result["exit"]), (&"bash".into(), &3.into()), "{result}");
    let shown = world.run(&["show", &session, "--json", "--event", &result["seq"].to_string()]).expect(0);
    assert!(shown.stdout.contains("zebra escaped"), "{}", shown.stdout);
    assert_eq!(objects(&shown)[0]["id"], result["event"]);
}

#[test]
fn each_filter_narrows() {
    let world = world();
    assert_eq!(kinds(&hits(&world, &["zebra", "--kind", "prompt"])), ["prompt"]);
    assert_eq!(kinds(&hits(&world, &["zebra", "--kind", "prompt,result"])), ["prompt", "result"]);
    assert_eq!(kinds(&hits(&world, &["zebra", "--exit", "3"])), ["result"]);
    assert_eq!(kinds(&hits(&world, &["zebra", "--exit", "fail"])), ["result"]);
    assert_eq!(kinds(&hits(&world, &["zebra", "--in", "code"])), ["code"]);
    assert!(!kinds(&hits(&world, &["zebra", "--in", "events"])).contains(&"code".to_owned()));
    assert!(hits(&world, &["zebra", "--tool", "bash"]).iter().all(|hit| hit["tool"] == "bash"));
    assert_eq!(kinds(&hits(&world, &["zebra", "--path", "src/zoo.rs"])), ["code"]);
    assert_eq!(hits(&world, &["zebra", "--limit", "1"]).len(), 1);
    assert!(!hits(&world, &["zebra", "--since", "1h"]).is_empty());
    let session = world.session();
    assert!(
        hits(&world, &["zebra", "--session", &session[9..13]]).iter().all(|hit| hit["session"] == session.as_str())
    );
    // Filters alone list what fits, the newest first.
    assert_eq!(kinds(&hits(&world, &["--kind", "prompt"])), ["prompt"]);
    // In the query they mean the same.
    assert_eq!(hits(&world, &["zebra kind:prompt"])[0]["key"], hits(&world, &["zebra", "--kind", "prompt"])[0]["key"]);
    for args in [
        &["zebra", "--until", "2020-01-01"][..],
        &["zebra", "--tool", "nonesuch"],
        &["zebra", "--exit", "4"],
        &["zebra", "--path", "no/where"],
        &["zebra -zebra"],
        &["zebra", "kind:prompt", "--kind", "result"],
    ] {
        let ran = world.run(&[&["search"], args].concat()).expect(8);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
}

#[test]
fn nothing_found_is_said_with_advice() {
    let world = world();
    let ran = world.run(&["search", "giraffe"]).expect(8);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("nothing found · "), "{ran:?}");
    assert!(ran.stderr.contains("hint: try fewer or other words"), "{}", ran.stderr);
    let json = world.run(&["search", "giraffe", "--json", "-q"]).expect(8);
    assert_eq!((json.stdout.as_str(), json.stderr.as_str()), ("", ""));
}

#[test]
fn bad_input_is_refused_with_a_hint() {
    let world = world();
    for (code, args, said) in [
        (2, &["search"][..], "the query is empty"),
        (2, &["search", "  "], "the query is empty"),
        (2, &["search", "?!"], "the query is empty"),
        (2, &["search", "x", "--since", "whenever"], "invalid filter: `since:whenever`"),
        (2, &["search", "x", "--exit", "boom"], "invalid filter: `exit:boom`"),
        (2, &["search", "x", "--kind", "poem"], "[possible values: prompt,"),
        (2, &["search", "x", "--in", "cellar"], "[possible values: events,"),
        (2, &["search", "x", "--limit", "0"], "0 is not in 1..=200"),
        (2, &["search", "x", "--limit", "many"], "invalid digit"),
        (8, &["search", "x", "--session", "nonesuch"], "there is no session `nonesuch`"),
        (6, &["search", "x", "--log", "nats://127.0.0.1:1"], "nats://127.0.0.1:1"),
    ] {
        let ran = world.run(args).expect(code);
        assert!(ran.stdout.is_empty() && ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
    let error = objects(&world.run(&["search", "--json", ""]).expect(2)).remove(0);
    assert_eq!((&error["error"]["exit_code"], &error["error"]["message"]), (&2.into(), &"the query is empty".into()));
}

#[test]
fn what_a_query_gets_wrong_is_forgiven_and_said() {
    let world = world();
    for query in
        ["\"zebra", "zebra flavour:sweet", "zebra since:whenever", "zebra AND (", "zebra \u{1b}[2J\0", "zebra *~^{[\\"]
    {
        let query = query.replace('\0', "");
        let ran = world.run(&["search", &query]).expect(0);
        assert!(ran.stdout.contains("zebra") && !ran.stderr.contains('\u{1b}'), "{query}: {ran:?}");
    }
    let ran = world.run(&["search", "\"zebra"]).expect(0);
    assert!(ran.stderr.starts_with("note: ") && ran.stderr.contains("quotation mark"), "{}", ran.stderr);
    world.run(&["search", &"zebra ".repeat(20_000)]).expect(0);
}

#[test]
fn a_log_without_sessions_has_nothing_to_find() {
    let world = World::new(Backend::Embedded, &script(&[says("hi")]));
    let ran = world.run(&["search", "zebra"]).expect(8);
    assert!(ran.stderr.contains("nothing found"), "{}", ran.stderr);
    world.run(&["index", "status"]).expect(0);
    world.run(&["index", "verify"]).expect(0);
}

#[test]
fn another_workspace_sees_the_sessions_and_not_the_code() {
    let world = world();
    let there = world.path("elsewhere");
    fs::create_dir(&there).unwrap();
    let there = there.to_str().unwrap();
    let found = hits(&world, &["zebra", "-w", there]);
    assert!(!kinds(&found).contains(&"code".to_owned()) && found.len() > 2, "{found:?}");
    world.run(&["search", "zebra", "-w", there, "--project"]).expect(8);
    // What has been indexed is there for who asks for all of it.
    assert!(kinds(&hits(&world, &["zebra"])).contains(&"code".to_owned()));
    assert!(kinds(&hits(&world, &["zebra", "-w", there, "--all"])).contains(&"code".to_owned()));
}

#[test]
fn a_secret_is_not_shown_even_when_it_is_in_the_index() {
    let world =
        World::new(Backend::Embedded, &script(&[says("The password of the cage is hippo-hippo-hippo, I think.")]));
    world.run(&["run", "go"]).expect(0);
    let mut command = world.command(&["search", "cage password"]);
    command.env("ANTHROPIC_API_KEY", "hippo-hippo-hippo");
    let ran = world.finish(command).expect(0);
    assert!(ran.stdout.contains("cage") && !ran.stdout.contains("hippo-hippo"), "{}", ran.stdout);
}

/// The facts of the index of that name.
#[track_caller]
fn facts(world: &World, name: &str) -> Value {
    let ran = world.run(&["index", "status", "--json"]).expect(0);
    objects(&ran).into_iter().find(|facts| facts["index"] == name).unwrap_or_else(|| panic!("no {name}: {ran:?}"))
}

#[test]
fn an_index_is_made_looked_at_checked_and_made_again() {
    let world = world();
    let updated = world.run(&["index", "update"]).expect(0);
    assert!(updated.stdout.contains("sessions") && updated.stdout.contains("code"), "{}", updated.stdout);
    let (sessions, code) = (facts(&world, "sessions"), facts(&world, "code"));
    assert!(sessions["documents"].as_u64() > Some(3) && code["documents"].as_u64() > Some(0), "{sessions} {code}");
    assert_eq!((&sessions["behind"], &sessions["position"]), (&0.into(), &sessions["log_end"]));
    assert!(sessions["size_bytes"].as_u64() > Some(0) && sessions["problem"].is_null(), "{sessions}");
    let text = world.run(&["index", "status"]).expect(0).stdout;
    assert!(text.contains("up to date") && text.contains("sessions") && text.contains("code"), "{text}");
    world.run(&["index", "verify"]).expect(0);
    for args in [&["index", "rebuild"][..], &["index", "rebuild", "--code"]] {
        world.run(args).expect(0);
        assert_eq!(facts(&world, "sessions")["documents"], sessions["documents"], "{args:?}");
        assert_eq!(facts(&world, "code")["documents"], code["documents"], "{args:?}");
    }
    world.run(&["index", "verify", "--json"]).expect(0);
    assert!(!hits(&world, &["zebra"]).is_empty());
}

#[test]
fn an_index_that_lags_says_by_how_much() {
    let world = world();
    world.run(&["search", "zebra"]).expect(0);
    let mut command = world.command(&["run", "and now?"]);
    command.env("RETRACE_INDEX", "false");
    world.finish(command).expect(0);
    let behind = facts(&world, "sessions")["behind"].as_u64().unwrap();
    assert!(behind > 3, "{behind}");
    let stale = world.run(&["search", "--no-update", "zebra"]).expect(0);
    assert!(stale.stderr.contains(&format!("the index is {behind} events behind")), "{}", stale.stderr);
    world.run(&["search", "--no-update", "--kind", "prompt", "and now"]).expect(8);
    // Without that flag it is brought up to date first.
    assert_eq!(hits(&world, &["--kind", "prompt", "and now"])[0]["snippet"], "and now?");
    assert_eq!(facts(&world, "sessions")["behind"], 0);
}

#[test]
fn a_damaged_index_is_noticed_and_the_search_answers() {
    let world = world();
    world.run(&["search", "zebra"]).expect(0);
    let damages: [&dyn Fn(&std::path::Path); 4] = [
        &|folder| fs::remove_dir_all(folder).unwrap(),
        &|folder| fs::write(folder.join("meta.json"), "{ \"segments\": [").unwrap(),
        &|folder| {
            for file in fs::read_dir(folder).unwrap().flatten().filter(|file| file.path().extension().is_some()) {
                fs::write(file.path(), "").unwrap();
            }
        },
        &|folder| {
            for file in fs::read_dir(folder).unwrap().flatten() {
                if file.path().extension().is_some_and(|kind| kind == "store" || kind == "idx") {
                    fs::remove_file(file.path()).unwrap();
                }
            }
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let keyword = indexes(&world)[0].join("keyword");
        damage(&keyword);
        if keyword.exists() {
            let verified = world.run(&["index", "verify"]).expect(1);
            assert!(verified.stderr.contains("hint: `retrace index rebuild`"), "{number}: {}", verified.stderr);
            assert!(facts(&world, "sessions")["problem"].is_string(), "{number}");
        }
        assert!(hits(&world, &["zebra"]).len() > 2, "{number}");
        world.run(&["index", "verify"]).expect(0);
    }
}

#[test]
fn an_index_that_another_process_writes_is_read_and_left_alone() {
    use std::os::fd::AsRawFd as _;
    let world = world();
    world.run(&["search", "zebra"]).expect(0);
    let lock = fs::File::open(indexes(&world)[0].join("writer.lock")).unwrap();
    // SAFETY: a plain system call on a file that stays open to the end of the test.
    assert_eq!(unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }, 0);
    let mut command = world.command(&["run", "and now?"]);
    command.env("RETRACE_INDEX", "false");
    world.finish(command).expect(0);
    let ran = world.run(&["search", "zebra"]).expect(0);
    assert!(ran.stderr.contains(" behind (") && ran.stdout.contains("escaped"), "{ran:?}");
    for args in [&["index", "rebuild"][..], &["index", "update"]] {
        let ran = world.run(args).expect(1);
        assert!(ran.stderr.contains("the index is being written by"), "{args:?}: {}", ran.stderr);
    }
    assert!(facts(&world, "sessions")["writer"].is_string());
    drop(lock);
    world.run(&["index", "update"]).expect(0);
    assert_eq!(facts(&world, "sessions")["writer"], Value::Null);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = world();
    world.run(&["search", "zebra"]).expect(0);
    let mut command = tokio::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_retrace-under-test");
    let line = format!("{{ '{program}' search zebra; echo \"code $?\" >&2; }} | true");
    command.args(["-c", &line]).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", world.path("home")).env("XDG_STATE_HOME", world.path("state"));
    command.env("XDG_CONFIG_HOME", world.path("config")).current_dir(world.workspace());
    let ran: Ran = world.finish(command).expect(0);
    assert!(ran.stderr.contains("code 0") && !ran.stderr.contains("error"), "{}", ran.stderr);
}

#[test]
fn on_a_terminal_what_matched_has_a_colour_unless_it_may_not() {
    let world = world();
    world.run(&["search", "zebra"]).expect(0);
    let command = |extra: &[(&str, &str)]| {
        let mut command = world.command(&["search", "zebra"]);
        command.env("TERM", "xterm-256color").envs(extra.iter().copied());
        command
    };
    let coloured = Terminal::raw(&world, &command(&[]));
    assert_eq!(coloured.wait_exit(), 0);
    let written = coloured.written();
    assert!(written.contains("\u{1b}[33mzebra\u{1b}[0m"), "{written:?}");
    let plain = Terminal::raw(&world, &command(&[("NO_COLOR", "1")]));
    assert_eq!(plain.wait_exit(), 0);
    assert!(plain.written().contains("zebra") && !plain.written().contains("\u{1b}["), "{:?}", plain.written());
}
