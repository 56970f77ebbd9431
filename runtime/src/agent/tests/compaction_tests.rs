//! Summaries by the API: the work goes on behind them, whatever becomes of the request for one.

use super::asking::Serving;
use super::*;
use crate::agent::AgentOrder;
use retrace_events::payload::Context;
use retrace_events::payload::context::{ContextCompactionFailed, ContextEpochStarted, ContextSource};
use retrace_events::payload::turn::TurnFailure;

const BUDGET: u64 = 24_000;
const TASK: &str = "count to fifty";

async fn world(compaction: &str) -> World {
    let mut world = World::with(&format!("{}\n{compaction}", counts(50))).await;
    world.settings.thinking = Some(r#"{"type":"adaptive"}"#.to_owned());
    world.put("AGENTS.md", "use tabs");
    world
}

fn parts(world: &World) -> AgentParts {
    AgentParts { context_tokens: Some(BUDGET), api_compaction: true, ..world.parts() }
}

async fn begun(world: &World) -> Agent {
    let mut agent = Agent::start(parts(world), world.new_session()).await.unwrap();
    agent.prompt(TASK, PromptSource::Local, Vec::new()).await.unwrap();
    agent
}

async fn contexts(world: &World) -> Vec<Context> {
    let payloads = world.payloads().await.into_iter();
    payloads.filter_map(|payload| if let Payload::Context(context) = payload { Some(context) } else { None }).collect()
}

async fn failures(world: &World) -> Vec<ContextCompactionFailed> {
    let contexts = contexts(world).await.into_iter();
    contexts.filter_map(|it| if let Context::CompactionFailed(failed) = it { Some(failed) } else { None }).collect()
}

/// Everything was counted, once, and nothing was refused.
async fn finished(world: &World, end: TurnEnd) {
    assert_eq!(end, completed());
    assert_eq!(world.file("n").unwrap().trim(), "50");
    world.check().await;
}

#[tokio::test]
async fn the_work_goes_on_behind_the_apis_summary_with_its_thinking() {
    let world = world("").await;
    let mut agent = begun(&world).await;
    let end = agent.run().await.unwrap();
    agent.close().await;
    finished(&world, end).await;
    let epochs = world.epochs().await;
    assert!(epochs.len() >= 3, "{} epochs", epochs.len());
    for epoch in &epochs[1..] {
        let block = epoch.compacted.as_ref().expect("a seed of our own");
        assert!(block.contains("Summary of") && epoch.seed.is_empty(), "{epoch:?}");
        assert_eq!((&epoch.system, &epoch.tools), (&epochs[0].system, &epochs[0].tools));
    }
    // Instruction files are put at the tail again.
    let restated = contexts(&world).await.into_iter().filter(|context| match context {
        Context::Retrieved(found) => {
            found.passages.iter().any(|it| it.source == ContextSource::Instructions("AGENTS.md".into()))
        }
        _ => false,
    });
    assert_eq!(restated.count(), epochs.len() - 1);
    // The turn went on meanwhile, so the budget is passed by little, and the summary was read from the cache.
    let mut summaries = 0;
    for request in world.requests() {
        let tokens = request.input_tokens + request.cache_creation_input_tokens + request.cache_read_input_tokens;
        assert!(tokens <= BUDGET + 1_500, "request {} has {tokens} tokens", request.index);
        if request.step.as_deref() == Some("compaction") {
            summaries += 1;
            assert!(request.cache_read_input_tokens * 10 > tokens * 9, "{request:?}");
        }
    }
    // The last one may have come when there was no request left to put it in place for.
    assert!((epochs.len() - 1..=epochs.len()).contains(&summaries), "{summaries} for {} epochs", epochs.len());
    let state = retrace_events::fold::load(&world.log, &stream()).await.unwrap();
    let used = |payload: &Payload| match payload {
        Payload::Turn(Turn::Answered(answer)) => answer.usage.total_input_tokens(),
        Payload::Context(Context::CompactionAnswered(answer)) => {
            assert!(answer.usage.cache_read_tokens > 0 && answer.cost_microusd > 0, "{answer:?}");
            answer.usage.total_input_tokens()
        }
        _ => 0,
    };
    let used: u64 = world.payloads().await.iter().map(used).sum();
    assert_eq!(state.totals.usage.total_input_tokens(), used, "what summaries used is counted");
    assert_eq!(state.totals.steps, 51);
}

#[tokio::test]
async fn whatever_the_api_answers_instead_the_context_begins_afresh_with_our_own_seed() {
    for (compaction, attempts) in [
        ("[compaction]\nfault = [{ status = 529, times = 9 }]", 1),
        ("[compaction]\nfault = [{ status = 400, message = 'no', times = 9 }]", 1),
        ("[compaction]\nfault = [{ cut_after_events = 1, times = 9 }]", 1),
        ("[compaction]\nstop_reason = 'refusal'", 1),
        ("[compaction]\nstop_reason = 'tool_use'", 1),
    ] {
        let world = world(compaction).await;
        let mut agent = begun(&world).await;
        let mut live = agent.parts.live.listen();
        let end = agent.run().await.unwrap();
        agent.close().await;
        finished(&world, end).await;
        let epochs = world.epochs().await;
        assert!(epochs.len() >= 2, "{compaction}");
        assert!(epochs[1..].iter().all(|epoch| epoch.compacted.is_none() && !epoch.seed.is_empty()), "{compaction}");
        let asked = world.count("context.compaction_requested").await;
        assert!(asked >= attempts && asked <= 2 * epochs.len(), "{compaction}: {asked} attempts");
        let mut said = false;
        while let Ok(live) = live.try_recv() {
            said |= matches!(live, Live::Notice(notice) if notice.contains("no summary by the API"));
        }
        assert!(said, "{compaction}: nobody was told");
    }
}

#[tokio::test]
async fn a_model_without_summaries_is_never_asked_for_one() {
    let mut world = world("").await;
    world.settings.model = "claude-haiku-4-5".to_owned();
    world.settings.thinking = None;
    let mut agent = begun(&world).await;
    let end = agent.run().await.unwrap();
    agent.close().await;
    finished(&world, end).await;
    assert!(world.epochs().await.len() >= 2);
    assert_eq!(world.count("context.compaction_requested").await, 0);
}

#[tokio::test]
async fn a_process_that_dies_at_any_place_around_a_summary_leaves_nothing_open() {
    for kind in ["context.compaction_requested", "context.compaction_answered", "context.epoch_started"] {
        let world = world("[compaction]\nsummary = 'so far, so good'").await;
        let mut agent = begun(&world).await;
        let mut seen = 0;
        let dies = |live: &Live| {
            seen += u32::from(is_logged(live, kind));
            // The first epoch is the session's.
            seen == 1 + u32::from(kind == "context.epoch_started")
        };
        assert_eq!(run_until(&mut agent, dies).await, None, "{kind}");
        drop(agent);
        let mut agent = Agent::resume(parts(&world), stream(), None).await.unwrap();
        let end = agent.run().await.unwrap();
        agent.close().await;
        finished(&world, end).await;
        let lost = failures(&world).await;
        if kind == "context.compaction_requested" {
            assert_eq!(lost.len(), 1);
            assert_eq!((lost[0].failure, lost[0].retry_in_ms), (TurnFailure::Lost, Some(0)));
            assert!(lost[0].billed_microusd > 0);
        } else {
            assert!(lost.is_empty(), "{kind}: {lost:?}");
        }
        assert!(world.epochs().await[1].compacted.is_some(), "{kind}");
    }
}

#[tokio::test]
async fn a_session_that_is_left_settles_the_summary_that_is_on_its_way() {
    let world = world("[compaction]\nfault = [{ hang = true }]").await;
    let mut agent = begun(&world).await;
    let asked = |live: &Live| is_logged(live, "context.compaction_requested");
    assert_eq!(run_until(&mut agent, asked).await, None);
    agent.close().await;
    let failed = failures(&world).await;
    assert_eq!(failed.iter().map(|failed| failed.failure).collect::<Vec<_>>(), [TurnFailure::Cancelled]);
    let state = retrace_events::fold::load(&world.log, &stream()).await.unwrap();
    assert_eq!(state.compaction.asked, None);
    assert!(state.compaction.again_at.is_some(), "whoever goes on may ask again");
    // Or not: the session does not depend on it.
    let without = AgentParts { api_compaction: false, ..parts(&world) };
    let mut agent = Agent::resume(without, stream(), None).await.unwrap();
    let end = agent.run().await.unwrap();
    agent.close().await;
    finished(&world, end).await;
    assert!(world.epochs().await[1..].iter().all(|epoch| epoch.compacted.is_none()));
}

const TALK: &str = "
[[step]]
block = [{ type = 'thinking', text = 'hm' }, { type = 'text', text = 'first' }]
[[step]]
block = [{ type = 'thinking', text = 'so' }, { type = 'text', text = 'second' }]
[[step]]
block = [{ type = 'thinking', text = 'and' }, { type = 'text', text = 'third' }]
[compaction]
summary = 'we talked'
";

/// A session of two turns in which the user then wishes for a summary, and a third turn.
async fn wished(api_compaction: bool, script: &str) -> (World, Vec<ContextEpochStarted>) {
    let mut world = World::with(script).await;
    world.settings.thinking = Some(r#"{"type":"adaptive"}"#.to_owned());
    let parts = AgentParts { api_compaction, ..world.parts() };
    let agent = Agent::start(parts, world.new_session()).await.unwrap();
    let mut serving = Serving::begin(agent);
    serving.orders.send(AgentOrder::Compact).await.unwrap();
    for words in ["one", "two"] {
        serving.send_prompt(words).await;
        serving.wait_for("turn.ended").await;
    }
    serving.orders.send(AgentOrder::Compact).await.unwrap();
    if api_compaction {
        // It does not wait for a prompt.
        serving.wait_for("context.compaction_requested").await;
    } else {
        while !matches!(serving.live.recv().await.unwrap(), Live::Notice(said) if said.contains("afresh")) {}
    }
    serving.send_prompt("three").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    world.check().await;
    let epochs = world.epochs().await;
    (world, epochs)
}

#[tokio::test]
async fn a_user_can_have_the_context_summed_up_at_any_time() {
    let (world, epochs) = wished(true, TALK).await;
    assert_eq!(world.count("context.compaction_answered").await, 1, "before anything was said nothing was asked for");
    // The summary may have come before or after the next request: the epoch begins when it is there.
    if let [_, epoch] = epochs.as_slice() {
        assert!(epoch.compacted.as_ref().unwrap().contains("we talked"));
    }
}

#[tokio::test]
async fn without_the_api_the_wish_is_a_fresh_epoch_of_our_own() {
    let (world, epochs) = wished(false, TALK).await;
    assert_eq!(world.count("context.compaction_requested").await, 0);
    assert_eq!(epochs.len(), 2);
    assert!(epochs[1].why.contains("the user asked for it"), "{}", epochs[1].why);
    assert!(epochs[1].compacted.is_none());
}

#[tokio::test]
async fn a_wish_that_the_api_does_not_grant_is_granted_without_it() {
    let refuses = TALK.replace("summary = 'we talked'", "stop_reason = 'refusal'");
    let (world, _) = wished(true, &refuses).await;
    let agent = Agent::resume(AgentParts { api_compaction: true, ..world.parts() }, stream(), None).await.unwrap();
    agent.close().await;
    assert_eq!(world.count("context.compaction_answered").await, 1);
    let payloads = world.payloads().await;
    let answered = payloads.iter().find_map(|payload| match payload {
        Payload::Context(Context::CompactionAnswered(answer)) => Some(answer.clone()),
        _ => None,
    });
    assert_eq!(answered.unwrap().block, None);
}
