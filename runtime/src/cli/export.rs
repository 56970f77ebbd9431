//! `retrace export`: sessions in the open format, one JSON object a line.
//!
//! With a fork go the sessions it was forked from, whole, and with all of them their snapshots, behind the events.

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::{clean, units};
use super::session_name;
use super::setup::Setup;
use crate::deletion;
use crate::travelling::{OutgoingSnapshots, logged_trees};
use clap::Args;
use futures::TryStreamExt;
use retrace_events::log::StreamFilter;
use retrace_events::{Class, EventLog, StreamId, jsonl};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write sessions as JSON lines, the open format
#[derive(Debug, Args)]
pub(super) struct ExportCommand {
    /// The session: any unique beginning of its id
    #[arg(required_unless_present = "all")]
    session: Option<String>,
    /// Everything in the log
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// The file [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave out what looks like a secret, and all snapshots; the result can be read but not imported
    #[arg(long)]
    redact: bool,
    /// Leave out the snapshots of workspaces, and so the files
    #[arg(long)]
    no_snapshots: bool,
    /// JSON lines, the only format there is
    #[arg(long)]
    jsonl: bool,
}

impl ExportCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let (streams, ancestors) = with_ancestors(&setup, log.as_ref(), self.session.as_deref()).await?;
        let redactor = self.redact.then(|| setup.redactor.as_ref());
        let mut target = Target::open(self.output.as_deref(), &setup)?;
        let mut lines = 0;
        for stream in &streams {
            let mut export = jsonl::export_stream(log.as_ref(), stream, redactor);
            while let Some(line) = export.try_next().await? {
                target.line(&line)?;
                lines += 1;
            }
        }
        let trees = if self.no_snapshots { Vec::new() } else { logged_trees(log.as_ref(), &streams).await? };
        if self.redact && !trees.is_empty() {
            setup.output.note("snapshots are left out: they hold files as they are\n");
        } else if !trees.is_empty() {
            let snapshots = OutgoingSnapshots::gather(&setup.config.folders.state, log.as_ref(), &trees).await?;
            for problem in &snapshots.problems {
                setup.output.warn(&clean::line(&format!("a snapshot is left out: {problem}")));
            }
            lines += snapshots.lines(|line| target.line(line))?;
        }
        for ancestor in &ancestors {
            setup.output.note(&format!("with session {}, which it was forked from\n", ancestor.id));
        }
        if let Some(path) = target.finish()? {
            setup.output.note(&format!(
                "{} to {}\n",
                units::of(lines, "line"),
                clean::line(&path.display().to_string())
            ));
        }
        Ok(Exit::Done)
    }
}

/// The streams that are meant: a session with what was said to it and written about it, or everything.
pub(super) async fn streams(log: &dyn EventLog, session: Option<&str>) -> Result<Vec<StreamId>, CliError> {
    let Some(name) = session else {
        let mut all: Vec<StreamId> =
            log.streams(&StreamFilter::default()).await?.into_iter().map(|info| info.stream).collect();
        all.sort();
        return Ok(all);
    };
    with_siblings(log, &session_name::find(log, name).await?).await
}

/// As [`streams`], and before a fork the sessions it was forked from, which are named: nobody can read it without them.
pub(super) async fn with_ancestors(
    setup: &Setup,
    log: &dyn EventLog,
    session: Option<&str>,
) -> Result<(Vec<StreamId>, Vec<StreamId>), CliError> {
    let Some(name) = session else { return Ok((streams(log, None).await?, Vec::new())) };
    let stream = session_name::find(log, name).await?;
    let (ancestors, complete) = deletion::ancestors(log, &stream).await?;
    if !complete {
        setup.output.warn("a session that it was forked from is not in this log; the fork cannot be read without it");
    }
    let mut found = Vec::new();
    for stream in ancestors.iter().chain([&stream]) {
        found.extend(with_siblings(log, stream).await?);
    }
    Ok((found, ancestors))
}

async fn with_siblings(log: &dyn EventLog, stream: &StreamId) -> Result<Vec<StreamId>, CliError> {
    let mut found = vec![stream.clone()];
    for class in [Class::Control, Class::Summary] {
        let sibling = stream.sibling(class);
        if log.head(&sibling).await?.is_some() {
            found.push(sibling);
        }
    }
    Ok(found)
}

/// Where the lines go. A file appears whole or not at all.
enum Target<'a> {
    Stdout(&'a Setup),
    File(std::io::BufWriter<tempfile::NamedTempFile>, PathBuf),
}

impl<'a> Target<'a> {
    fn open(path: Option<&Path>, setup: &'a Setup) -> Result<Self, CliError> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else { return Ok(Self::Stdout(setup)) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::NamedTempFile::new_in(folder).map_err(|error| unwritable(path, &error))?;
        Ok(Self::File(std::io::BufWriter::new(file), path.to_owned()))
    }

    fn line(&mut self, line: &str) -> Result<(), CliError> {
        match self {
            Self::Stdout(setup) => setup.output.data(&format!("{line}\n")),
            Self::File(file, path) => file
                .write_all(line.as_bytes())
                .and_then(|()| file.write_all(b"\n"))
                .map_err(|error| unwritable(path, &error)),
        }
    }

    fn finish(self) -> Result<Option<PathBuf>, CliError> {
        let Self::File(file, path) = self else { return Ok(None) };
        let file = file.into_inner().map_err(|error| unwritable(&path, error.error()))?;
        file.as_file().sync_all().map_err(|error| unwritable(&path, &error))?;
        file.persist(&path).map_err(|error| unwritable(&path, &error.error))?;
        Ok(Some(path))
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    CliError::new(Exit::Failed, format!("cannot write {}: {error}", path.display()))
}
