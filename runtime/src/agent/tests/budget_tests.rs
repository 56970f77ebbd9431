//! Budgets: a turn stops before the request that would be over it, and goes on when the budget is raised.

use super::*;

const STEPS: &str = "
[[step]]
usage = { input_tokens = 700, output_tokens = 300, cache_creation_input_tokens = 0, cache_read_input_tokens = 0 }
block = [{ type = 'tool_use', name = 'list_dir', input = {} }]
[[step]]
usage = { input_tokens = 700, output_tokens = 300, cache_creation_input_tokens = 0, cache_read_input_tokens = 0 }
block = [{ type = 'tool_use', name = 'list_dir', input = {} }]
[[step]]
block = [{ type = 'text', text = 'done' }]
";

/// The turn's end and the number of requests under `budget`.
async fn under(budget: Budget) -> (TurnEnd, usize) {
    let mut world = World::with(STEPS).await;
    world.settings.budget = budget;
    let (_agent, end) = world.ask("go").await;
    world.check().await;
    assert_eq!(world.count("tool.finished").await, world.count("tool.called").await);
    (end, world.requests().len())
}

#[tokio::test]
async fn each_budget_stops_before_the_next_request() {
    let none = Budget::default();
    let cases = [
        (Budget { max_steps: Some(1), ..none }, 1, "1 of 1 steps"),
        (Budget { max_steps: Some(2), ..none }, 2, "2 of 2 steps"),
        (Budget { max_tokens: Some(1_000), ..none }, 1, "1000 of 1000 tokens"),
        (Budget { max_tokens: Some(1_001), ..none }, 2, "2000 of 1001 tokens"),
        (Budget { max_cost_microusd: Some(1), ..none }, 1, "$"),
        (Budget { max_steps: Some(0), ..none }, 0, "0 of 0 steps"),
        (Budget { max_time_ms: Some(0), ..none }, 0, "0 s of 0 s"),
    ];
    for (budget, requests, words) in cases {
        let (end, sent) = under(budget).await;
        assert_eq!((outcome(&end), sent), (Some(TurnOutcome::BudgetReached), requests), "{budget:?}");
        let TurnEnd::Ended { note, .. } = end else { panic!("{budget:?}") };
        assert!(note.contains(words), "{note}");
    }
    assert_eq!(under(Budget { max_steps: Some(3), ..none }).await, (completed(), 3));
}

#[tokio::test]
async fn a_budget_is_the_sessions_and_can_be_raised() {
    let mut world = World::with(STEPS).await;
    world.settings.budget.max_steps = Some(1);
    let (mut agent, end) = world.ask("go").await;
    assert_eq!(outcome(&end), Some(TurnOutcome::BudgetReached));
    agent.prompt("again", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(outcome(&agent.run().await.unwrap()), Some(TurnOutcome::BudgetReached));
    assert_eq!(world.requests().len(), 1);
    drop(agent);
    let settings = Settings { budget: Budget::default(), ..world.settings.clone() };
    let raised = Some((settings, "--max-steps".to_owned()));
    let mut agent = Agent::resume(world.parts(), stream(), raised).await.unwrap();
    agent.prompt("go on", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    assert_eq!(world.requests().len(), 3);
    world.check().await;
}
