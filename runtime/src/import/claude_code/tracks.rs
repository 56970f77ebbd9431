//! Which conversation a line belongs to: the session's own, or a subagent's.

use super::record::{AgentProgress, Record, object};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeSet, HashMap};

/// A conversation of a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Track {
    /// The session's own.
    Main,
    /// A subagent's.
    Agent(String),
}

/// Sorts the lines of a session's files.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    /// The subagent of each line of a side chain that does not name it.
    chains: HashMap<String, String>,
}

impl Tracks {
    /// The conversation of `record`; `file_agent` is the subagent whose file it stands in.
    pub(super) fn of(&mut self, record: &Record<'_>, file_agent: Option<&String>) -> Track {
        if let Some(agent) = file_agent {
            return Track::Agent(agent.clone());
        }
        if !record.is_sidechain {
            return Track::Main;
        }
        if let Some(agent) = record.agent_id.as_ref().filter(|agent| !agent.is_empty()) {
            return Track::Agent(agent.clone());
        }
        // Older versions name no agent: a side chain is the lines that hang together.
        let uuid = record.uuid.clone().unwrap_or_default();
        let parent = record.parent_uuid.as_ref().and_then(|parent| self.chains.get(parent)).cloned();
        let agent = parent.unwrap_or_else(|| uuid.chars().take(8).collect());
        self.chains.insert(uuid, agent.clone());
        Track::Agent(agent)
    }
}

/// What a subagent said last stands only in the result of the call that sent it: as a line of its own.
pub(super) fn last_words(record: &Record<'_>) -> Option<(Track, String)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Reported<'a> {
        agent_id: String,
        #[serde(borrow)]
        content: &'a RawValue,
        #[serde(borrow)]
        usage: Option<&'a RawValue>,
    }
    let reported: Reported<'_> = object(record.tool_use_result?.get())?;
    let usage = reported.usage.map_or("null", RawValue::get);
    let content = reported.content.get();
    Some((Track::Agent(reported.agent_id), format!(r#"{{"content":{content},"usage":{usage}}}"#)))
}

/// A subagent's message that stands in a progress line, unless the subagent has a file of its own.
pub(super) fn in_progress<'a>(record: &Record<'a>, with_files: &BTreeSet<String>) -> Option<(Track, Record<'a>)> {
    if record.kind() != "progress" {
        return None;
    }
    let progress: AgentProgress<'a> = object(record.data?.get())?;
    if progress.kind.as_deref() != Some("agent_progress") {
        return None;
    }
    let agent = progress.agent_id.filter(|agent| !agent.is_empty() && !with_files.contains(agent))?;
    let mut inner = Record::of(progress.message?.get())?;
    inner.cwd = record.cwd.clone();
    inner.version = record.version.clone();
    inner.at_ms = inner.at_ms.or(record.at_ms);
    inner.is_conversation().then_some((Track::Agent(agent), inner))
}
