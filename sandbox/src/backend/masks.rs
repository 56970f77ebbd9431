//! Finds the files of a workspace that must read as empty.
//!
//! The workspace's upper levels are looked through, not the whole tree: a start must stay quick in a tree of any size.
//! A secret that is created after the start is not masked; it was then either made by the agent itself or put in its
//! reach knowingly.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// Levels below the workspace that are looked through.
const MAX_DEPTH: usize = 3;
/// The most folders that are looked into.
const MAX_DIRS: usize = 512;
/// The most entries that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// The most files that are masked; each is a mount.
const MAX_MASKS: usize = 64;
/// Folders of other people's files, where no secret of this project lies.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// The files to mask, those highest up first.
pub(crate) fn find(workspace: &Path, names: &[String]) -> Vec<PathBuf> {
    let mut masks = Vec::new();
    let mut open = VecDeque::from([(workspace.to_path_buf(), 0)]);
    let (mut dirs, mut entries) = (0, 0);
    while let Some((dir, depth)) = open.pop_front() {
        dirs += 1;
        if dirs > MAX_DIRS || entries > MAX_ENTRIES || masks.len() >= MAX_MASKS {
            break;
        }
        for name in names {
            masks.extend(real_file(workspace, &dir.join(name)));
        }
        if depth == MAX_DEPTH || names.is_empty() {
            continue;
        }
        let Ok(listing) = fs::read_dir(&dir) else { continue };
        for entry in listing.flatten() {
            entries += 1;
            let is_dir = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
            if is_dir && !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                open.push_back((entry.path(), depth + 1));
            }
        }
    }
    masks.sort();
    masks.dedup();
    masks.truncate(MAX_MASKS);
    masks
}

/// Where the contents really are: a mount over a link would cover the link's target anyway. What lies outside the
/// workspace is not visible in the first place.
fn real_file(workspace: &Path, path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    (real.is_file() && real.starts_with(workspace)).then_some(real)
}
