//! `sandbox.*`: where tools run, how well that is proven to be shut off, and what it stopped.

use crate::id::CallId;
use serde::{Deserialize, Serialize};

subject! {
    /// Sandboxes.
    Sandbox {
        /// A sandbox is up.
        Started(SandboxStarted) = "sandbox.started", 1;
        /// It is gone.
        Stopped(SandboxStopped) = "sandbox.stopped", 1;
        /// Something wanted more than it may have.
        LimitHit(SandboxLimitHit) = "sandbox.limit_hit", 1;
        /// Something reached for the network.
        NetworkAttempted(SandboxNetworkAttempted) = "sandbox.network_attempted", 1;
        /// A connection through the proxy ended, or was refused by it.
        Connection(SandboxConnection) = "sandbox.connection", 1;
    }
}

/// A sandbox is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxStarted {
    /// The backend: `process`, `container`, `krun` or `none`.
    pub backend: String,
    /// The level of isolation that was proven.
    pub level: String,
    /// What was tried from the inside to prove it.
    pub proofs: Vec<SandboxProof>,
    /// Limits, by name and in words.
    pub limits: Vec<(String, String)>,
}

/// One thing that was tried from the inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxProof {
    /// What must hold.
    pub name: String,
    /// Whether it does.
    pub passed: bool,
    /// What was seen.
    pub detail: String,
}

/// A sandbox is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxStopped {
    /// Why.
    pub why: String,
    /// Whether nobody wanted that.
    pub unexpected: bool,
}

/// Something wanted more than it may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimitHit {
    /// The call it happened in.
    pub call: Option<CallId>,
    /// `memory`, `pids`, `time`, `output`, `cpu`, `file_size`, `disk`.
    pub limit: String,
    /// In words.
    pub detail: String,
}

/// Something reached for the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxNetworkAttempted {
    /// The call it happened in.
    pub call: Option<CallId>,
    /// Host and port.
    pub destination: String,
    /// Whether policy let it through.
    pub allowed: bool,
}

/// A connection through the proxy, once it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxConnection {
    /// The call it happened in, as far as the sandbox says; a hint, since a command can lie about it.
    pub call: Option<CallId>,
    /// The name or address that was asked for.
    pub host: String,
    /// The port.
    pub port: u16,
    /// `connect` (a tunnel), `http`, or `tls` (ended at the proxy, to add a credential).
    pub how: String,
    /// Whether policy let it through.
    pub allowed: bool,
    /// Why not, or how it failed; empty when there is nothing to say.
    pub why: String,
    /// What went out, in bytes.
    pub sent_bytes: u64,
    /// What came back, in bytes.
    pub received_bytes: u64,
    /// The entry whose credential the proxy added.
    pub credential: Option<String>,
    /// From the request to the end, in milliseconds.
    pub duration_ms: u64,
}
