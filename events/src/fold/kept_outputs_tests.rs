//! What a state keeps does not grow with the session: not of outputs, and not of all else.

use super::kept_outputs::{KeptOutputs, MAX_OUTPUTS};
use super::tests::{Chain, answer, called, epoch, finished, prompt, request, started};
use crate::blob::BlobRef;
use crate::hash::Hash;
use crate::id::CallId;
use crate::payload::context::ContextEpochStarted;
use crate::payload::tool::{ToolEffect, ToolFinished};
use crate::payload::turn::{TurnEnded, TurnOutcome};

fn call(number: usize) -> CallId {
    CallId(format!("toolu_{number}"))
}

fn blob(number: usize) -> BlobRef {
    BlobRef { hash: Hash::of(number.to_string().as_bytes()), size_bytes: number as u64 }
}

#[test]
fn the_newest_outputs_are_known_and_the_oldest_go() {
    let mut outputs = KeptOutputs::default();
    (0..MAX_OUTPUTS + 5).for_each(|number| outputs.insert(call(number), blob(number)));
    assert_eq!(outputs.get(&call(4)), None);
    assert_eq!(outputs.get(&call(5)), Some(&blob(5)));
    assert_eq!(outputs.get(&call(MAX_OUTPUTS + 4)), Some(&blob(MAX_OUTPUTS + 4)));
}

#[test]
fn a_second_output_of_a_call_takes_the_place_of_the_first_and_no_room() {
    let mut outputs = KeptOutputs::default();
    outputs.insert(call(0), blob(0));
    (0..MAX_OUTPUTS).for_each(|number| outputs.insert(call(1), blob(number)));
    assert_eq!(outputs.get(&call(0)), Some(&blob(0)));
    assert_eq!(outputs.get(&call(1)), Some(&blob(MAX_OUTPUTS - 1)));
}

#[test]
fn a_copy_stays_as_it_is() {
    let mut outputs = KeptOutputs::default();
    outputs.insert(call(0), blob(0));
    let copy = outputs.clone();
    outputs.insert(call(1), blob(1));
    assert_eq!((copy.get(&call(0)), copy.get(&call(1))), (Some(&blob(0)), None));
}

/// Steps with ten calls for each turn and thirty for each epoch; how much the state holds after so many, as text.
fn held(chain: &mut Chain, steps: std::ops::Range<usize>) -> usize {
    let mut from_seq = 0;
    for step in steps {
        if step % 10 == 0 {
            if step > 0 {
                chain.push(TurnEnded { outcome: TurnOutcome::Completed, note: "done".to_owned() });
            }
            from_seq = chain.state.next_seq();
            chain.push(prompt(&format!("prompt {step:06} {}", "word ".repeat(50))));
        }
        if step % 30 == 0 {
            chain.push(ContextEpochStarted { from_seq, number: 1, ..epoch() });
        }
        let id = format!("toolu_{step:06}");
        let asked = chain.push(request(chain.state.epoch.as_ref().unwrap().event));
        let content = format!(
            r#"[{{"type":"tool_use","id":"{id}","name":"bash","input":{{"command":"{}"}}}}]"#,
            "ls ".repeat(90)
        );
        let answered = chain.push(answer(asked, &content, "tool_use"));
        chain.push(called(&id, ToolEffect::Writes, answered));
        let output = (step % MAX_OUTPUTS < 40).then(|| blob(step));
        chain.push(ToolFinished { output, ..finished(&id, &"a line of output\n".repeat(40)) });
    }
    format!("{:?}", chain.state).len()
}

#[test]
fn a_state_is_no_larger_after_four_times_as_many_steps() {
    let mut chain = Chain::new();
    chain.push(started());
    let short = held(&mut chain, 0..300);
    let long = held(&mut chain, 300..1_200);
    assert!(long < short + short / 50, "{short} bytes after 300 steps, {long} after 1200");
    assert!(short > 20_000, "nothing is kept at all: {short}");
}
