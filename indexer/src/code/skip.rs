//! Why a file of the workspace is not indexed, and how many there were.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A symbolic link; links are never followed.
    Link,
    /// A fifo, socket or device.
    Special,
    /// Larger than 1 MiB.
    TooLarge,
    /// Not text.
    Binary,
    /// Not UTF-8, nor close to it.
    NotUtf8,
    /// Lines that no person wrote: minified, or data.
    Minified,
    /// Says of itself that it was generated, or is a lock file.
    Generated,
    /// Looks like it holds a secret.
    Secret,
    /// Cannot be read.
    Unreadable,
    /// Nested too deep, or its path is too long.
    TooDeep,
    /// Its name is not UTF-8.
    Name,
    /// One more than the 2,000,000 files that are indexed.
    TooMany,
}

impl SkipReason {
    /// In words, for people: `3 too large`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Link => "links",
            Self::Special => "fifos, sockets or devices",
            Self::TooLarge => "too large",
            Self::Binary => "binary",
            Self::NotUtf8 => "not UTF-8",
            Self::Minified => "minified or data",
            Self::Generated => "generated",
            Self::Secret => "secret-looking",
            Self::Unreadable => "unreadable",
            Self::TooDeep => "too deep",
            Self::Name => "with names that are not UTF-8",
            Self::TooMany => "too many",
        }
    }
}

/// How many were left out, by reason. What `.gitignore` names is not counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Skipped(pub BTreeMap<SkipReason, u64>);

impl Skipped {
    pub(super) fn add(&mut self, reason: SkipReason) {
        *self.0.entry(reason).or_default() += 1;
    }

    /// How many altogether.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl std::fmt::Display for Skipped {
    /// `12 binary, 3 too large`, the most frequent first.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut counts: Vec<(&SkipReason, &u64)> = self.0.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (index, (reason, count)) in counts.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{count} {}", reason.words())?;
        }
        Ok(())
    }
}
