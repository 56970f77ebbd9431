//! `retrace delete`: sessions, and what only they need.

use super::exit::{CliError, Exit};
use super::index::upkeep;
use super::invocation::Invocation;
use super::progress::Progress;
use super::render::{clean, units};
use super::session_name;
use super::setup::Setup;
use super::trusting;
use crate::deletion::{self, Candidates, Family, Finished, Swept};
use crate::snapshots::SnapshotPlan;
use crate::travelling;
use clap::Args;
use retrace_events::log::{Claim, ClaimError, StreamFilter};
use retrace_events::mint::{Mint as _, SystemMint};
use retrace_events::{Class, EventLog, StreamId};
use serde_json::json;

/// How many sessions a message names.
const LISTED: usize = 10;

/// Delete sessions for good, and what only they need: blobs, snapshots
#[derive(Debug, Args)]
pub(super) struct DeleteCommand {
    /// The sessions: any unique beginning of their ids
    #[arg(required_unless_present = "leftovers", value_name = "SESSION")]
    sessions: Vec<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
    /// The sessions that were forked from them too, and the forks of those
    #[arg(long)]
    with_forks: bool,
    /// Only clean up: what broken-off deletions have left, and what no session needs any more
    #[arg(long, conflicts_with_all = ["sessions", "with_forks"])]
    leftovers: bool,
}

impl DeleteCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let log = log.as_ref();
        if self.leftovers {
            let finished = deletion::finish_all(log, &SystemMint).await?;
            forget_checkpoints(&setup, log, &deleted(log).await?);
            return clean_up(invocation, &setup, log, &[], finished, &Candidates::new()).await;
        }
        let sessions = self.meant(log).await?;
        let family = Family::of(log).await?;
        for stream in &family.unreadable {
            setup.output.warn(&format!("session {} is damaged at its beginning; it may be a fork", stream.id));
        }
        let all = self.with_their_forks(sessions, &family)?;
        if !self.yes && !agreed(invocation, &setup, log, &all).await? {
            setup.output.always("nothing was deleted\n");
            return Ok(Exit::Failed);
        }
        let held = claim_all(log, &all).await?;
        let candidates = deletion::candidates(log, &all).await?;
        let finished = deletion::remove(log, &SystemMint, &all).await?;
        forget_checkpoints(&setup, log, &all);
        drop(held);
        clean_up(invocation, &setup, log, &all, finished, &candidates).await
    }

    /// The sessions that are named. One that is deleted already is meant too: what is left of it goes.
    async fn meant(&self, log: &dyn EventLog) -> Result<Vec<StreamId>, CliError> {
        let gone = deleted(log).await?;
        let mut sessions = Vec::new();
        for name in &self.sessions {
            let stream = match session_name::find(log, name).await {
                Err(error) if error.exit == Exit::NotFound => {
                    let exact =
                        |stream: &&StreamId| stream.id.as_str() == name.trim() || stream.subject() == name.trim();
                    gone.iter().find(exact).cloned().ok_or(error)?
                }
                found => found?,
            };
            if !sessions.contains(&stream) {
                sessions.push(stream);
            }
        }
        Ok(sessions)
    }

    /// `sessions` and their forks, a fork before what it comes from.
    fn with_their_forks(&self, mut sessions: Vec<StreamId>, family: &Family) -> Result<Vec<StreamId>, CliError> {
        let forks = family.descendants(&sessions);
        if !forks.is_empty() && !self.with_forks {
            let what = format!(
                "{} forked from {}: {}",
                if forks.len() == 1 { "a session was".to_owned() } else { format!("{} sessions were", forks.len()) },
                if sessions.len() == 1 { "it" } else { "them" },
                named(&forks)
            );
            return Err(CliError::new(Exit::Failed, what)
                .hint("a fork needs the events it was forked from; --with-forks deletes the forks too"));
        }
        sessions.extend(forks);
        Ok(family.forks_first(&sessions))
    }
}

/// The sessions that are deleted.
async fn deleted(log: &dyn EventLog) -> Result<Vec<StreamId>, CliError> {
    let filter = StreamFilter { class: Some(Class::Session), ..StreamFilter::default() };
    Ok(log.deleted(&filter).await?.into_iter().map(|info| info.stream).collect())
}

/// What was folded from the sessions goes with them.
fn forget_checkpoints(setup: &Setup, log: &dyn EventLog, sessions: &[StreamId]) {
    let checkpoints = setup.checkpoints(log);
    for stream in sessions {
        if let Err(error) = checkpoints.forget(stream) {
            setup.output.warn(&clean::line(&format!("the checkpoints of session {} are left: {error}", stream.id)));
        }
    }
}

/// Whether whoever sits there wants them deleted. Where nobody does, it is not done.
async fn agreed(
    invocation: &Invocation,
    setup: &Setup,
    log: &dyn EventLog,
    sessions: &[StreamId],
) -> Result<bool, CliError> {
    let mut lines = String::new();
    for stream in sessions.iter().take(LISTED) {
        let events = log.head(stream).await?.map_or(0, |head| head.seq + 1);
        lines.push_str(&format!("  {}  {}\n", stream.id, units::of(events, "event")));
    }
    if sessions.len() > LISTED {
        lines.push_str(&format!("  and {} more\n", sessions.len() - LISTED));
    }
    if !invocation.place.stdin_is_terminal {
        let what = format!(
            "{} would be deleted for good, and nobody can be asked",
            units::of(sessions.len() as u64, "session")
        );
        return Err(CliError::new(Exit::Usage, what).hint("--yes deletes without asking"));
    }
    setup.output.always(&lines);
    setup.output.always(&format!("delete {} for good? [y/N] ", units::of(sessions.len() as u64, "session")));
    let answer = trusting::answer(invocation).await?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Holds all `sessions`, so that nobody begins to run one meanwhile.
async fn claim_all(log: &dyn EventLog, sessions: &[StreamId]) -> Result<Vec<Claim>, CliError> {
    let holder = upkeep::holder("retrace delete");
    let mut held = Vec::new();
    for stream in sessions {
        match log.claim(stream, &holder).await {
            Ok(claim) => held.push(claim),
            Err(ClaimError::Held(other)) => {
                let what = format!("session {} is held by {other}; nothing was deleted", stream.id);
                return Err(CliError::new(Exit::Log, clean::line(&what)).hint("wait until it ends, or stop it"));
            }
            Err(ClaimError::Log(error)) => return Err(error.into()),
        }
    }
    Ok(held)
}

/// Removes what nothing needs any more, and says what was done.
async fn clean_up(
    invocation: &Invocation,
    setup: &Setup,
    log: &dyn EventLog,
    sessions: &[StreamId],
    finished: Finished,
    candidates: &Candidates,
) -> Result<Exit, CliError> {
    let state = &setup.config.folders.state;
    let store = match SnapshotPlan::folder(state).is_dir() {
        true => Some(travelling::store_of(state, log).map_err(travelling::ShareError::from)?),
        false => None,
    };
    let mut progress = Progress::begin(invocation, "looking for what is needed");
    let swept =
        deletion::sweep(log, store, candidates, SystemMint.now(), &mut |done, all| progress.at(done, all)).await?;
    drop(progress);
    tell(setup, sessions, finished, &swept)?;
    Ok(Exit::Done)
}

fn tell(setup: &Setup, sessions: &[StreamId], finished: Finished, swept: &Swept) -> Result<(), CliError> {
    if let Some(doubt) = &swept.doubt {
        let what =
            format!("blobs and snapshots were left, since nobody can say which are needed: {}", clean::line(doubt));
        setup.output.warn(&what);
    }
    if setup.output.json {
        let ids: Vec<&str> = sessions.iter().map(|stream| stream.id.as_str()).collect();
        return setup.output.json_line(&json!({
            "deleted": ids,
            "events": finished.events,
            "blobs": swept.blobs,
            "snapshot_objects": swept.objects,
            "snapshot_bytes": swept.object_bytes,
            "shared_snapshots": swept.shared,
        }));
    }
    let mut words = vec![format!("{} deleted", units::of(sessions.len() as u64, "session"))];
    if sessions.is_empty() {
        words = vec!["cleaned up".to_owned()];
    }
    words.push(units::of(finished.events, "event"));
    words.push(units::of(swept.blobs, "blob"));
    words.push(format!("{} of snapshots", units::size(swept.object_bytes)));
    if swept.shared > 0 {
        words.push(format!("{} beside the log", units::of(swept.shared, "snapshot")));
    }
    setup.output.data(&format!("{}\n", words.join(", ")))?;
    if !sessions.is_empty() && swept.doubt.is_none() {
        setup.output.note(
            "snapshots younger than an hour stay for now: a later `retrace delete`, or `retrace delete --leftovers`, removes them\n",
        );
    }
    Ok(())
}

fn named(sessions: &[StreamId]) -> String {
    let mut ids: Vec<&str> = sessions.iter().take(LISTED).map(|stream| stream.id.as_str()).collect();
    if sessions.len() > LISTED {
        ids.push("…");
    }
    ids.join(", ")
}
