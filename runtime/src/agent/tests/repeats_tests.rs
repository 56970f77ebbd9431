//! What was read before and has not changed is pointed at.

use super::*;

const READS: &str = "
[[step]]
block = [{ type = 'tool_use', name = 'read_file', input = { path = 'a.txt' } }]
[[step]]
block = [{ type = 'tool_use', name = 'read_file', input = { path = 'a.txt' } }]
[[step]]
block = [{ type = 'tool_use', name = 'bash', input = { command = 'echo more >> a.txt; cat a.txt' } }]
[[step]]
block = [{ type = 'tool_use', name = 'read_file', input = { path = 'a.txt' } }]
[[step]]
block = [{ type = 'tool_use', name = 'read_file', input = { path = 'a.txt' } }]
[[step]]
block = [{ type = 'tool_use', name = 'read_file', input = { path = 'small.txt' } }]
[[step]]
block = [{ type = 'tool_use', name = 'bash', input = { command = 'cat a.txt' } }]
[[step]]
block = [{ type = 'tool_use', name = 'read_file', input = { path = 'small.txt' } }]
[[step]]
block = [{ type = 'text', text = 'ok' }]
";

#[tokio::test]
async fn a_file_that_is_read_again_unchanged_is_pointed_at() {
    let world = World::with(READS).await;
    world.put("a.txt", &"a line that is long enough to matter\n".repeat(30));
    world.put("small.txt", "small\n");
    let (agent, end) = world.ask("read it").await;
    agent.close().await;
    assert_eq!(end, completed());
    let results = world.results().await;
    let is_pointer: Vec<bool> = results.iter().map(|(_, _, content)| content.starts_with("[Unchanged")).collect();
    // Read, read again; changed; read as it is now, read again; what is small, or a command, is told as ever.
    assert_eq!(is_pointer, [false, true, false, false, true, false, false, false], "{results:?}");
    assert!(results[1].2.contains(&results[0].0.to_string()), "{}", results[1].2);
    assert!(results[3].2.contains("more"), "a change must never be hidden");
    world.check().await;
}
