//! Batches in whole agents: each call in one is decided on, logged and carried out as a call of its own, and the model hears of all
//! in one result.

use super::*;
use crate::permissions::{ApprovalMode, Permissions, RuleList, RuleSet};
use retrace_events::payload::tool::ToolEffect;
use retrace_events::payload::{Sandbox, Session};

/// A turn with one batch of these calls, and then the end.
fn batch(calls: &str) -> String {
    format!(
        r#"
[[step]]
[[step.block]]
type = "tool_use"
name = "batch"
input = {{ calls = [{calls}] }}
[[step]]
[[step.block]]
type = "text"
text = "done"
"#
    )
}

const MIXED: &str = r#"
{ tool = "read_file", input = { path = "a.txt" } },
{ tool = "list_dir", input = {} },
{ tool = "write_file", input = { path = "b.txt", content = "new" } },
{ tool = "bash", input = { command = "cat b.txt; echo more >> b.txt" } },
{ tool = "read_file", input = { path = "b.txt" } },
{ tool = "no_such_tool", input = {} },
"#;

/// The calls that were begun, by their ids' ends, with their effects.
async fn begun(world: &World) -> Vec<(String, ToolEffect)> {
    let payloads = world.payloads().await.into_iter();
    payloads
        .filter_map(|payload| match payload {
            Payload::Tool(Tool::Called(called)) => {
                let end = called.call.0.rsplit_once('.').map_or("whole", |(_, end)| end).to_owned();
                Some((end, called.effect))
            }
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn reads_run_side_by_side_and_writes_in_their_place() {
    let world = World::with(&batch(MIXED)).await;
    world.put("a.txt", "old\n");
    let (_, end) = world.ask("go").await;
    assert_eq!(end, completed());
    world.check().await;
    let (look, write) = (ToolEffect::ReadOnly, ToolEffect::Writes);
    let expected = [("whole", look), ("1", look), ("2", look), ("3", write), ("4", write), ("5", look), ("6", look)];
    let expected: Vec<(String, ToolEffect)> =
        expected.into_iter().map(|(end, effect)| (end.to_owned(), effect)).collect();
    assert_eq!(begun(&world).await, expected);
    assert_eq!(world.file("b.txt").as_deref(), Some("newmore\n"));
    let results = world.results().await;
    let (call, failed, whole) = results.last().unwrap();
    assert!(!call.0.contains('.') && !failed, "one part that failed does not make all fail");
    for part in [
        "[1 of 6: read_file a.txt]\n     1\told\n",
        "[4 of 6: bash cat b.txt; ",
        "exit code: 0\nnew",
        "1\tnewmore",
        "; failed]\n",
    ] {
        assert!(whole.contains(part), "no {part:?} in\n{whole}");
    }
    // The first two are logged in one batch before either begins.
    let kinds = world.kinds().await;
    let at = kinds.iter().position(|kind| kind == "tool.parted").unwrap();
    assert_eq!(kinds[at - 1..at + 3], ["tool.called", "tool.parted", "tool.called", "tool.called"]);
}

#[tokio::test]
async fn each_call_in_it_is_decided_on_like_any_other() {
    let world = World::with(&batch(MIXED)).await;
    world.put("a.txt", "old\n");
    let mut rules = RuleSet::default();
    rules.read(RuleList::Deny, "write_file(b.txt)", crate::config::Origin::Session).unwrap();
    rules.read(RuleList::Ask, "bash(cat *)", crate::config::Origin::Session).unwrap();
    let permissions = Arc::new(Permissions::new(ApprovalMode::Auto, true, rules, None));
    let parts = AgentParts { permissions, ..world.parts() };
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    agent.run().await.unwrap();
    world.check().await;
    assert_eq!(world.file("b.txt"), None);
    let payloads = world.payloads().await;
    let denied: Vec<(&str, &str)> = payloads
        .iter()
        .filter_map(|payload| match payload {
            Payload::Tool(Tool::Denied(denied)) => {
                Some((denied.call.0.rsplit_once('.').unwrap().1, denied.by.as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(denied.iter().map(|(part, _)| *part).collect::<Vec<_>>(), ["3", "4"]);
    assert!(denied[0].1.contains("write_file(b.txt)") && denied[1].1 == "nobody to ask", "{denied:?}");
    let whole = world.results().await.last().unwrap().2.clone();
    assert!(whole.contains("a permission rule forbids it") && whole.contains("1\told"), "{whole}");
}

#[tokio::test]
async fn a_batch_that_is_forbidden_or_wrong_does_nothing() {
    let nested = r#"{ tool = "write_file", input = { path = "b.txt", content = "new" } },
{ tool = "batch", input = { calls = [] } },"#;
    let world = World::with(&batch(nested)).await;
    world.ask("go").await;
    world.check().await;
    let results = world.results().await;
    assert_eq!(results.len(), 1);
    assert!(results[0].1 && results[0].2.contains("cannot be in a batch"), "{results:?}");
    assert_eq!(world.file("b.txt"), None);
}

#[tokio::test]
async fn what_a_crash_left_of_a_batch_is_gone_on_with() {
    let slow = r#"
{ tool = "bash", input = { command = "echo 1 >> n" } },
{ tool = "bash", input = { command = "echo 2 >> n; sleep 300" } },
{ tool = "bash", input = { command = "echo 3 >> n" } },"#;
    let world = World::with(&batch(slow)).await;
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    let mut begun = 0;
    let stopped = run_until(&mut agent, |live| {
        begun += usize::from(is_logged(live, "tool.called"));
        // The whole, the first, the second.
        begun == 3
    });
    assert_eq!(stopped.await, None);
    drop(agent);
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), completed());
    world.check().await;
    let results = world.results().await;
    let ids: Vec<&str> =
        results.iter().map(|(call, ..)| call.0.rsplit_once('.').map_or("whole", |(_, end)| end)).collect();
    assert_eq!(ids, ["1", "2", "3", "whole"]);
    assert!(results[1].2.starts_with("Interrupted: it is not known"), "{}", results[1].2);
    let written = world.file("n").unwrap();
    assert!(written.starts_with("1\n") && written.ends_with("3\n") && written.matches('1').count() == 1, "{written}");
    assert!(results[3].2.contains("[2 of 3: bash") && results[3].2.contains("Interrupted:"), "{}", results[3].2);
    let unused = |payload: &Payload| {
        matches!(payload, Payload::Sandbox(Sandbox::Stopped(_)) | Payload::Session(Session::Closed(_)))
    };
    assert!(!world.payloads().await.iter().any(unused));
}

#[tokio::test]
async fn a_batch_that_is_interrupted_says_what_was_done() {
    let slow = r#"
{ tool = "bash", input = { command = "echo one" } },
{ tool = "bash", input = { command = "echo two; sleep 300" } },
{ tool = "read_file", input = { path = "x" } },"#;
    let world = World::with(&batch(slow)).await;
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    let cancel = agent.parts.cancel.clone();
    let (mut listener, mut begun) = (agent.parts.live.listen(), 0);
    tokio::spawn(async move {
        while begun < 3 {
            begun += usize::from(is_logged(&listener.recv().await.unwrap(), "tool.called"));
        }
        cancel.cancel();
    });
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Interrupted);
    world.check().await;
    let whole = world.results().await.last().unwrap().2.clone();
    assert!(
        whole.starts_with("Interrupted: the user interrupted the turn.\n\n[1 of 3: bash echo one]\nexit code: 0\none"),
        "{whole}"
    );
    assert!(
        whole.contains("It is not known how far") && whole.ends_with("Not carried out: the user interrupted the turn.")
    );
}

#[tokio::test]
async fn results_that_are_too_long_together_are_cut_and_kept() {
    let calls = r#"
{ tool = "bash", input = { command = "echo short" } },
{ tool = "read_file", input = { path = "long.txt" } },
{ tool = "read_file", input = { path = "long.txt", offset = 2 } },"#;
    let script = batch(calls).replace(
        "[[step]]\n[[step.block]]\ntype = \"text\"",
        "[[step]]\nname = \"then\"\n[[step.block]]\ntype = \"text\"",
    );
    let world = World::with(&script).await;
    world.put("long.txt", &"a line of some length that is repeated\n".repeat(1_000));
    let (agent, _) = world.ask("go").await;
    world.check().await;
    let whole = world.results().await.last().unwrap().2.clone();
    assert!(whole.len() < 49_000, "{}", whole.len());
    assert_eq!(whole.matches("left out here for want of room").count(), 2, "{whole}");
    let part = agent.state().outputs.get(&CallId(format!("{}.2", world.results().await.last().unwrap().0.0)));
    assert!(part.is_some_and(|kept| kept.size_bytes > 40_000), "the whole of it can be read");
}
