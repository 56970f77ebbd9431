//! Redaction: known secrets reach neither the log, nor a listener, nor the API by way of prompts and results.

use super::*;

/// Whether `SECRET` is anywhere in the log's payloads.
async fn is_logged_somewhere(world: &World) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    let events = world.events().await;
    events.iter().filter(|event| holds(&event.envelope.payload)).map(|event| event.envelope.kind.clone()).collect()
}

#[tokio::test]
async fn a_secret_in_prompt_output_or_file_stays_where_it_was() {
    let world = World::with(
        "
[[step]]
when = 'the key is .redacted:'
block = [
  { type = 'tool_use', name = 'read_file', input = { path = 'a.txt' } },
  { type = 'tool_use', name = 'bash', input = { command = 'cat a.txt; cat a.txt >&2' } },
  { type = 'tool_use', name = 'search_files', input = { pattern = 'before' } },
]
[[step]]
when = '(?s)redacted:.*redacted:'
block = [{ type = 'text', text = 'done' }]
",
    )
    .await;
    world.put("a.txt", &format!("before {SECRET} after\n"));
    let parts = world.parts();
    let mut listener = parts.live.listen();
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    agent.prompt(&format!("the key is {SECRET}"), PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    assert_eq!(is_logged_somewhere(&world).await, Vec::<String>::new());
    let results = world.results().await;
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(|(_, _, text)| text.contains("[redacted:")), "{results:?}");
    let mut output = 0;
    while let Ok(live) = listener.try_recv() {
        output += usize::from(matches!(live, Live::ToolOutput { .. }));
        assert!(!format!("{live:?}").contains(SECRET), "{live:?}");
    }
    assert!(output > 0, "the command's output was not shown at all");
    world.check().await;
}

#[tokio::test]
async fn a_secret_in_what_the_api_says_of_a_failure_is_taken_out() {
    let fault = format!("fault = [{{ status = 400, message = 'bad header {SECRET}' }}]");
    let world = World::with(&format!("[[step]]\nblock = [{{ type = 'text', text = 'x' }}]\n{fault}\n")).await;
    let (_agent, end) = world.ask("go").await;
    let TurnEnd::Ended { note, .. } = end else { panic!("{end:?}") };
    assert!(note.contains("bad header [redacted:") && !note.contains(SECRET), "{note}");
    assert_eq!(is_logged_somewhere(&world).await, Vec::<String>::new());
}
