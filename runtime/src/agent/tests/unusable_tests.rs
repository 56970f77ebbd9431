//! Answers that cannot be used as they are: refusals, broken input, and answers cut inside a call.

use super::*;

const WHOLE: &str = r#"{"path":"cut.txt","content":"x"}"#;

#[tokio::test]
async fn a_refusal_ends_the_turn_and_runs_none_of_its_calls() {
    let calls = "{ type = 'tool_use', name = 'write_file', input = { path = 'cut.txt', content = 'x' } }";
    for blocks in ["{ type = 'text', text = 'No.' }", calls] {
        let script = format!(
            "[[step]]\nrefusal = {{ category = 'cyber' }}\nblock = [{blocks}]\n[[step]]\nblock = [{{ type = 'text', text = 'ok' }}]\n"
        );
        let world = World::with(&script).await;
        let (mut agent, end) = world.ask("go").await;
        assert_eq!(outcome(&end), Some(TurnOutcome::Refused), "{blocks}");
        assert_eq!((world.file("cut.txt"), world.requests().len()), (None, 1));
        assert!(world.results().await.iter().all(|(_, is_error, _)| *is_error));
        world.check().await;
        agent.prompt("something else", PromptSource::Local, Vec::new()).await.unwrap();
        assert_eq!(agent.run().await.unwrap(), completed());
        world.check().await;
    }
}

#[tokio::test]
async fn broken_input_is_told_to_the_model_and_never_run() {
    for raw in [r#"{"path":"cut.txt","content":"x"#, "[1]", "\"text\"", "{\"path\" \"cut.txt\"}", "nul"] {
        let step = format!("[[step]]\nblock = [{{ type = 'tool_use', name = 'write_file', raw_input = '{raw}' }}]\n");
        let then = "[[step]]\nwhen = 'not a JSON object'\nblock = [{ type = 'text', text = 'sorry' }]\n";
        let world = World::with(&format!("{step}{then}")).await;
        let (_agent, end) = world.ask("go").await;
        assert_eq!(end, completed(), "{raw}");
        assert_eq!(world.file("cut.txt"), None, "{raw}");
        let results = world.results().await;
        assert_eq!((results.len(), results[0].1), (1, true), "{raw}");
        world.check().await;
    }
}

#[tokio::test]
async fn a_broken_call_does_not_stop_the_whole_ones_beside_it() {
    let world = World::with(
        "
[[step]]
block = [
  { type = 'tool_use', name = 'write_file', input = { path = 'one.txt', content = '1' } },
  { type = 'tool_use', name = 'write_file', raw_input = '{\"path\":' },
  { type = 'tool_use', name = 'write_file', input = { path = 'two.txt', content = '2' } },
]
[[step]]
block = [{ type = 'text', text = 'done' }]
",
    )
    .await;
    let (_agent, end) = world.ask("go").await;
    assert_eq!(end, completed());
    assert_eq!((world.file("one.txt").as_deref(), world.file("two.txt").as_deref()), (Some("1"), Some("2")));
    let failed: Vec<bool> = world.results().await.iter().map(|(_, is_error, _)| *is_error).collect();
    assert_eq!(failed.iter().filter(|is_error| **is_error).count(), 1);
    world.check().await;
}

#[tokio::test]
async fn a_call_in_which_the_answer_was_cut_is_not_run_even_if_it_looks_whole() {
    for raw in [WHOLE, r#"{"path":"cut.txt","con"#, ""] {
        let step = format!(
            "[[step]]\nstop_reason = 'max_tokens'\nblock = [\n  {{ type = 'tool_use', name = 'list_dir', input = {{}} }},\n  {{ type = 'tool_use', name = 'write_file', raw_input = '{raw}' }},\n]\n"
        );
        let then = "[[step]]\nwhen = 'cut at its token limit'\nblock = [{ type = 'text', text = 'in pieces then' }]\n";
        let world = World::with(&format!("{step}{then}")).await;
        let (_agent, end) = world.ask("go").await;
        assert_eq!(end, completed(), "{raw}");
        assert_eq!(world.file("cut.txt"), None, "{raw}");
        world.check().await;
    }
}

#[tokio::test]
async fn answers_that_are_cut_again_and_again_end_the_turn() {
    let cut = format!(
        "[[step]]\nstop_reason = 'max_tokens'\nblock = [{{ type = 'tool_use', name = 'write_file', raw_input = '{WHOLE}' }}]\n"
    );
    let world = World::with(&cut.repeat(6)).await;
    let (_agent, end) = world.ask("go").await;
    assert_eq!((outcome(&end), world.requests().len()), (Some(TurnOutcome::AnswerTooLong), 3));
    assert_eq!(world.file("cut.txt"), None);
    world.check().await;
}

#[tokio::test]
async fn a_text_cut_at_the_limit_ends_the_turn() {
    let world =
        World::with("[[step]]\nstop_reason = 'max_tokens'\nblock = [{ type = 'text', text = 'and so' }]\n").await;
    let (_agent, end) = world.ask("go").await;
    assert_eq!(outcome(&end), Some(TurnOutcome::AnswerTooLong));
    world.check().await;
}
