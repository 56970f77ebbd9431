//! `job.*`: work handed in to be done by whichever worker takes it.

use super::settings::Settings;
use crate::id::{StreamId, Timestamp};
use serde::{Deserialize, Serialize};

subject! {
    /// Jobs.
    Job {
        /// Handed in.
        Submitted(JobSubmitted) = "job.submitted", 2;
        /// A worker has it.
        Claimed(JobClaimed) = "job.claimed", 1;
        /// It moves.
        Progressed(JobProgressed) = "job.progressed", 1;
        /// It is done, well or badly.
        Finished(JobFinished) = "job.finished", 1;
        /// Nobody wants it any more.
        Cancelled(JobCancelled) = "job.cancelled", 1;
    }
}

/// A job is handed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSubmitted {
    /// The prompt.
    pub task: String,
    /// Where the workspace comes from: a path, or the address of a git repository.
    pub workspace: String,
    /// How its session behaves.
    pub settings: Settings,
    /// Larger is sooner.
    pub priority: i32,
    /// How many workers may try, the first included.
    pub max_attempts: u32,
    /// The latest moment to be done.
    pub deadline: Option<Timestamp>,
}

/// A worker has the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobClaimed {
    /// The worker's name.
    pub worker: String,
    /// 1 for the first worker.
    pub attempt: u32,
    /// The session it runs in.
    pub session: StreamId,
    /// Until when, unless the worker renews it.
    pub lease_until: Timestamp,
}

/// The job moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProgressed {
    /// In words.
    pub note: String,
    /// The lease's new end.
    pub lease_until: Timestamp,
}

/// The job is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFinished {
    /// Whether it did what was asked.
    pub succeeded: bool,
    /// In words.
    pub note: String,
}

/// Nobody wants the job any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCancelled {
    /// Who said so.
    pub by: String,
}
