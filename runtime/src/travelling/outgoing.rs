//! Snapshots for an export: all of them in one stream, so that what they have in common goes once, in pieces of bounded size.

use super::{LoggedTree, ShareError, blocking, ensure, store_of};
use retrace_events::{EventLog, jsonl};
use retrace_sandbox::snapshot::{SnapshotError, SnapshotStore, TreeId};
use std::fs::File;
use std::io::{BufWriter, Read, Seek as _, Write as _};
use std::path::Path;

/// How many bytes stand in a line.
const PIECE_BYTES: usize = 256 * 1024;

/// Snapshots, ready to be written.
#[derive(Debug)]
pub(crate) struct OutgoingSnapshots {
    /// The stream.
    file: Option<File>,
    /// What of them is not there, each in one line.
    pub(crate) problems: Vec<String>,
}

impl OutgoingSnapshots {
    /// Gathers `trees`, from beside `log` where they are not here. Those that cannot be had are left out.
    ///
    /// # Errors
    /// When the store cannot be used, or there is no room for the stream.
    pub(crate) async fn gather(
        state_folder: &Path,
        log: &dyn EventLog,
        trees: &[LoggedTree],
    ) -> Result<Self, ShareError> {
        let store = store_of(state_folder, log)?;
        let (mut there, mut problems) = (Vec::new(), Vec::new());
        for LoggedTree { tree, .. } in trees {
            match ensure(log, &store, tree).await {
                Ok(_) => there.push(*tree),
                Err(error @ (ShareError::Missing { .. } | ShareError::Damaged { .. })) => problems.push(line(&error)),
                Err(error) => return Err(error),
            }
        }
        let (file, damaged) = blocking(move || written(&store, there)).await?;
        problems.extend(damaged);
        Ok(Self { file, problems })
    }

    /// Writes the lines to `out`; how many.
    ///
    /// # Errors
    /// When the stream cannot be read, or `out` fails.
    pub(crate) fn lines<E: From<ShareError>>(&self, mut out: impl FnMut(&str) -> Result<(), E>) -> Result<u64, E> {
        let Some(mut file) = self.file.as_ref() else { return Ok(0) };
        let unreadable = |error| E::from(ShareError::io("read the snapshots")(error));
        file.rewind().map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let (mut number, mut done) = (0, 0);
        while done < length {
            let mut piece = Vec::new();
            Read::by_ref(&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece).map_err(unreadable)?;
            if piece.is_empty() {
                return Err(unreadable(std::io::ErrorKind::UnexpectedEof.into()));
            }
            done += piece.len() as u64;
            out(&jsonl::export_snapshot_line(number, &piece, done >= length))?;
            number += 1;
        }
        Ok(number)
    }
}

/// The stream of `trees`, without those that turn out damaged.
fn written(store: &SnapshotStore, mut trees: Vec<TreeId>) -> Result<(Option<File>, Vec<String>), ShareError> {
    let mut problems = Vec::new();
    while !trees.is_empty() {
        let file = tempfile::tempfile_in(store.dir()).map_err(ShareError::io("gather the snapshots"))?;
        let mut out = BufWriter::new(file);
        match store.export(&trees, &[], &mut out) {
            Ok(_) => {
                out.flush().map_err(ShareError::io("gather the snapshots"))?;
                let file = out.into_inner().map_err(|e| ShareError::io("gather the snapshots")(e.into_error()))?;
                return Ok((Some(file), problems));
            }
            Err(error @ (SnapshotError::Missing { snapshot, .. } | SnapshotError::Damaged { snapshot, .. }))
                if trees.contains(&snapshot) =>
            {
                problems.push(line(&error));
                trees.retain(|tree| *tree != snapshot);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok((None, problems))
}

fn line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
