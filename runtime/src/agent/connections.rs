//! What the sandbox's proxy tells about connections that are over, as events.

use super::agent_handle::Agent;
use super::error::AgentError;
use retrace_events::payload::sandbox::{SandboxConnection, SandboxNetworkAttempted};
use retrace_events::{CallId, EventId, Payload};
use retrace_sandbox::{ConnectionCount, ConnectionEvent, ConnectionReport, Connections, Verdict};

/// The most connections that are logged at once; the others wait.
const MAX_AT_ONCE: usize = 200;

type Batch = Vec<(Payload, Option<EventId>)>;

impl Agent {
    /// What there is to log of connections that ended meanwhile.
    pub(super) fn connections(&self) -> Batch {
        let told = self.workroom.ready().and_then(retrace_sandbox::Sandbox::connections);
        told.map(|connections| self.ended_of(&connections)).unwrap_or_default()
    }

    /// Writes them down between two steps, as those of commands in the background are.
    pub(super) async fn log_connections(&mut self) -> Result<(), AgentError> {
        let batch = self.connections();
        if !batch.is_empty() {
            self.append(batch).await?;
        }
        Ok(())
    }

    /// Writes down the last ones of a sandbox that was shut down.
    pub(super) async fn log_last_connections(&mut self, connections: &Connections) -> Result<(), AgentError> {
        loop {
            let batch = self.ended_of(connections);
            if batch.is_empty() {
                return Ok(());
            }
            self.append(batch).await?;
        }
    }

    fn ended_of(&self, connections: &Connections) -> Batch {
        let ended = std::iter::from_fn(|| connections.try_next()).take(MAX_AT_ONCE);
        ended.flat_map(|ended| self.logged(ended)).map(|payload| (payload, None)).collect()
    }

    fn logged(&self, ended: ConnectionEvent) -> Vec<Payload> {
        match ended {
            ConnectionEvent::One(report) => vec![self.one(report).into()],
            ConnectionEvent::Many(count) => many(&count),
        }
    }

    fn one(&self, report: ConnectionReport) -> SandboxConnection {
        let redact = |text: &str| self.parts.redactor.redact(text).into_owned();
        // What runs inside can name any call: only one that this session knows counts.
        let known = |id: &CallId| {
            self.state.calls.iter().any(|call| call.id == *id)
                || self.state.background.iter().any(|(call, _)| call == id)
        };
        let (allowed, why) = match report.verdict {
            Verdict::Allowed => (true, report.cut.unwrap_or_default()),
            Verdict::Refused { why } => (false, why),
            Verdict::Failed { why } => (true, why),
        };
        SandboxConnection {
            call: report.call.map(CallId).filter(known),
            host: redact(&report.host),
            port: report.port,
            how: report.how.as_str().to_owned(),
            allowed,
            why: redact(&why),
            sent_bytes: report.sent_bytes,
            received_bytes: report.received_bytes,
            credential: report.credential,
            duration_ms: report.duration_ms,
        }
    }
}

/// Connections that came too fast to be told one by one.
fn many(count: &ConnectionCount) -> Vec<Payload> {
    let told = |number: u64, allowed: bool, what: &str| {
        let destination = format!("{number} more connections, {what}");
        (number > 0).then(|| SandboxNetworkAttempted { call: None, destination, allowed }.into())
    };
    let bytes = format!("{} bytes sent, {} received", count.sent_bytes, count.received_bytes);
    [told(count.allowed, true, &bytes), told(count.refused, false, "refused"), told(count.failed, true, "failed")]
        .into_iter()
        .flatten()
        .collect()
}
