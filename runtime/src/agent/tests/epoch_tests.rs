//! Settings that change between two turns: the next turn begins an epoch, the conversation stays, its thinking goes.

use super::asking::Serving;
use super::*;
use crate::agent::AgentOrder;

const THINKS: &str = "
[[step]]
block = [{ type = 'thinking', text = 'hm' }, { type = 'tool_use', name = 'list_dir', input = {} }]
[[step]]
block = [{ type = 'thinking', text = 'so' }, { type = 'text', text = 'first' }]
[[step]]
block = [{ type = 'thinking', text = 'and' }, { type = 'text', text = 'second' }]
";

fn configure(serving: &Serving, change: impl FnOnce(&mut Settings) + Send + 'static) -> impl Future<Output = ()> {
    let orders = serving.orders.clone();
    async move {
        let order = AgentOrder::Configure { change: Box::new(change), why: "a test".to_owned() };
        orders.send(order).await.unwrap();
    }
}

#[tokio::test]
async fn another_model_and_effort_begin_an_epoch_with_the_whole_conversation() {
    let mut world = World::with(THINKS).await;
    world.settings.thinking = Some(r#"{"type":"adaptive"}"#.to_owned());
    let mut serving = Serving::begin(world.start().await);
    serving.send_prompt("one").await;
    serving.wait_for("turn.ended").await;
    configure(&serving, |settings| {
        settings.model = "claude-sonnet-5-5".to_owned();
        settings.effort = Some("low".to_owned());
    })
    .await;
    serving.wait_for("session.configured").await;
    serving.send_prompt("two").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    let epochs = world.epochs().await;
    let models: Vec<(u32, &str)> = epochs.iter().map(|epoch| (epoch.number, epoch.model.as_str())).collect();
    assert_eq!(models, [(1, "claude-opus-5-5"), (2, "claude-sonnet-5-5")]);
    assert_eq!(epochs[1].output_config.as_deref(), Some(r#"{"effort":"low"}"#));
    assert!(epochs[1].why.contains("model"), "{}", epochs[1].why);
    // The server verifies the signature of every thinking block it is sent, and refuses one of another model's.
    world.check().await;
    let state = retrace_events::fold::load(&world.log, &stream()).await.unwrap();
    let body = String::from_utf8(crate::context::render(&state).unwrap()).unwrap();
    assert!(body.contains("first") && body.contains("tool_use"), "the conversation was lost: {body}");
    assert_eq!(body.matches("\"thinking\":").count(), 2, "the newest answer's and the setting's: {body}");
}

#[tokio::test]
async fn a_change_in_the_middle_of_a_turn_waits_for_the_next() {
    let world = World::with(
        "[[step]]\nwhen = 'wait'\nblock = [{ type = 'tool_use', name = 'bash', input = { command = 'while [ ! -e go ]; do sleep 0.01; done' } }]\n[[step]]\nname = 'ok'\nnext = ['ok']\nblock = [{ type = 'text', text = 'ok' }]\n",
    )
    .await;
    let mut serving = Serving::begin(world.start().await);
    serving.send_prompt("wait").await;
    serving.wait_for("tool.called").await;
    configure(&serving, |settings| settings.model = "claude-sonnet-5-5".to_owned()).await;
    serving.wait_for("session.configured").await;
    world.put("go", "");
    serving.wait_for("turn.ended").await;
    assert_eq!(world.epochs().await.len(), 1, "the model changed in the middle of a turn");
    serving.send_prompt("next").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    assert_eq!(world.epochs().await.len(), 2);
    world.check().await;
}

#[tokio::test]
async fn settings_that_are_the_same_change_nothing() {
    let world = World::with("[[step]]\nblock = [{ type = 'text', text = 'ok' }]\n").await;
    let mut serving = Serving::begin(world.start().await);
    configure(&serving, |_| {}).await;
    serving.send_prompt("one").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    assert_eq!((world.count("session.configured").await, world.epochs().await.len()), (0, 1));
    world.check().await;
}

#[tokio::test]
async fn instructions_of_a_folder_come_also_when_another_call_of_the_same_answer_follows() {
    let world = World::with(
        "[[step]]\nblock = [{ type = 'tool_use', name = 'read_file', input = { path = 'sub/x.txt' } }, { type = 'tool_use', name = 'bash', input = { command = 'true' } }]\n[[step]]\nwhen = 'here use spaces'\nblock = [{ type = 'text', text = 'ok' }]\n",
    )
    .await;
    std::fs::create_dir(world.workspace().join("sub")).unwrap();
    world.put("sub/x.txt", "x");
    world.put("sub/AGENTS.md", "here use spaces");
    let (agent, end) = world.ask("go").await;
    agent.close().await;
    assert_eq!((end, world.count("context.retrieved").await), (completed(), 1));
    world.check().await;
}

#[tokio::test]
async fn instruction_files_are_in_the_epoch_and_those_of_a_folder_come_when_it_is_touched() {
    let world = World::with(
        "[[step]]\nblock = [{ type = 'tool_use', name = 'write_file', input = { path = 'sub/x.txt', content = 'x' } }]\n[[step]]\nblock = [{ type = 'tool_use', name = 'read_file', input = { path = 'sub/x.txt' } }]\n[[step]]\nblock = [{ type = 'text', text = 'ok' }]\n",
    )
    .await;
    world.put("AGENTS.md", "use tabs");
    std::fs::create_dir(world.workspace().join("sub")).unwrap();
    world.put("sub/AGENTS.md", "here use spaces");
    let (agent, end) = world.ask("go").await;
    agent.close().await;
    assert_eq!(end, completed());
    let epochs = world.epochs().await;
    assert!(epochs[0].seed.iter().any(|passage| passage.text.contains("use tabs")), "{:?}", epochs[0].seed);
    assert!(!epochs[0].system.contains("use tabs"), "a file of the repository speaks as the system");
    assert_eq!(world.count("context.retrieved").await, 1, "once, however often the folder is touched");
    world.check().await;
}
