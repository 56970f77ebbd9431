//! What forks and rewinds begin with: the event, the files at it, and the settings they go on under.

use super::super::event_name;
use super::super::exit::{CliError, Exit};
use super::super::render::clean;
use super::super::setup::Setup;
use crate::config::TrustList;
use crate::forking::{ForkError, ForkPoint, NewFork};
use crate::snapshots::{SnapshotPlan, fetch};
use crate::travelling::ShareError;
use retrace_events::fold::FilesAt;
use retrace_events::mint::SystemMint;
use retrace_events::payload::settings::Settings;
use retrace_events::{EventId, EventLog, Writer};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a fork or a rewind begins with.
pub(in super::super) struct Beginning {
    pub(in super::super) log: Arc<dyn EventLog>,
    pub(in super::super) point: ForkPoint,
    /// What it goes on under.
    pub(in super::super) settings: Settings,
    /// Where snapshots are; `None` when none are taken.
    pub(in super::super) plan: Option<SnapshotPlan>,
    /// Whether the session came from a file, and so from somebody else.
    pub(in super::super) imported: bool,
}

impl Beginning {
    /// Looks the event up; `runs` says whether somebody goes on from there at once.
    ///
    /// # Errors
    /// When there is none, or nothing can go on from it.
    pub(in super::super) async fn find(setup: &Setup, event: &str, runs: bool) -> Result<Self, CliError> {
        let log = setup.open_log().await?;
        let named = event_name::find(log.as_ref(), event).await?;
        let point =
            ForkPoint::find_with(&setup.checkpoints(log.as_ref()), log.as_ref(), &named.stream, named.seq).await?;
        let unreadable =
            || CliError::new(Exit::Log, format!("session {} has no readable first event", named.stream.id));
        let logged = point.state.settings.clone().ok_or_else(unreadable)?;
        // Who only makes a fork sends nothing anywhere; whoever goes on with it is asked then.
        let settings = match setup.config.resumed(&logged, &setup.models) {
            Ok(resumed) => resumed.settings,
            Err(_) if !runs => logged,
            Err(error) => return Err(error.into()),
        };
        let imported = TrustList::load(setup.config.folders.imported_file())?.contains(&named.stream.subject());
        let plan = setup.snapshot_plan(log.as_ref()).map(|plan| SnapshotPlan { keeps_set_id: !imported, ..plan });
        Ok(Self { log, point, settings, plan, imported })
    }

    /// Fetches the files at the event where another host took them, and refuses where they cannot be had.
    ///
    /// # Errors
    /// Says why.
    pub(in super::super) async fn check_files(&self) -> Result<(), CliError> {
        let (FilesAt::At(tree), Some(plan)) = (&self.point.files, &self.plan) else {
            return Err(missing_files(&self.point, self.plan.is_some()));
        };
        match fetch(self.log.as_ref(), plan, tree).await {
            Err(ShareError::Missing { .. }) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
        if plan.store()?.has(&tree.parse()?)? {
            return Ok(());
        }
        let what = format!("snapshot {} of event {} is not in the store", clean::short(tree, 12), self.point.seq);
        Err(CliError::new(Exit::Snapshot, what).hint(
            "`retrace export` the session where it ran and `retrace import` it here, or take a folder as it is: --dir DIR --as-is",
        ))
    }

    /// Says so when the event that was asked for is inside a call.
    pub(in super::super) fn tell_if_moved(&self, setup: &Setup) {
        if let Some(asked) = self.point.moved_from {
            setup.output.note(&format!(
                "event {asked} is inside a tool call: going on from event {}, just before it\n",
                self.point.seq
            ));
        }
    }

    /// The folder that a fork gets where none was named: beside the original's, so that what lies beside that is found too.
    ///
    /// # Errors
    /// When there is no place for it.
    pub(in super::super) fn folder_beside(&self, id: EventId) -> Result<PathBuf, CliError> {
        let original = Path::new(&self.point.state.workspace);
        let random = format!("{:x}", id.0.as_u128() & 0xff_ffff_ffff);
        let name = original.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let parent = original.parent().and_then(|parent| parent.canonicalize().ok());
        let Some(parent) = parent.filter(|_| !self.imported && !name.is_empty()) else {
            return Err(CliError::new(
                Exit::Usage,
                "there is no place beside the original's folder for the fork's files",
            )
            .hint("name a folder: --dir DIR"));
        };
        if rustix::fs::access(&parent, rustix::fs::Access::WRITE_OK).is_err() {
            let parent = clean::line(&parent.display().to_string());
            return Err(CliError::new(Exit::Usage, format!("nothing can be written in {parent}"))
                .hint("name a folder for the fork's files: --dir DIR"));
        }
        Ok(parent.join(format!("{name}-fork-{random}")))
    }

    /// Writes the fork's first events.
    ///
    /// # Errors
    /// When they cannot be appended.
    pub(in super::super) async fn write(&self, setup: &Setup, fork: NewFork) -> Result<Writer, CliError> {
        if self.imported {
            // It is still somebody else's session.
            TrustList::load(setup.config.folders.imported_file())?.set(&clean::line(&fork.stream.subject()), true)?;
        }
        Ok(fork.write(Arc::clone(&self.log), Arc::new(SystemMint), &self.point).await?)
    }
}

/// Why there are no files to go on with.
pub(in super::super) fn missing_files(point: &ForkPoint, takes_snapshots: bool) -> CliError {
    let session = point.stream.id.as_str();
    let hint = "take a folder as it is: --dir DIR --as-is";
    match &point.files {
        FilesAt::Failed(why) => CliError::new(
            Exit::Snapshot,
            format!("the files at event {} of session {session} are not known: {}", point.seq, clean::short(why, 300)),
        )
        .hint(hint),
        FilesAt::At(_) if !takes_snapshots => CliError::new(Exit::Snapshot, "snapshots are turned off")
            .hint("retrace --help: `snapshots = \"on\"`, or RETRACE_SNAPSHOTS=on"),
        FilesAt::At(_) | FilesAt::Unknown => CliError::new(
            Exit::Snapshot,
            format!("session {session} has no snapshot of its files at event {}", point.seq),
        )
        .hint(hint),
    }
}

impl From<ForkError> for CliError {
    fn from(error: ForkError) -> Self {
        match error {
            ForkError::Log(error) => error.into(),
            ForkError::NoEvent { .. } | ForkError::NoSession(_) => Self::new(Exit::NotFound, error.to_string()),
            ForkError::Newer { .. } => Self::new(Exit::Log, error.to_string()).hint("use the newer version of retrace"),
        }
    }
}
