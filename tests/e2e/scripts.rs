//! Scripts for the scripted server, put together in tests.

/// A script of `steps`.
pub(crate) fn script(steps: &[String]) -> String {
    steps.join("\n")
}

/// A step that says `text` and ends the turn.
pub(crate) fn says(text: &str) -> String {
    format!("[[step]]\n[[step.block]]\ntype = \"text\"\ntext = {}\n", quoted(text))
}

/// A step with one call; `input` is a TOML inline table.
pub(crate) fn calls(tool: &str, input: &str) -> String {
    format!("[[step]]\n[[step.block]]\ntype = \"tool_use\"\nname = \"{tool}\"\ninput = {input}\n")
}

/// A step with one command.
pub(crate) fn runs(command: &str) -> String {
    calls("bash", &format!("{{ command = {} }}", quoted(command)))
}

/// A text as a TOML basic string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}
