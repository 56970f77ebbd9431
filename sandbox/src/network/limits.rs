//! How much a sandbox's connections may use.

/// Bounds of the connections of one sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkLimits {
    /// Connections at once; further ones wait. At most 256.
    pub connections: usize,
    /// After so many milliseconds in which nothing came or went, a connection is closed.
    pub idle_ms: u64,
    /// Time for a request's head, a name's addresses, a connection or a handshake, in milliseconds each.
    pub setup_ms: u64,
    /// Bytes of one connection, both directions together.
    pub connection_bytes: u64,
    /// Bytes of all connections, both directions together.
    pub session_bytes: u64,
    /// Bytes of a request's or answer's head.
    pub head_bytes: usize,
}

impl Default for NetworkLimits {
    fn default() -> Self {
        Self {
            connections: 64,
            idle_ms: 5 * 60 * 1000,
            setup_ms: 30 * 1000,
            connection_bytes: 4 * 1024 * 1024 * 1024,
            session_bytes: 16 * 1024 * 1024 * 1024,
            head_bytes: 64 * 1024,
        }
    }
}
