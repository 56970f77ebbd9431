//! `retrace import`: takes in what `retrace export` wrote, here or elsewhere.
//!
//! The file is read twice: once to check all of it (hashes, chains, what the log has already, snapshots), once to store it. So
//! a bad file changes nothing, and importing the same file again changes nothing either. Snapshots come in before the
//! events that name them.

use super::exit::{CliError, Exit};
use super::import_claude_code::ImportClaudeCode;
use super::invocation::Invocation;
use super::render::{clean, units};
use super::setup::Setup;
use super::transfer::{Tally, Transfer};
use crate::config::TrustList;
use crate::travelling::{self, IncomingSnapshots, ShareError};
use clap::{Args, Subcommand};
use retrace_events::jsonl::{self, Line};
use retrace_events::{Class, EventLog, StreamId};
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Take in sessions from JSON lines, or from another program
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct ImportCommand {
    #[command(subcommand)]
    from: Option<ImportFrom>,
    /// The file; `-` is stdin
    #[arg(required = true)]
    file: Option<PathBuf>,
    /// JSON lines, the only format there is
    #[arg(long)]
    jsonl: bool,
}

/// Programs whose sessions can be taken in.
#[derive(Debug, Subcommand)]
enum ImportFrom {
    ClaudeCode(ImportClaudeCode),
}

impl ImportCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        match (self.from, self.file) {
            (Some(ImportFrom::ClaudeCode(command)), _) => command.run(invocation).await,
            (None, Some(file)) => import(&file, invocation).await,
            (None, None) => Err(CliError::new(Exit::Usage, "import what?").hint("retrace import FILE")),
        }
    }
}

async fn import(path: &Path, invocation: &Invocation) -> Result<Exit, CliError> {
    let setup = Setup::for_reading(invocation)?;
    let log = setup.open_log().await?;
    let state = setup.config.folders.state.clone();
    let mut file = open(path)?;
    let mut snapshots = IncomingSnapshots::default();
    let (_, grown) = pass(&mut file, log.as_ref(), path, Pass::Checks(&mut snapshots, &state)).await?;
    let refused = |error: ShareError| CliError::new(Exit::Failed, format!("{}: {error}", path.display()));
    if snapshots.is_cut() {
        let what = format!("{}: the snapshots at its end are cut", path.display());
        return Err(CliError::new(Exit::Failed, what).hint("nothing was changed; export it again"));
    }
    let snapshots = if snapshots.is_empty() { snapshots } else { snapshots.check(&state).await.map_err(refused)? };
    // Before the first event is there: a crash must not leave a foreign session that passes for the user's own.
    remember(&setup, &grown)?;
    let taken_in = match snapshots.is_empty() {
        true => Vec::new(),
        false => snapshots.store(travelling::store_of(&state, log.as_ref()).map_err(ShareError::from)?).await?,
    };
    let (mut tally, _) = pass(&mut file, log.as_ref(), path, Pass::Stores).await?;
    tally.snapshots = taken_in.len() as u64;
    let said = travelling::settle(&state, log.as_ref(), &grown).await;
    if let Err(error) = said {
        // The sessions are here and whole; other hosts may not have their files.
        setup.output.warn(&clean::line(&format!("their files were not put beside the log: {error}")));
    }
    if setup.output.json {
        setup.output.json_line(&json!({
            "streams": tally.streams, "stored": tally.stored, "present": tally.present, "blobs": tally.blobs,
            "snapshots": tally.snapshots
        }))?;
    } else {
        let snapshots = match tally.snapshots {
            0 => String::new(),
            some => format!(", {}", units::of(some, "snapshot")),
        };
        setup.output.data(&format!(
            "{} imported into {} ({} already there){snapshots}\n",
            units::of(tally.stored, "event"),
            units::of(tally.streams, "stream"),
            units::count(tally.present)
        ))?;
    }
    for stream in grown.iter().filter(|stream| stream.class == Class::Session) {
        setup.output.note(&format!("session {}\n", stream.id));
    }
    Ok(Exit::Done)
}

/// Opens the file for reading twice; what cannot be read twice (stdin, a pipe) is copied first.
fn open(path: &Path) -> Result<File, CliError> {
    let unreadable =
        |error: std::io::Error| CliError::new(Exit::Usage, format!("cannot read {}: {error}", path.display()));
    if path == Path::new("-") {
        let mut copy = tempfile::tempfile().map_err(unreadable)?;
        std::io::copy(&mut std::io::stdin().lock(), &mut copy).map_err(unreadable)?;
        return Ok(copy);
    }
    let mut file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_file() {
        return Ok(file);
    }
    let mut copy = tempfile::tempfile().map_err(unreadable)?;
    std::io::copy(&mut file, &mut copy).map_err(unreadable)?;
    Ok(copy)
}

/// What reading the file is for.
enum Pass<'a> {
    /// Everything is checked, and nothing stored; snapshots are gathered, in a file in the folder.
    Checks(&'a mut IncomingSnapshots, &'a Path),
    /// Everything but the snapshots is stored.
    Stores,
}

async fn pass(
    file: &mut File,
    log: &dyn EventLog,
    path: &Path,
    mut pass: Pass<'_>,
) -> Result<(Tally, Vec<StreamId>), CliError> {
    let unreadable =
        |error: std::io::Error| CliError::new(Exit::Failed, format!("cannot read {}: {error}", path.display()));
    file.rewind().map_err(unreadable)?;
    let mut reader = BufReader::new(file);
    let mut transfer = Transfer::new(log, matches!(pass, Pass::Stores));
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        number += 1;
        let limit = jsonl::MAX_LINE_BYTES as u64 + 1;
        let read = reader.by_ref().take(limit).read_until(b'\n', &mut line).map_err(unreadable)?;
        if read == 0 {
            return transfer.finish().await;
        }
        let place = |error: &dyn std::fmt::Display| {
            CliError::new(Exit::Failed, format!("{}:{number}: {error}", path.display()))
        };
        let text = std::str::from_utf8(&line).map_err(|_| place(&"not UTF-8"))?.trim();
        if text.is_empty() {
            continue;
        }
        match jsonl::import_line(text).map_err(|error| place(&error))? {
            Line::Event(envelope) => transfer.event(*envelope).await?,
            Line::Blob { bytes, .. } => transfer.blob(&bytes).await?,
            Line::Snapshots(piece) => {
                if let Pass::Checks(snapshots, folder) = &mut pass {
                    snapshots.take(&piece, folder)?.map_err(|what| place(&what))?;
                }
            }
        }
    }
}

/// Keeps in mind which sessions somebody else may have written: `resume` asks before it works in their folder.
fn remember(setup: &Setup, grown: &[StreamId]) -> Result<(), CliError> {
    let mut list = TrustList::load(setup.config.folders.imported_file())?;
    for stream in grown.iter().filter(|stream| stream.class == Class::Session) {
        list.set(&clean::line(&stream.subject()), true)?;
    }
    Ok(())
}
