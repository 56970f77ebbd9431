//! Sessions once more, in three ways: their requests rendered again ([`verify_session`]), their calls carried out again
//! ([`Execution`]), and their contexts put together under other settings ([`WhatIf`]).
//!
//! Nothing here appends to a log or reaches a session's own workspace.

mod comparison;
mod difference;
mod execute_error;
mod execution;
mod files;
mod fresh_folder;
mod judging;
mod moved_input;
mod normaliser;
mod not_compared;
mod outline;
mod pointers;
mod recorded_call;
mod replayed_call;
mod stage;
mod summary;
mod verifying;
mod what_if;

#[cfg(test)]
mod tests;

pub use comparison::{CallOutcome, Likeness};
pub use execute_error::ExecuteError;
pub use execution::Execution;
pub use files::{FileDifference, FilesApart, FilesLikeness};
pub use normaliser::Normaliser;
pub use not_compared::NotCompared;
pub use replayed_call::{CallVerdict, ReplayedCall};
pub use stage::StageParts;
pub use summary::ExecutionSummary;
pub use verifying::{ReplayError, ReplayReport, RequestCheck, verify_session};
pub use what_if::{
    ComparedRequest, ItemKind, OtherSettings, RequestFigures, SettingError, WhatIf, WhatIfError, WhatIfParts,
};
