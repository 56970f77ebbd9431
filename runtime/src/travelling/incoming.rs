//! Snapshots in a file that is imported: pieces are put together, checked as a whole in a store that goes away again, and
//! only then taken in.

use super::{ShareError, blocking};
use retrace_events::jsonl::SnapshotPiece;
use retrace_sandbox::snapshot::{SnapshotStore, TreeId};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// What a file has brought of snapshots so far.
#[derive(Debug, Default)]
pub(crate) struct IncomingSnapshots {
    /// The streams, one behind the other; made with the first piece.
    file: Option<File>,
    /// Where each whole stream begins, and how many bytes it has.
    streams: Vec<(u64, u64)>,
    /// The stream whose pieces are coming.
    open: Option<Open>,
    /// Where the next byte goes.
    end: u64,
}

#[derive(Debug)]
struct Open {
    start: u64,
    next: u64,
}

impl IncomingSnapshots {
    /// Takes the next piece, into a file in `folder`; why it is none, in one line, is the inner error.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn take(&mut self, piece: &SnapshotPiece, folder: &Path) -> Result<Result<(), String>, ShareError> {
        let start = self.end;
        let open = self.open.get_or_insert(Open { start, next: 0 });
        if piece.number != open.next {
            return Ok(Err(format!("piece {} of the snapshots stands where {} should", piece.number, open.next)));
        }
        open.next += 1;
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(file_in(folder).map_err(ShareError::io("keep the snapshots"))?),
        };
        file.write_all(&piece.bytes).map_err(ShareError::io("keep the snapshots"))?;
        self.end += piece.bytes.len() as u64;
        if let Some(open) = self.open.take_if(|_| piece.is_last) {
            self.streams.push((open.start, self.end - open.start));
        }
        Ok(Ok(()))
    }

    /// Whether nothing came.
    pub(crate) const fn is_empty(&self) -> bool {
        self.streams.is_empty() && self.open.is_none()
    }

    /// Whether the last stream has no end.
    pub(crate) const fn is_cut(&self) -> bool {
        self.open.is_some()
    }

    /// Checks all of it, in a store beside `folder` that goes away again: hashes, sizes, and that nothing is missing.
    ///
    /// # Errors
    /// When something is damaged or missing.
    pub(crate) async fn check(self, folder: &Path) -> Result<Self, ShareError> {
        let folder = folder.to_owned();
        blocking(move || {
            let scratch = tempfile::Builder::new()
                .prefix("checking-")
                .tempdir_in(folder)
                .map_err(ShareError::io("check the snapshots"))?;
            let store = SnapshotStore::open(scratch.path())?;
            self.read_into(&store)?;
            Ok(self)
        })
        .await
    }

    /// Takes all of it into `store`; the snapshots.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn store(self, store: SnapshotStore) -> Result<Vec<TreeId>, ShareError> {
        blocking(move || self.read_into(&store)).await
    }

    fn read_into(&self, store: &SnapshotStore) -> Result<Vec<TreeId>, ShareError> {
        let mut snapshots = Vec::new();
        for (start, length) in &self.streams {
            let Some(mut file) = self.file.as_ref() else { break };
            file.seek(SeekFrom::Start(*start)).map_err(ShareError::io("read the snapshots"))?;
            let mut stream = BufReader::new(file).take(*length);
            snapshots.extend(store.import(&mut stream)?.snapshots);
            if stream.limit() > 0 {
                let reason = "there is more behind their end".to_owned();
                return Err(retrace_sandbox::snapshot::SnapshotError::Stream { reason }.into());
            }
        }
        Ok(snapshots)
    }
}

/// A file without a name in `folder`, which is made where it is not there.
fn file_in(folder: &Path) -> std::io::Result<File> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    tempfile::tempfile_in(folder)
}
