//! Turns that go round in circles: each kind is stopped within its limit, after exactly one warning that is in the request
//! behind it, and the session goes on with the next prompt. Turns that get on are left alone, however monotonous.

use crate::checks::{outcome, sound, text};
use crate::scripts::{calls, runs, says};
use crate::world::{Backend, Ran, World, payloads};

/// What only a warning says.
const WARNING: &str = "if this goes on, the turn is ended";

/// A script of `steps`, the last of which is followed by the one at `back_to`. Each step has a twin, which is played when
/// the request says [`WARNING`]; the prompt `leave it at that` ends it all.
fn loops(steps: &[String], back_to: Option<usize>) -> String {
    let mut script = String::new();
    for (index, step) in steps.iter().enumerate() {
        let next = if index + 1 < steps.len() { Some(index + 1) } else { back_to };
        let then = next.map_or_else(String::new, |next| format!(", \"warned {next}\", \"step {next}\""));
        let next = format!("next = [\"out\"{then}]");
        for twin in [format!("name = \"step {index}\""), format!("name = \"warned {index}\"\nwhen = \"{WARNING}\"")] {
            script.push_str(&step.replacen("[[step]]", &format!("[[step]]\n{twin}\n{next}"), 1));
            script.push('\n');
        }
    }
    script + &says("with pleasure").replacen("[[step]]", "[[step]]\nname = \"out\"\nwhen = \"leave it at that\"", 1)
}

/// A world in which `files` lie in the workspace, each with its name as content.
fn world(script: &str, files: &[&str]) -> World {
    let world = World::new(Backend::Embedded, script);
    files.iter().for_each(|name| world.file(name, format!("{name}\n")));
    world
}

/// Runs `steps`, the last ones from `back_to` on for ever, and checks that `rule` warns after the answer number `warn` and
/// stops the turn after the answer number `stop`.
#[track_caller]
fn stopped(steps: &[String], back_to: usize, rule: &str, (warn, stop): (usize, usize)) {
    let world = world(&loops(steps, Some(back_to)), &["a", "b", "c", "d"]);
    let ran = world.run(&["run", "go"]);
    ended(&world, ran, rule, (warn, stop));
}

/// Checks that `ran` was the end of a turn of [`loops`] that was stopped, and that the session goes on.
#[track_caller]
fn ended(world: &World, ran: Ran, rule: &str, (warn, stop): (usize, usize)) {
    let ran = ran.expect(4);
    let events = sound(world);
    let warnings = payloads(&events, "turn.warned");
    let rules: Vec<&str> = warnings.iter().map(|warned| text(&warned["rule"])).collect();
    assert_eq!((rules.as_slice(), outcome(&events)), ([rule].as_slice(), "Stuck"), "{warnings:?}");
    let note = text(&payloads(&events, "turn.ended")[0]["note"]);
    assert!(note.contains("the model had been warned") && note.contains("hint: "), "{note}");
    assert!(ran.stderr.contains("the model had been warned"), "{}", ran.stderr);
    let answers = payloads(&events, "turn.answered").len();
    let requests = world.server.requests();
    let played: Vec<String> = requests.iter().filter_map(|request| request.step.clone()).collect();
    assert_eq!((answers, played.len()), (stop, stop), "{played:?}");
    let told: Vec<usize> = (0..played.len()).filter(|index| played[*index].starts_with("warned")).collect();
    assert_eq!(told, [warn], "the request behind the warning, and no other, says it: {played:?}");
    let ran = world.run(&["resume", "--last", "leave it at that"]).expect(0);
    assert!(ran.stdout.contains("with pleasure"), "{}", ran.stdout);
    assert_eq!(outcome(&sound(world)), "Completed");
}

/// Runs `steps` and a last word, and checks that the turn is completed; returns the rules that warned.
#[track_caller]
fn goes_on(steps: &[String], files: &[&str]) -> Vec<String> {
    let world = world(&[steps, &[says("all done")]].concat().join("\n"), files);
    let ran = world.run(&["run", "go"]).expect(0);
    assert!(ran.stdout.contains("all done"), "{}", ran.stdout);
    let events = sound(&world);
    assert_eq!(outcome(&events), "Completed");
    assert_eq!(payloads(&events, "turn.answered").len(), steps.len() + 1);
    payloads(&events, "turn.warned").iter().map(|warned| text(&warned["rule"]).to_owned()).collect()
}

fn reads(path: &str) -> String {
    calls("read_file", &format!("{{ path = \"{path}\" }}"))
}

fn edits(path: &str, old: &str, new: &str) -> String {
    calls("edit_file", &format!("{{ path = \"{path}\", old_string = \"{old}\", new_string = \"{new}\" }}"))
}

/// `step` with words before its calls.
fn saying(words: &str, step: &str) -> String {
    step.replacen("[[step.block]]", &format!("[[step.block]]\ntype = \"text\"\ntext = \"{words}\"\n[[step.block]]"), 1)
}

/// Two steps as one answer.
fn together(one: &str, other: &str) -> String {
    format!("{one}{}", other.replacen("[[step]]", "", 1))
}

#[test]
fn one_command_again_and_again() {
    stopped(&[runs("echo again")], 0, "same_call", (3, 4));
}

#[test]
fn a_command_that_differs_in_its_duration_only() {
    stopped(&[runs("echo \"1 failed in 0.$RANDOM s, pid $$\"")], 0, "same_call", (3, 4));
}

#[test]
fn the_same_call_with_other_words_each_time() {
    let steps: Vec<String> = (0..6).map(|n| saying(&format!("attempt {n}"), &runs("echo again"))).collect();
    stopped(&steps, 0, "same_call", (3, 4));
}

#[test]
fn the_same_input_written_in_two_ways() {
    let raw = |input: &str| calls("bash", "{}").replace("input = {}", &format!("raw_input = '{input}'"));
    let steps = [
        raw(r#"{"command":"echo again","timeout_ms":9000}"#),
        raw(r#"{ "timeout_ms": 9000, "command": "echo again" }"#),
    ];
    stopped(&steps, 0, "same_call", (3, 4));
}

#[test]
fn two_calls_in_one_answer_in_changing_order() {
    let steps = [together(&reads("a"), &reads("b")), together(&reads("b"), &reads("a"))];
    stopped(&steps, 0, "same_call", (3, 4));
}

#[test]
fn a_loop_that_begins_after_some_work() {
    let steps = [reads("a"), runs("echo work > made"), reads("made"), runs("echo again")];
    stopped(&steps, 3, "same_call", (6, 7));
}

#[test]
fn a_command_that_fails() {
    stopped(&[runs("cat nothing-here")], 0, "same_error", (2, 3));
}

#[test]
fn an_edit_that_does_not_fit() {
    stopped(&[edits("a", "no such text", "x")], 0, "same_error", (2, 3));
}

#[test]
fn a_tool_that_there_is_not() {
    stopped(&[calls("teleport", "{ to = \"done\" }")], 0, "same_error", (2, 3));
}

#[test]
fn an_input_that_is_refused() {
    stopped(&[calls("bash", "{ cmd = \"ls\" }")], 0, "same_error", (2, 3));
}

#[test]
fn the_same_words_with_the_same_call() {
    stopped(&[saying("let me check", &runs("echo again"))], 0, "same_words", (2, 3));
}

#[test]
fn the_same_words_without_a_call() {
    let paused = says("one moment").replacen("[[step]]", "[[step]]\nstop_reason = \"pause_turn\"", 1);
    stopped(&[paused], 0, "same_words", (2, 3));
}

#[test]
fn two_reads_by_turns() {
    stopped(&[reads("a"), reads("b")], 0, "alternation", (5, 6));
}

#[test]
fn an_edit_and_its_opposite() {
    stopped(&[reads("a"), edits("a", "a", "z"), edits("a", "z", "a")], 1, "alternation", (6, 7));
}

#[test]
fn three_steps_by_turns() {
    stopped(&[reads("a"), runs("echo b"), reads("c")], 0, "cycle", (8, 9));
}

#[test]
fn four_steps_by_turns() {
    stopped(&[reads("a"), runs("echo b"), reads("c"), runs("echo d")], 0, "no_progress", (11, 12));
}

#[test]
fn a_command_between_ever_new_reads() {
    let steps: Vec<String> = (1..7)
        .flat_map(|line| {
            [runs("echo again"), calls("read_file", &format!("{{ path = \"a\", offset = 1, limit = {line} }}"))]
        })
        .collect();
    stopped(&steps, 0, "often_again", (7, 9));
}

#[test]
fn the_same_reads_with_something_new_now_and_then() {
    let round = |n: usize| {
        let new = calls("read_file", &format!("{{ path = \"d\", offset = 1, limit = {n} }}"));
        [reads("a"), reads("b"), reads("c"), new]
    };
    let steps: Vec<String> = (1..8).flat_map(round).collect();
    stopped(&steps, 0, "reading_again", (22, 23));
}

#[test]
fn nothing_but_errors() {
    let steps: Vec<String> = (0..14).map(|n| runs(&format!("cat nothing-{n}"))).collect();
    stopped(&steps, 0, "only_errors", (11, 12));
}

#[test]
fn waiting_for_what_never_comes() {
    stopped(&[runs("sleep 0.01; cat log 2>/dev/null || echo not yet")], 0, "same_call", (19, 20));
}

#[test]
fn a_command_that_nobody_allows() {
    let world = world(&loops(&[runs("echo again")], Some(0)), &[]);
    let ran = world.run(&["run", "--approvals", "ask", "go"]);
    ended(&world, ran, "same_error", (2, 3));
    assert_eq!(payloads(&world.events(), "tool.denied").len(), 3);
}

#[test]
fn a_loop_through_which_the_process_dies() {
    for place in ["before append turn.warned", "after append turn.warned", "before append turn.ended"] {
        let world = world(&loops(&[reads("a"), reads("b")], Some(0)), &["a", "b"]);
        let killed = world.run_until(&format!("{place}=return"), &["run", "go"]);
        assert_eq!(killed.signal, Some(libc::SIGKILL), "{place}: {}", killed.stderr);
        let ran = world.run(&["resume", "--last"]);
        ended(&world, ran, "alternation", (5, 6));
    }
}

#[test]
fn a_loop_in_the_turn_after_a_loop_is_warned_of_anew() {
    let world = world(&loops(&[reads("a")], Some(0)), &["a"]);
    for turn in 1..=2 {
        world.run(if turn == 1 { &["run", "go"] } else { &["resume", "--last", "go"] }).expect(4);
        let events = sound(&world);
        let counts = ["turn.warned", "turn.answered", "turn.ended"].map(|kind| payloads(&events, kind).len());
        assert_eq!(counts, [turn, 4 * turn, turn]);
    }
}

#[test]
fn polling_something_that_changes_is_left_alone() {
    let steps = vec![runs("echo line >> log; wc -l < log"); 12];
    assert_eq!(goes_on(&steps, &[]), Vec::<String>::new());
}

#[test]
fn editing_and_testing_is_left_alone() {
    let round = |n: usize| {
        let write = calls("write_file", &format!("{{ path = \"a\", content = \"attempt {n}\" }}"));
        [write, runs("grep -q right a")]
    };
    let steps: Vec<String> = (0..8).flat_map(round).collect();
    assert_eq!(goes_on(&steps, &["a"]), Vec::<String>::new());
}

#[test]
fn editing_with_commands_and_testing_is_left_alone() {
    let round = |n: usize| [runs(&format!("sed -i s/a/attempt{n}/ a")), runs("grep -q right a")];
    let steps: Vec<String> = (0..8).flat_map(round).collect();
    assert_eq!(goes_on(&steps, &["a"]), Vec::<String>::new());
}

#[test]
fn reading_forty_files_is_left_alone() {
    let names: Vec<String> = (0..40).map(|n| format!("src/file{n}")).collect();
    let steps: Vec<String> = names.iter().map(|name| saying("let me see", &reads(name))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(goes_on(&steps, &names), Vec::<String>::new());
}

#[test]
fn a_retry_that_succeeds_is_warned_of_and_left_alone() {
    let steps = vec![runs("echo x >> tries; [ $(wc -l < tries) -ge 3 ] && echo up || { echo down; exit 1; }"); 3];
    assert_eq!(goes_on(&steps, &[]), ["same_error"]);
}

#[test]
fn waiting_a_while_is_left_alone() {
    let steps =
        vec![runs("sleep 0.01; echo x >> ticks; [ $(wc -l < ticks) -ge 15 ] && echo ready || echo not yet"); 15];
    assert_eq!(goes_on(&steps, &[]), Vec::<String>::new());
}
