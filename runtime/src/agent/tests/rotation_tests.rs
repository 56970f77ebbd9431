//! A context that is full begins afresh, and the work goes on.

use super::*;
use retrace_events::payload::Context;
use retrace_events::payload::context::ContextSource;
use std::collections::HashSet;

const TASK: &str = "count to ninety, and mind that the secret word is rhododendron";

async fn counting(budget_tokens: u64) -> (World, AgentParts) {
    let mut world = World::with(&counts(90)).await;
    world.settings.thinking = Some(r#"{"type":"adaptive"}"#.to_owned());
    let parts = AgentParts { context_tokens: Some(budget_tokens), ..world.parts() };
    (world, parts)
}

#[tokio::test]
async fn a_job_of_any_length_stays_within_its_budget() {
    const BUDGET: u64 = 24_000;
    let (world, parts) = counting(BUDGET).await;
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    agent.prompt(TASK, PromptSource::Local, Vec::new()).await.unwrap();
    let end = agent.run().await.unwrap();
    agent.close().await;
    assert_eq!(end, completed());
    world.check().await;
    let requests = world.requests();
    assert_eq!(requests.len(), 91, "nothing was done twice, and nothing was left out");
    let epochs = world.epochs().await;
    assert!(epochs.len() >= 4, "{} epochs", epochs.len());
    // A step is about 1,100 tokens; the estimate is of the step before.
    for request in &requests {
        let tokens = request.input_tokens + request.cache_creation_input_tokens + request.cache_read_input_tokens;
        assert!(tokens <= BUDGET + 1_500, "request {} has {tokens} tokens", request.index);
    }
    // What the user said is there word for word, and what was done in a few words.
    for epoch in &epochs[1..] {
        assert!(epoch.why.contains("tokens"), "{}", epoch.why);
        assert!(epoch.seed.iter().any(|it| it.text == TASK && matches!(it.source, ContextSource::Prompt(_))));
        assert!(epoch.seed.iter().any(|it| matches!(it.source, ContextSource::Summary(_))), "{:?}", epoch.seed);
        let seed_tokens: u64 = epoch.seed.iter().map(|passage| u64::from(passage.tokens)).sum();
        assert!(seed_tokens <= BUDGET / 4, "the seed has {seed_tokens} tokens");
    }
    // The newest steps are kept as they were: the count goes on.
    assert_eq!(world.file("n").unwrap().trim(), "90");
}

#[tokio::test]
async fn that_there_is_no_index_is_said_once() {
    let (world, parts) = counting(24_000).await;
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    let (mut live, last) = (agent.parts.live.listen(), agent.parts.live.clone());
    let heard = tokio::spawn(async move {
        let mut heard = Vec::new();
        loop {
            match live.recv().await {
                Ok(Live::Notice(notice)) if notice == "that is all" => return heard,
                Ok(Live::Notice(notice)) => heard.push(notice),
                Ok(_) => {}
                Err(error) => heard.push(error.to_string()),
            }
        }
    });
    agent.prompt(TASK, PromptSource::Local, Vec::new()).await.unwrap();
    agent.run().await.unwrap();
    agent.close().await;
    last.send(Live::Notice("that is all".to_owned()));
    assert!(world.epochs().await.len() >= 4);
    let heard = heard.await.unwrap();
    let said = heard.iter().filter(|notice| notice.contains("begins afresh with what this session itself knows"));
    let [said] = said.collect::<Vec<_>>()[..] else { panic!("not once: {heard:?}") };
    assert!(said.contains("there is no index") && said.contains("hint: "), "{said}");
}

#[tokio::test]
async fn a_session_that_is_resumed_rotates_as_one_that_was_not() {
    let (world, parts) = counting(24_000).await;
    let mut agent = Agent::start(parts.clone(), world.new_session()).await.unwrap();
    agent.prompt(TASK, PromptSource::Local, Vec::new()).await.unwrap();
    let mut rounds = 0;
    // Left and resumed at many places, in the middle of epochs and right behind their beginning.
    loop {
        let cancel = agent.parts.cancel.clone();
        let mut live = agent.parts.live.listen();
        let stop_at = 7 + rounds % 5;
        let stopper = tokio::spawn(async move {
            let mut answered = 0;
            while let Ok(seen) = live.recv().await {
                if matches!(&seen, Live::Logged(event) if event.envelope.kind == "turn.requested") {
                    answered += 1;
                    if answered == stop_at {
                        cancel.cancel();
                    }
                }
            }
        });
        let end = agent.run().await.unwrap();
        drop(agent);
        stopper.abort();
        if end == completed() {
            break;
        }
        rounds += 1;
        assert!(rounds < 60, "it does not come to an end");
        let again = AgentParts { cancel: CancellationToken::new(), context_tokens: Some(24_000), ..world.parts() };
        agent = Agent::resume(again, stream(), None).await.unwrap();
        if agent.state().turn.is_none() {
            agent.prompt("go on", PromptSource::Local, Vec::new()).await.unwrap();
        }
    }
    assert!(rounds >= 5, "{rounds}");
    assert!(world.epochs().await.len() >= 4);
    assert_eq!(world.file("n").unwrap().trim(), "90");
    world.check().await;
}

#[tokio::test]
async fn a_prompt_that_no_window_takes_ends_the_turn_with_words() {
    let world = World::with("[[step]]\nblock = [{ type = 'text', text = 'ok' }]\n").await;
    let (agent, end) = world.ask(&"word ".repeat(900_000)).await;
    agent.close().await;
    assert_eq!(outcome(&end), Some(TurnOutcome::ContextFull));
    assert!(matches!(&end, TurnEnd::Ended { note, .. } if note.contains("hint:")), "{end:?}");
    assert!(world.requests().iter().all(|request| request.refusal.is_none()), "it was sent all the same");
}

#[tokio::test]
async fn a_window_that_is_smaller_than_known_is_met_by_one_fresh_epoch() {
    let mut world = World::with(&counts(90)).await;
    // The server's models have windows of 20,000 tokens; ours are said to have a million.
    world.server = World::with_window(&counts(90), 20_000).await;
    world.settings.base_url = world.server.base_url();
    let mut agent = world.start().await;
    agent.prompt(TASK, PromptSource::Local, Vec::new()).await.unwrap();
    let end = agent.run().await.unwrap();
    agent.close().await;
    assert_eq!(end, completed());
    let epochs = world.epochs().await;
    assert!(epochs.len() >= 3, "{} epochs", epochs.len());
    assert!(epochs[1].why.contains("window"), "{}", epochs[1].why);
    assert!(epochs[2].why.contains("tokens"), "it has learned: {}", epochs[2].why);
    let refused = world.requests().into_iter().filter(|request| request.refusal.is_some()).count();
    assert_eq!(refused, 1);
    assert_eq!(world.file("n").unwrap().trim(), "90");
}

/// Eight files are read, and then spoken of while something else fills the context.
fn reads() -> String {
    let read = |n: u32| {
        format!("[[step.block]]\ntype = \"tool_use\"\nname = \"read_file\"\ninput = {{ path = \"part{n}.rs\" }}\n")
    };
    let reads: String = (1..=8).map(read).collect();
    let count = r#"
[[step]]
name = "count"
next = ["enough", "count"]
fault = [{ status = 529, retry_after_ms = 1 }]
[[step.block]]
type = "text"
text = "compute_value of part1.rs part2.rs part3.rs part4.rs part5.rs part6.rs part7.rs part8.rs is next"
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; echo \"count $n\"; if [ $n -ge 60 ]; then echo that is enough; fi; head -c 3000 /dev/zero | tr '\\0' x" }

[[step]]
name = "enough"
when = "that is enough"
block = [{ type = "text", text = "counted" }]
"#;
    format!("[[step]]\n{reads}{count}")
}

#[tokio::test]
async fn what_an_epoch_lacks_comes_once_before_a_request_and_within_bounds() {
    const BUDGET: u64 = 24_000;
    let world = World::with(&reads()).await;
    for part in 1..=8 {
        let lines: String = (0..100).map(|n| format!("let part{part}_{n} = compute_value(input, {n});\n")).collect();
        world.put(&format!("part{part}.rs"), &lines);
    }
    let parts = AgentParts { context_tokens: Some(BUDGET), ..world.parts() };
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    agent.prompt(TASK, PromptSource::Local, Vec::new()).await.unwrap();
    let end = agent.run().await.unwrap();
    agent.close().await;
    assert_eq!(end, completed());
    world.check().await;
    let (mut epochs, mut since_request, mut retrieved, mut epoch_tokens) = (0, 0, 0, 0);
    let mut shown: HashSet<String> = HashSet::new();
    for payload in world.payloads().await {
        match payload {
            Payload::Context(Context::EpochStarted(_)) => {
                (epochs, epoch_tokens) = (epochs + 1, 0);
                shown.clear();
            }
            // Each request is refused once and sent again: as it was.
            Payload::Turn(Turn::Answered(_)) => since_request = 0,
            Payload::Context(Context::Retrieved(found)) => {
                assert!(epochs > 1, "the first epoch holds everything");
                since_request += 1;
                retrieved += 1;
                assert_eq!(since_request, 1, "once before a request");
                let tokens: u64 = found.passages.iter().map(|passage| u64::from(passage.tokens)).sum();
                epoch_tokens += tokens;
                assert!(tokens <= 1_500, "{tokens} tokens at once");
                for passage in &found.passages {
                    // Runs begin with a line that stands already; whole passages never come twice.
                    assert!(shown.insert(passage.text.clone()), "twice in an epoch: {}", passage.text);
                }
            }
            _ => {}
        }
        assert!(epoch_tokens <= BUDGET / 4, "{epoch_tokens} tokens in an epoch");
    }
    assert!(epochs >= 3 && retrieved >= 5, "{epochs} epochs, {retrieved} times");
    for request in world.requests() {
        let tokens = request.input_tokens + request.cache_creation_input_tokens + request.cache_read_input_tokens;
        assert!(tokens <= BUDGET + 3_000, "request {} has {tokens} tokens", request.index);
    }
}
