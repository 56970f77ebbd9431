//! What is kept of a session does not grow with its length, when it rotates from time to time.

use super::Growing;
use crate::context::past::Past;

/// How much a past holds, as text.
fn held(past: &Past) -> usize {
    let Past { prompts, plan, cursor, cover, working, .. } = past;
    format!("{prompts:?}{plan:?}{cursor:?}{cover:?}{working:?}").len()
}

/// Steps that print forty lines each, ten for each prompt.
async fn go_on(session: &mut Growing, steps: std::ops::Range<usize>) {
    for step in steps {
        if step % 10 == 0 {
            session.prompt(&format!("prompt {step} {}", "of some words ".repeat(20))).await;
        }
        let lines: Vec<String> = (0..40).map(|line| format!("{step}: line {line} of the output")).collect();
        session.step(&format!("make step{step}"), &lines.join("\n")).await;
        if step % 10 == 9 {
            session.end().await;
            session.rotate().await;
        }
    }
}

#[tokio::test]
async fn a_past_is_no_larger_after_twice_as_many_steps() {
    let mut session = Growing::new();
    go_on(&mut session, 0..2_100).await;
    let past = session.past().await;
    let _ = past.seed(u64::MAX, 20_000);
    let short = held(&past);
    go_on(&mut session, 2_100..4_200).await;
    let past = session.past().await;
    let _ = past.seed(u64::MAX, 20_000);
    let long = held(&past);
    // For each of the newest 20,000 events it is known when it was: these are not all there yet.
    assert!(long < short + short / 10, "{short} bytes after 2100 steps, {long} after 4200");
    assert!(short > 500_000, "nothing is kept at all: {short}");
}
