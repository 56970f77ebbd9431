//! `retrace import`: takes in what `retrace export` wrote, here or elsewhere.
//!
//! The file is read twice: once to check all of it (hashes, chains, what the log has already), once to store it. So a bad
//! file changes nothing, and importing the same file again changes nothing either.

use super::exit::{CliError, Exit};
use super::import_claude_code::ImportClaudeCode;
use super::invocation::Invocation;
use super::render::{clean, units};
use super::setup::Setup;
use super::transfer::{Tally, Transfer};
use crate::config::TrustList;
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
    let mut file = open(path)?;
    let (_, grown) = pass(&mut file, log.as_ref(), false, path).await?;
    // Before the first event is there: a crash must not leave a foreign session that passes for the user's own.
    remember(&setup, &grown)?;
    let (tally, _) = pass(&mut file, log.as_ref(), true, path).await?;
    if setup.output.json {
        setup.output.json_line(&json!({
            "streams": tally.streams, "stored": tally.stored, "present": tally.present, "blobs": tally.blobs
        }))?;
    } else {
        setup.output.data(&format!(
            "{} imported into {} ({} already there)\n",
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

async fn pass(
    file: &mut File,
    log: &dyn EventLog,
    store: bool,
    path: &Path,
) -> Result<(Tally, Vec<StreamId>), CliError> {
    let unreadable =
        |error: std::io::Error| CliError::new(Exit::Failed, format!("cannot read {}: {error}", path.display()));
    file.rewind().map_err(unreadable)?;
    let mut reader = BufReader::new(file);
    let mut transfer = Transfer::new(log, store);
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
