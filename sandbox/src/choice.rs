//! Which sandbox the user asks for.

use std::fmt;
use std::str::FromStr;

/// The sandbox that is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SandboxChoice {
    /// The strongest that can be proven here.
    #[default]
    Auto,
    /// A microVM (libkrun through Podman).
    Krun,
    /// A container (Podman or Docker).
    Container,
    /// Namespaces, seccomp and limits around plain processes (bubblewrap).
    Process,
    /// No isolation at all. Must be asked for in so many words.
    None,
}

/// The text names no sandbox.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown sandbox {given:?}\nhint: choose one of auto, krun, container, process, none")]
pub struct ChoiceError {
    /// What was given.
    pub given: String,
}

impl SandboxChoice {
    /// The name, as on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Krun => "krun",
            Self::Container => "container",
            Self::Process => "process",
            Self::None => "none",
        }
    }
}

impl fmt::Display for SandboxChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for SandboxChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        [Self::Auto, Self::Krun, Self::Container, Self::Process, Self::None]
            .into_iter()
            .find(|choice| choice.as_str() == text)
            .ok_or_else(|| ChoiceError { given: text.to_owned() })
    }
}
