//! Results that point at an earlier one: the agent says so in the place of what stands in the conversation already.

use regex::Regex;
use retrace_events::CallId;
use std::sync::LazyLock;

/// As [`crate::agent`] writes it.
static POINTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\A\[Unchanged: word for word what call (\S{1,200}) came to, \d+ lines, which stand above in this conversation\.\]\z").ok()
});

/// The call whose result stands for this one; `None` when the result speaks for itself.
pub(super) fn pointed_at(content: &str) -> Option<CallId> {
    let found = POINTER.as_ref()?.captures(content)?;
    Some(CallId(found.get(1)?.as_str().to_owned()))
}
