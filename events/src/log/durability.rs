//! What a log's acknowledgement is worth.

/// What an ack of this log is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Durability {
    /// It survives a loss of power.
    PowerLoss,
    /// It survives a crash of the process, but not a loss of power, and why.
    ProcessCrash(String),
    /// It survives nothing: for tests.
    Volatile,
}
