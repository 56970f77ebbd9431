//! What counts how much. Measured on one half of recorded sessions and checked on the other; see `retrace bench context`.

/// What a window's properties add to its rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    /// By the logarithm of the thousands of tokens since it was seen.
    pub(super) age: f64,
    /// The file is the one touched last; half of it for the one before, and so on.
    pub(super) file_rank: f64,
    /// Words of all that was said and called lately.
    pub(super) lately: f64,
    /// Words of what is said now.
    pub(super) now: f64,
    /// The same of the windows beside it.
    pub(super) near: f64,
    /// Words of the newest call.
    pub(super) call: f64,
    /// Words of the newest change.
    pub(super) change: f64,
    /// By the logarithm of the identifiers that were said.
    pub(super) ids: f64,
    /// Last written rather than read.
    pub(super) written: f64,
    /// Seen in the file's last reading.
    pub(super) last_read: f64,
    /// Close to what was written last in the file.
    pub(super) close: f64,
    /// The file is named now.
    pub(super) named: f64,
    /// The file was named lately.
    pub(super) named_lately: f64,
    /// A line of it, or close to it, was named.
    pub(super) place: f64,
    /// The file is the test of the one touched last, or the other way round.
    pub(super) sibling: f64,
    /// It is the beginning of its file.
    pub(super) top: f64,
    /// It is the end of what is known of its file.
    pub(super) end: f64,
    /// A name said now is defined in it; up to three.
    pub(super) defines: f64,
    /// It is in a definition whose name is said now.
    pub(super) inside: f64,
    /// It is something that was said.
    pub(super) message: f64,
}

/// The weights.
pub(super) const WEIGHTS: Weights = Weights {
    age: -0.5,
    file_rank: 1.5,
    lately: 1.0,
    now: 1.0,
    near: 1.0,
    call: 1.5,
    change: 1.0,
    ids: 1.0,
    written: 1.5,
    last_read: 0.5,
    close: 0.5,
    named: 1.5,
    named_lately: 1.0,
    place: 1.0,
    sibling: 0.5,
    top: 1.0,
    end: 0.5,
    defines: 2.0,
    inside: 2.0,
    message: -1.5,
};

/// The shares of the budget of a context that is composed afresh, beside windows.
pub(super) const TRANSCRIPT_SHARE: f64 = 0.15;
pub(super) const PATHS_SHARE: f64 = 0.02;
pub(super) const NAMES_SHARE: f64 = 0.06;

/// How much of a step is shown in the transcript, in tokens: of the newest of its kind, the one before, and so on. 0: nothing.
pub(super) const SAID_CAPS: &[usize] = &[500, 300, 100, 60, 60, 60, 0];
pub(super) const ASKED_CAPS: &[usize] = &[600, 300, 100];
pub(super) const OUTPUT_CAPS: &[usize] = &[300, 100, 40, 40, 0];
pub(super) const HITS_CAPS: &[usize] = &[150, 40, 40, 0];
pub(super) const SUMMARY_CAPS: &[usize] = &[400];
pub(super) const COMMAND_CAPS: &[usize] = &[250];
pub(super) const PLAN_CAPS: &[usize] = &[200];
pub(super) const CALL_CAPS: &[usize] = &[200];
pub(super) const FAILURE_CAPS: &[usize] = &[60];

/// An edit is shown in the transcript when old and new text together have at most so many tokens.
pub(super) const EDIT_TOKENS: usize = 60;
