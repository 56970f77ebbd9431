//! Random conversations with crashes at random places: whatever happens, every call has exactly one result, the server
//! refuses nothing, and the log verifies.

use super::*;
use proptest::prelude::*;
use std::fmt::Write as _;

/// One call of a random answer.
#[derive(Debug, Clone, Copy)]
enum RandomCall {
    Read,
    ReadMissing,
    List,
    Write,
    Append,
    Fails,
    Broken,
    Unknown,
}

/// One random answer: its calls, and whether its delivery fails once.
#[derive(Debug, Clone)]
struct RandomStep {
    calls: Vec<RandomCall>,
    fault: Option<&'static str>,
    is_cut: bool,
}

impl RandomCall {
    fn toml(self, number: usize) -> String {
        let (name, input) = match self {
            Self::Read => ("read_file", "input = { path = 'a.txt' }".to_owned()),
            Self::ReadMissing => ("read_file", "input = { path = 'missing' }".to_owned()),
            Self::List => ("list_dir", "input = {}".to_owned()),
            Self::Write => ("write_file", format!("input = {{ path = 'w{number}', content = 'w' }}")),
            Self::Append => ("bash", format!("input = {{ command = 'echo x >> b{number}' }}")),
            Self::Fails => ("bash", "input = { command = 'exit 7' }".to_owned()),
            Self::Broken => ("write_file", "raw_input = '{\"path\": '".to_owned()),
            Self::Unknown => ("teleport", "input = { to = 'mars' }".to_owned()),
        };
        format!("  {{ type = 'tool_use', name = '{name}', {input} }},\n")
    }
}

fn script(steps: &[RandomStep]) -> String {
    let mut text = String::new();
    let mut number = 0;
    for step in steps {
        text.push_str("[[step]]\n");
        if step.is_cut {
            text.push_str("stop_reason = 'max_tokens'\n");
        }
        if let Some(fault) = step.fault {
            let _ = writeln!(text, "fault = [{{ {fault} }}]");
        }
        text.push_str("block = [\n  { type = 'text', text = 'next' },\n");
        for call in &step.calls {
            text.push_str(&call.toml(number));
            number += 1;
        }
        text.push_str("]\n");
    }
    text.push_str(&"[[step]]\nblock = [{ type = 'text', text = 'done' }]\n".repeat(2));
    text
}

fn steps() -> impl Strategy<Value = Vec<RandomStep>> {
    use RandomCall::{Append, Broken, Fails, List, Read, ReadMissing, Unknown, Write};
    let call = proptest::sample::select(vec![Read, ReadMissing, List, Write, Append, Fails, Broken, Unknown]);
    let fault = proptest::option::weighted(
        0.2,
        proptest::sample::select(vec![
            "status = 529, retry_after_ms = 1",
            "status = 429, retry_after_ms = 1",
            "cut_after_events = 4",
        ]),
    );
    let step = (proptest::collection::vec(call, 1..5), fault, proptest::bool::weighted(0.1));
    let step = step.prop_map(|(calls, fault, is_cut)| RandomStep { calls, fault, is_cut });
    proptest::collection::vec(step, 0..4)
}

/// Plays `steps`, crashing after so many events of each run, and checks the log at every crash and at the end.
async fn play(steps: &[RandomStep], crashes: &[usize]) {
    let world = World::with(&script(steps)).await;
    world.put("a.txt", "alpha");
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    let mut end = None;
    for crash_after in crashes {
        let mut seen = 0;
        end = run_until(&mut agent, |live| {
            seen += usize::from(matches!(live, Live::Logged(_)));
            seen >= *crash_after
        })
        .await;
        if end.is_some() {
            break;
        }
        agent.close().await;
        world.check().await;
        agent = world.resume().await;
    }
    let is_over = end.is_some();
    let last = agent.run().await.unwrap();
    let end = end.unwrap_or(last);
    // `Idle` when the crash came right after the turn's last event.
    assert!(is_over || matches!(end, TurnEnd::Ended { .. } | TurnEnd::Idle), "{end:?}");
    assert!(agent.state().turn.is_none() && agent.state().calls.is_empty());
    assert_eq!(world.count("turn.ended").await, 1);
    world.check().await;
    // No effect came twice: each command appends one line to a file of its own.
    let payloads = world.payloads().await;
    for number in 0..steps.iter().map(|step| step.calls.len()).sum() {
        if let Some(text) = world.file(&format!("b{number}")) {
            // Only a command that a crash cut short may have opened its file and written nothing.
            let cut_short = text.is_empty() && !has_finished(&payloads, number);
            assert!(text == "x\n" || cut_short, "command {number} left {text:?}");
        }
    }
    // The conversation is whole: another prompt is taken, and the answers that are left over are played.
    agent.prompt("and on", PromptSource::Local, Vec::new()).await.unwrap();
    let end = agent.run().await.unwrap();
    assert!(matches!(end, TurnEnd::Ended { .. }), "{end:?}");
    world.check().await;
}

/// Whether the log has a result of the command that appends to file `number`.
fn has_finished(payloads: &[Payload], number: usize) -> bool {
    let file = format!(">> b{number}\"");
    let call = payloads.iter().find_map(|payload| match payload {
        Payload::Tool(Tool::Called(called)) if called.input.contains(&file) => Some(&called.call),
        _ => None,
    });
    let is_result =
        |payload: &Payload| matches!(payload, Payload::Tool(Tool::Finished(done)) if Some(&done.call) == call);
    payloads.iter().any(is_result)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn crashes_anywhere_leave_a_whole_conversation(
        steps in steps(),
        crashes in proptest::collection::vec(1_usize..9, 0..4),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(play(&steps, &crashes));
    }
}
