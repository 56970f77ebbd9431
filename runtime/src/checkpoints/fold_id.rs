//! What is kept, how often, and by which code it was folded.

use retrace_events::redact::Redactor;

/// What is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folded {
    /// A session's state.
    State,
    /// A session's past.
    Past,
}

impl Folded {
    /// The word in names of files.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Past => "past",
        }
    }

    /// After so many events another one is kept.
    const fn interval(self) -> u64 {
        match self {
            Self::State => 2_000,
            Self::Past => 10_000,
        }
    }

    /// What those of one session may take, in bytes.
    pub(super) const fn max_bytes(self) -> u64 {
        match self {
            Self::State => 64 * 1024 * 1024,
            Self::Past => 128 * 1024 * 1024,
        }
    }
}

/// What is kept: what was folded, by which code, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) folded: Folded,
    pub(super) code: FoldId,
    /// After so many events another one is kept.
    pub(super) interval: u64,
}

impl Kind {
    /// Of states, by this very program.
    pub(super) fn states() -> Self {
        Self { folded: Folded::State, code: FoldId::of(Folded::State, 0), interval: Folded::State.interval() }
    }

    /// Of pasts from which `redactor` takes secrets.
    pub(super) fn pasts(redactor: &Redactor) -> Self {
        let code = FoldId::of(Folded::Past, redactor.fingerprint());
        Self { folded: Folded::Past, code, interval: Folded::Past.interval() }
    }
}

/// The code that folded something, and what else it depended on beside the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoldId(pub(super) [u8; FoldId::BYTES]);

impl FoldId {
    /// How long it is.
    pub(super) const BYTES: usize = 16;

    fn of(folded: Folded, more: u16) -> Self {
        let text = format!("{} {} {more}", folded.word(), env!("RETRACE_FOLD_SOURCES"));
        let mut id = [0; Self::BYTES];
        id.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..Self::BYTES]);
        Self(id)
    }

    /// Its beginning, for names of files.
    pub(super) fn short(self) -> String {
        self.0.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }
}
