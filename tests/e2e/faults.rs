//! Everything a network and an API do wrong: each failure is an event with its figures, nothing is run from a part of an
//! answer, and the session comes to its end all the same.

use crate::checks::{Running, kill, outcome, sound, sum, text, wait_for};
use crate::scripts::{says, script};
use crate::world::{Backend, World, payloads};
use serde_json::Value;

/// One fault and what must be in the log of it.
struct Case {
    fault: &'static str,
    failure: &'static str,
    status: Option<u64>,
    billed: bool,
    partial: bool,
    attempts: usize,
    retry_in_ms: std::ops::RangeInclusive<u64>,
}

/// The usual pause before the second attempt: half a second, less what chance takes off.
const FIRST: std::ops::RangeInclusive<u64> = 375..=500;

const fn case(fault: &'static str, failure: &'static str, status: Option<u64>, billed: bool, partial: bool) -> Case {
    Case { fault, failure, status, billed, partial, attempts: 1, retry_in_ms: FIRST }
}

const CASES: &[Case] = &[
    Case { retry_in_ms: 20..=20, ..case("status = 429\nretry_after_ms = 20", "RateLimited", Some(429), false, false) },
    Case {
        retry_in_ms: 1_000..=1_000,
        ..case("status = 429\nretry_after = 1", "RateLimited", Some(429), false, false)
    },
    Case {
        attempts: 2,
        retry_in_ms: 375..=1_000,
        ..case("status = 529\ntimes = 2", "Overloaded", Some(529), false, false)
    },
    case("status = 500", "Server", Some(500), false, false),
    case("status = 503\nerror_type = \"api_error\"", "Server", Some(503), false, false),
    case("status = 504", "Timeout", Some(504), false, false),
    case("status = 409", "Server", Some(409), false, false),
    case("error_mid_stream = \"overloaded_error\"\nafter_events = 3", "Overloaded", Some(200), true, true),
    case("error_mid_stream = \"api_error\"\nafter_bytes = 900", "Server", Some(200), true, true),
    case("cut_after_events = 0", "Unfinished", Some(200), true, false),
    case("cut_after_bytes = 100", "Unfinished", Some(200), true, false),
    case("cut_after_events = 1", "Unfinished", Some(200), true, true),
    case("cut_after_events = 4", "Unfinished", Some(200), true, true),
    case("cut_after_events = 8", "Unfinished", Some(200), true, true),
    case("end_after_events = 0", "Unfinished", Some(200), true, false),
    case("end_after_events = 5", "Unfinished", Some(200), true, true),
    case("end_after_events = 9", "Unfinished", Some(200), true, true),
];

/// One step a case; each has a text and a command that writes its call's id down.
fn steps(delivery: &str) -> String {
    // No two commands are alike: the same again and again would end the turn for that reason.
    let step = |(number, case): (usize, &Case)| {
        format!(
            "[[step]]\n[[step.block]]\ntype = \"text\"\ntext = \"I write it down now.\"\n\
             [[step.block]]\ntype = \"tool_use\"\nname = \"bash\"\n\
             input = {{ command = \"echo $RETRACE_CALL_ID {number} >> effects.log\" }}\n[[step.fault]]\n{}\n",
            case.fault
        )
    };
    let steps: Vec<String> = CASES.iter().enumerate().map(step).chain([says("All of it is written down.")]).collect();
    format!("{delivery}\n{}", script(&steps))
}

fn every_fault(backend: Backend, delivery: &str) {
    let world = World::new(backend, &steps(delivery));
    let ran = world.run(&["run", "--json", "write it down"]).expect(0);
    let events = sound(&world);
    let failed = payloads(&events, "turn.failed");
    let expected: Vec<&Case> = CASES.iter().flat_map(|case| std::iter::repeat_n(case, case.attempts)).collect();
    assert_eq!(failed.len(), expected.len(), "{failed:#?}");
    for (failed, case) in failed.iter().zip(&expected) {
        check_failure(&events, failed, case);
    }
    check_attempts(&events);
    let failures: Vec<_> = world.server.requests().into_iter().filter(|request| request.fault.is_some()).collect();
    assert_eq!(failures.len(), expected.len(), "every fault was played");
    for (failed, record) in failed.iter().zip(&failures) {
        assert_eq!(failed["request_id"], record.request_id.as_str(), "{}", failed["failure"]);
    }
    assert_eq!(world.server.requests().len(), expected.len() + CASES.len() + 1);
    // Nothing ran from a part of an answer: one effect for each whole one.
    let effects = world.read("effects.log");
    assert_eq!(effects.lines().count(), CASES.len(), "{effects}");
    assert_eq!(outcome(&events), "Completed");
    let summary: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(summary["summary"]["unknown_cost_microusd"], sum(&failed, "billed_microusd"));
    assert_eq!(summary["summary"]["cost_microusd"], sum(&payloads(&events, "turn.answered"), "cost_microusd"));
}

#[track_caller]
fn check_failure(events: &[Value], failed: &Value, case: &Case) {
    let what = format!("{}: {failed}", case.fault);
    assert_eq!(failed["failure"], case.failure, "{what}");
    assert_eq!(failed["status"].as_u64(), case.status, "{what}");
    let request = events.iter().find(|event| event["id"] == failed["request"]).unwrap();
    let bound = if case.billed { request["payload"]["cost_bound_microusd"].as_u64().unwrap() } else { 0 };
    assert_eq!(failed["billed_microusd"], bound, "{what}");
    assert!(!case.billed || bound > 0, "{what}");
    assert_eq!(failed["partial"].is_string(), case.partial, "{what}");
    assert!(case.retry_in_ms.contains(&failed["retry_in_ms"].as_u64().unwrap()), "{what}");
}

/// Attempts count from 1 at each step, and an attempt never starts before the pause after the last one is over.
fn check_attempts(events: &[Value]) {
    let mut attempt = 1;
    let mut not_before = 0;
    for event in events {
        match text(&event["kind"]) {
            "turn.requested" => {
                assert_eq!(event["payload"]["attempt"], attempt, "{event}");
                assert!(event["at_ms"].as_u64().unwrap() >= not_before, "too early: {event}");
            }
            "turn.failed" => {
                attempt += 1;
                not_before = event["at_ms"].as_u64().unwrap() + event["payload"]["retry_in_ms"].as_u64().unwrap();
            }
            "turn.answered" => attempt = 1,
            _ => {}
        }
    }
}

#[test]
fn every_fault_in_one_session_on_the_embedded_log() {
    every_fault(Backend::Embedded, "");
}

#[test]
fn every_fault_in_one_session_on_jetstream() {
    every_fault(Backend::JetStream, "");
}

#[test]
fn frames_split_anywhere_and_odd_ones_make_no_difference() {
    let words = "naïve café 漢字 🦀 e\u{301} \\u0000 \"quoted\"\\n";
    let mut outputs = Vec::new();
    for delivery in
        ["", "split = 1\ndelta_chars = 1", "split = 7\nodd = true", "split = 3\ndelta_chars = 2\nodd = true"]
    {
        let steps = [
            crate::scripts::calls(
                "write_file",
                &format!("{{ path = \"words.txt\", content = {} }}", serde_json::to_string(words).unwrap()),
            ),
            says(words),
        ];
        let world = World::new(Backend::Embedded, &format!("[delivery]\n{delivery}\n{}", script(&steps)));
        let ran = world.run(&["run", "go"]).expect(0);
        assert_eq!(world.read("words.txt"), words, "{delivery}");
        let events = sound(&world);
        assert!(payloads(&events, "turn.failed").is_empty(), "{delivery}");
        outputs.push((
            ran.stdout,
            payloads(&events, "turn.answered").iter().map(|a| a["content"].clone()).collect::<Vec<_>>(),
        ));
    }
    assert!(outputs.windows(2).all(|pair| pair[0].0 == pair[1].0), "the delivery is seen in the answer: {outputs:?}");
}

#[test]
fn with_its_attempts_used_up_the_turn_ends_and_the_session_goes_on_later() {
    for backend in [Backend::Embedded, Backend::JetStream] {
        let fault = "[[step.fault]]\nstatus = 529\nretry_after_ms = 5\ntimes = 2\n";
        let world = World::new(backend, &format!("{}{fault}", says("at last")));
        let ran = world.run(&["run", "--max-attempts", "2", "go"]).expect(5);
        assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
        let events = sound(&world);
        assert_eq!(outcome(&events), "RequestFailed");
        let failed = payloads(&events, "turn.failed");
        assert_eq!((failed.len(), &failed[1]["retry_in_ms"]), (2, &Value::Null));
        // Another prompt is another request, at which the fault strikes afresh.
        let ran = world.run(&["resume", "--last", "--max-attempts", "3", "and now?"]).expect(0);
        assert!(ran.stdout.contains("at last"), "{}", ran.stdout);
        let events = sound(&world);
        assert_eq!((outcome(&events), payloads(&events, "turn.failed").len()), ("Completed", 4));
    }
}

#[test]
fn what_cannot_succeed_is_not_tried_again() {
    for (fault, failure) in [
        ("status = 400", "InvalidRequest"),
        ("status = 403", "Permission"),
        ("status = 413", "TooLarge"),
        ("status = 500\nshould_retry = false", "Server"),
        ("error_mid_stream = \"invalid_request_error\"", "InvalidRequest"),
        ("status = 429\nretry_after = 7200", "RateLimited"),
    ] {
        let world = World::new(Backend::Embedded, &format!("{}[[step.fault]]\n{fault}\n", says("never")));
        world.run(&["run", "go"]).expect(5);
        let events = sound(&world);
        let failed = payloads(&events, "turn.failed");
        assert_eq!((failed.len(), &failed[0]["failure"]), (1, &failure.into()), "{fault}");
        assert_eq!(outcome(&events), "RequestFailed", "{fault}");
    }
}

#[test]
fn killed_while_the_server_is_silent_the_answer_counts_as_billed_and_is_asked_for_again() {
    for (backend, fault) in [(Backend::Embedded, "stall_after_events = 5"), (Backend::JetStream, "hang = true")] {
        let world = World::new(backend, &format!("{}[[step.fault]]\n{fault}\n", says("here I am")));
        let running = Running::start(&world, world.command(&["run", "go"]));
        wait_for("the request", || !world.server.requests().is_empty());
        kill(running.pid, libc::SIGKILL);
        assert_eq!(running.end(&world).signal, Some(libc::SIGKILL));
        let ran = world.run(&["resume", "--last"]).expect(0);
        assert!(ran.stdout.contains("here I am"), "{}", ran.stdout);
        let events = sound(&world);
        let failed = payloads(&events, "turn.failed");
        assert_eq!((failed.len(), &failed[0]["failure"]), (1, &"Lost".into()), "{fault}");
        assert_eq!(failed[0]["billed_microusd"], payloads(&events, "turn.requested")[0]["cost_bound_microusd"]);
        let attempts: Vec<_> = payloads(&events, "turn.requested").iter().map(|r| r["attempt"].clone()).collect();
        assert_eq!(attempts, [1, 1], "our own crash is no attempt of the server's");
    }
}
