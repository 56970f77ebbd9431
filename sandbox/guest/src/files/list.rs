//! Listing a folder.

use std::fs::FileType;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use super::walk::{Batch, Watch, walk};
use crate::mailbox::Mailbox;
use crate::message::{Entry, EntryKind, Failure, ListDone, ListSpec, Response, Truncation};
use crate::raw_path::RawPath;
use crate::server::Guest;

/// How long one listing may take.
const LIST_TIME: Duration = Duration::from_secs(30);

/// Lists what lies below a folder, in order of names.
pub(crate) fn list(guest: &Guest, id: u64, spec: &ListSpec, mailbox: &Mailbox) -> Result<Response, Failure> {
    guest.root.open_dir(Some(&spec.path))?;
    let watch = Watch::new(mailbox, LIST_TIME);
    let mut batch = Batch::new(guest, id, |entries| Response::Entries { entries });
    let mut done = ListDone { entries: 0, unreadable: 0, truncated: None };
    for found in walk(&guest.root, &spec.path, spec.respect_gitignore, spec.depth, None)? {
        if watch.is_over()? {
            done.truncated = Some(Truncation::Time);
            break;
        }
        let Ok(found) = found else {
            done.unreadable += 1;
            continue;
        };
        if found.depth() == 0 {
            continue;
        }
        if done.entries >= spec.limit {
            done.truncated = Some(Truncation::Count);
            break;
        }
        let (Ok(path), Ok(metadata)) = (found.path().strip_prefix(guest.root.path()), found.metadata()) else {
            // Gone since the folder was read.
            done.unreadable += 1;
            continue;
        };
        let entry =
            Entry { path: RawPath::from(path), kind: kind_of(metadata.file_type()), size_bytes: metadata.len() };
        done.entries += 1;
        let full = batch.push(entry, path.as_os_str().as_bytes().len())?;
        if full.is_some() {
            done.truncated = full;
            break;
        }
    }
    batch.flush()?;
    Ok(Response::ListDone(done))
}

fn kind_of(file_type: FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_symlink() {
        EntryKind::Symlink
    } else {
        EntryKind::Special
    }
}
