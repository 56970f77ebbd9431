//! The index as of one commit, and whether what lies in the folder can be one.

use crate::keyword::error::KeywordError;
use crate::keyword::guard::guarded;
use crate::keyword::schema::{VERSION, schema};
use std::io;
use std::path::{Path, PathBuf};
use tantivy::directory::MmapDirectory;
use tantivy::index::{SegmentComponent, SegmentMeta};
use tantivy::{Index, IndexMeta, IndexReader, Searcher, TantivyError};

/// The engine's list of what an index is made of.
const META: &str = "meta.json";
/// A file that is shorter than this cannot be one of the engine's.
const FOOTER_BYTES: u64 = 8;
/// How often a commit that comes in between is tolerated while reading.
const ATTEMPTS: usize = 32;

/// The index as of one commit.
pub(super) struct Snapshot {
    pub(super) searcher: Searcher,
    pub(super) note: String,
    /// What [`META`] held, to see whether anything has been committed since.
    meta: Vec<u8>,
}

impl Snapshot {
    /// The newest commit.
    pub(super) fn load(folder: &Path, index: &Index, reader: &IndexReader) -> Result<Self, KeywordError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let meta = meta_bytes(folder)?.ok_or_else(|| KeywordError::damaged(folder, "meta.json is missing"))?;
            let note = note_of(folder, &guarded(folder, || index.load_metas())?)?;
            guarded(folder, || reader.reload())?;
            // A commit in between would give the documents of one and the note of the other.
            if meta_bytes(folder)?.as_ref() == Some(&meta) || attempt == ATTEMPTS {
                return Ok(Self { searcher: reader.searcher(), note, meta });
            }
        }
    }

    /// Whether nothing was committed since.
    pub(super) fn is_newest(&self, folder: &Path) -> Result<bool, KeywordError> {
        Ok(meta_bytes(folder)?.as_ref() == Some(&self.meta))
    }
}

/// Whether an index lies in `folder`: `false` if there is none at all.
///
/// # Errors
/// What lies there is damaged or of another version.
pub(super) fn check(folder: &Path) -> Result<bool, KeywordError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let Some(meta) = meta_bytes(folder)? else { return no_index(folder) };
        let metas = guarded(folder, || Index::open(MmapDirectory::open(folder)?)?.load_metas())?;
        note_of(folder, &metas)?;
        let Some(missing) = metas.segments.iter().flat_map(files).find(|file| !is_there(folder, file)) else {
            return Ok(true);
        };
        // Another process may have put segments together meanwhile, and deleted the old ones.
        if attempt == ATTEMPTS || meta_bytes(folder)?.as_ref() == Some(&meta) {
            return Err(KeywordError::damaged(folder, format!("{} is missing or cut short", missing.display())));
        }
    }
}

/// Files that do not have the content they were written with.
pub(super) fn broken_files(folder: &Path, index: &Index) -> Result<Vec<String>, KeywordError> {
    guarded(folder, || {
        let mut broken = Vec::new();
        for file in index.load_metas()?.segments.iter().flat_map(files) {
            if !index.directory().validate_checksum(&file)? {
                broken.push(file.display().to_string());
            }
        }
        broken.sort();
        Ok(broken)
    })
}

fn meta_bytes(folder: &Path) -> Result<Option<Vec<u8>>, KeywordError> {
    match std::fs::read(folder.join(META)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(KeywordError::io(folder, error)),
    }
}

/// Without its list, a folder with segments is a damaged index, and any other folder is none.
fn no_index(folder: &Path) -> Result<bool, KeywordError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(KeywordError::io(folder, error)),
    };
    let is_segment =
        |name: &Path| name.extension().is_some_and(|extension| extension == "term" || extension == "store");
    if entries.flatten().any(|entry| is_segment(Path::new(&entry.file_name()))) {
        return Err(KeywordError::damaged(folder, "meta.json is missing"));
    }
    Ok(false)
}

/// The caller's note of a commit, if it is of this version.
fn note_of(folder: &Path, metas: &IndexMeta) -> Result<String, KeywordError> {
    let other = |found: &str| KeywordError::OtherVersion {
        folder: folder.to_owned(),
        found: found.chars().filter(|letter| !letter.is_control()).take(20).collect(),
    };
    let note = match &metas.payload {
        Some(payload) => match payload.split_once('\n') {
            Some((VERSION, note)) => note.to_owned(),
            Some((version, _)) => return Err(other(version)),
            None => return Err(other(payload)),
        },
        None if metas.segments.is_empty() => String::new(),
        None => return Err(other("none")),
    };
    if metas.schema == schema().0 { Ok(note) } else { Err(other("another schema")) }
}

/// All files of a segment. The engine itself takes one without positions for one that has none.
fn files(segment: &SegmentMeta) -> Vec<PathBuf> {
    let always = [
        SegmentComponent::Terms,
        SegmentComponent::Postings,
        SegmentComponent::Positions,
        SegmentComponent::FastFields,
        SegmentComponent::FieldNorms,
        SegmentComponent::Store,
    ];
    let deletes = segment.has_deletes().then_some(SegmentComponent::Delete);
    always.into_iter().chain(deletes).map(|component| segment.relative_path(component)).collect()
}

/// Whether a file is there and long enough to have the engine's footer, whose absence the engine does not take well.
fn is_there(folder: &Path, file: &Path) -> bool {
    std::fs::metadata(folder.join(file)).is_ok_and(|data| data.is_file() && data.len() >= FOOTER_BYTES)
}

/// The engine's error for a stored document that is none of ours.
pub(super) fn not_a_document() -> TantivyError {
    TantivyError::InternalError("a stored document cannot be read".to_owned())
}
