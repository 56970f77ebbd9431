//! Why a call is not compared with what it came to then.

/// Why a call is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NotCompared {
    /// It was denied, and is not carried out.
    Denied,
    /// The user ended it, or the turn it belonged to.
    Cancelled,
    /// It was cut short by a crash: nobody knows how far it came.
    OutcomeUnknown,
    /// It was begun, and the log ends before its end.
    NeverEnded,
    /// The command took too long then: what it had done by that moment is chance.
    TimedOut,
    /// It is about a command in the background, whose output depends on the moment.
    Background,
    /// A person answered.
    Asked,
    /// It asked what was remembered then.
    Recalled,
    /// The output that it read is not kept any more.
    OutputGone,
    /// The result points at an earlier one, which is not there.
    PointerLost,
    /// The image was not shown then, for want of room.
    ImageLeftOut,
    /// Another program made it, before the session was imported.
    Foreign,
    /// It came before the first snapshot, and files had been changed by then.
    FilesUnknown,
    /// This version has no such tool.
    NoSuchTool,
}

impl NotCompared {
    /// In a few words, for tables and JSON.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::OutcomeUnknown => "outcome unknown",
            Self::NeverEnded => "never ended",
            Self::TimedOut => "timed out then",
            Self::Background => "background command",
            Self::Asked => "answered by a person",
            Self::Recalled => "recall",
            Self::OutputGone => "output no longer kept",
            Self::PointerLost => "points at a result that is gone",
            Self::ImageLeftOut => "image left out then",
            Self::Foreign => "made by another program",
            Self::FilesUnknown => "before the first snapshot",
            Self::NoSuchTool => "no such tool in this version",
        }
    }
}
