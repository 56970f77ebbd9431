//! What was proven about a sandbox, and the level of isolation it amounts to.

use std::fmt;

/// How strongly a sandbox is isolated, from none to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IsolationLevel {
    /// Not at all.
    None,
    /// Namespaces, seccomp and limits; the host's kernel and its `/usr`.
    Process,
    /// A container; the host's kernel.
    Container,
    /// A kernel of its own.
    MicroVm,
}

impl IsolationLevel {
    /// The name, as in the event log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Process => "process",
            Self::Container => "container",
            Self::MicroVm => "microvm",
        }
    }
}

impl fmt::Display for IsolationLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One thing that must hold in a sandbox, and whether it was seen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// What must hold.
    pub name: String,
    /// Whether it does.
    pub passed: bool,
    /// What was seen.
    pub detail: String,
}

impl Proof {
    /// A proof with what was seen.
    pub(crate) fn new(name: &str, passed: bool, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), passed, detail: detail.into() }
    }
}
