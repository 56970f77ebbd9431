//! The checkpoints of one session: a folder of files. Blocks.

use super::fold_id::Kind;
use super::sealed::{Mark, seal, unseal};
use super::thinning;
use retrace_events::StreamId;
use retrace_events::codec::MAX_DERIVED_BYTES;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files that are being written begin like this.
const UNFINISHED: &str = ".unfinished-";
/// One that is so old is nobody's any more.
const UNFINISHED_TIME: Duration = Duration::from_secs(3_600);

/// The checkpoints of a session.
#[derive(Debug, Clone)]
pub(super) struct SessionShelf(PathBuf);

/// A file by what its name says.
struct Named {
    path: PathBuf,
    folded: String,
    seq: u64,
    code: String,
    bytes: u64,
}

impl SessionShelf {
    /// That of `stream`, beneath a log's folder.
    pub(super) fn of(log_folder: &Path, stream: &StreamId) -> Self {
        // A subject can be longer than a name may be.
        let hash = blake3::hash(stream.subject().as_bytes()).to_hex();
        Self(log_folder.join(format!("{}-{}", stream.id, &hash.as_str()[..16])))
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The events that there are checkpoints at.
    pub(super) fn seqs(&self, kind: Kind) -> BTreeSet<u64> {
        let code = kind.code.short();
        let is_ours = |named: &Named| named.folded == kind.folded.word() && named.code == code;
        self.files().into_iter().filter(is_ours).map(|named| named.seq).collect()
    }

    /// What is kept at `mark`; a file that is not what its name says is removed.
    pub(super) fn take(&self, kind: Kind, mark: Mark) -> Option<Vec<u8>> {
        let path = self.file(kind, mark.seq);
        let mut sealed = Vec::new();
        let limit = MAX_DERIVED_BYTES as u64;
        fs::File::open(&path).ok()?.take(limit).read_to_end(&mut sealed).ok()?;
        let bytes = unseal(kind.code, mark, &sealed);
        if bytes.is_none() {
            self.drop_at(kind, mark.seq);
        }
        bytes
    }

    /// Removes what is kept at event `seq`.
    pub(super) fn drop_at(&self, kind: Kind, seq: u64) {
        let path = self.file(kind, seq);
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!(path = %path.display(), %error, "a checkpoint that cannot be used stays");
        }
    }

    /// Keeps `bytes` at `mark`, and of the others what is still wanted. Whole or not at all; a power loss may leave a torn file,
    /// which its hash betrays. How many bytes were written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn keep(&self, kind: Kind, mark: Mark, bytes: &[u8]) -> io::Result<u64> {
        let sealed = seal(kind.code, mark, bytes)?;
        let size = sealed.len() as u64;
        if size > kind.folded.max_bytes() {
            return Ok(0);
        }
        // Only its user's: it holds what the session holds.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.0)?;
        file.write_all(&sealed)?;
        file.persist(self.file(kind, mark.seq)).map_err(|error| error.error)?;
        self.thin(kind);
        Ok(size)
    }

    /// Removes all of them.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub(super) fn clear(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn file(&self, kind: Kind, seq: u64) -> PathBuf {
        self.0.join(format!("{}-{seq:020}-{}.zst", kind.folded.word(), kind.code.short()))
    }

    fn files(&self) -> Vec<Named> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let named = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let mut parts = name.to_str()?.strip_suffix(".zst")?.splitn(3, '-');
            let (folded, seq, code) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?, parts.next()?.to_owned());
            Some(Named { path: entry.path(), folded, seq, code, bytes: entry.metadata().ok()?.len() })
        };
        entries.filter_map(named).collect()
    }

    /// Removes what is not wanted any more, what other code folded, and what somebody did not finish.
    fn thin(&self, kind: Kind) {
        let code = kind.code.short();
        let (mut ours, mut gone) = (Vec::new(), Vec::new());
        for named in self.files().into_iter().filter(|named| named.folded == kind.folded.word()) {
            if named.code == code { ours.push(named) } else { gone.push(named.path) }
        }
        let kept = within(&ours, kind);
        gone.extend(ours.into_iter().filter(|named| !kept.contains(&named.seq)).map(|named| named.path));
        gone.extend(self.abandoned());
        for path in gone {
            if let Err(error) = fs::remove_file(&path) {
                tracing::debug!(path = %path.display(), %error, "an old checkpoint stays");
            }
        }
    }

    fn abandoned(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let is_old = |entry: &fs::DirEntry| {
            let changed = entry.metadata().and_then(|meta| meta.modified());
            let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
            entry.file_name().to_string_lossy().starts_with(UNFINISHED) && age.is_some_and(|age| age > UNFINISHED_TIME)
        };
        entries.flatten().filter(is_old).map(|entry| entry.path()).collect()
    }
}

/// Which of them stay: as many as there is room for.
fn within(files: &[Named], kind: Kind) -> BTreeSet<u64> {
    let seqs: BTreeSet<u64> = files.iter().map(|named| named.seq).collect();
    let mut fine = thinning::FINE;
    loop {
        let kept = thinning::kept(&seqs, kind.interval, fine);
        let bytes: u64 = files.iter().filter(|named| kept.contains(&named.seq)).map(|named| named.bytes).sum();
        if bytes <= kind.folded.max_bytes() {
            return kept;
        }
        if fine == 1 {
            return seqs.last().copied().into_iter().collect();
        }
        fine /= 2;
    }
}
