//! The walk: folder by folder, without following anything.

use std::collections::HashMap;
use std::rc::Rc;

use ignore::gitignore::Gitignore;
use rustix::fs::{FileType, Statx};
use rustix::io::Errno;

use super::super::error::SnapshotError;
use super::super::folder::{Folder, MAX_PATH};
use super::super::objects::SeenRow;
use super::super::options::{Ignored, SnapshotOptions, WhyLeftOut};
use super::super::seen::{self, Seen};
use super::super::stamp::Stamp;
use super::super::tree::{self, MAX_TARGET, MODE_BITS};
use super::listing::{Listing, is_mounted, kind};
use super::repository::{self, Repository, Rules};
use super::{Scanned, ScannedEntry, ScannedFolder, ScannedNode};

const SET_USER: u16 = 0o4000;
const SET_GROUP: u16 = 0o2000;
/// The largest `.git` that is a file, in bytes.
const MAX_GITFILE: u64 = 8_192;

/// Looks around in a workspace.
pub(in super::super) fn scan(
    workspace: &Folder,
    options: &SnapshotOptions,
    known: &HashMap<Vec<u8>, SeenRow>,
) -> Result<Scanned, SnapshotError> {
    let root = rustix::fs::fstat(workspace).map_err(SnapshotError::io("look at", workspace.path()))?;
    let mode = u16::try_from(root.st_mode & u32::from(MODE_BITS)).unwrap_or_default();
    let ignored_bytes = match options.ignored {
        Ignored::LeaveOut => 0,
        Ignored::Include { max_total_bytes, .. } => max_total_bytes,
    };
    let mut walk = Walk {
        workspace,
        options,
        known,
        secrets: repository::lines(&options.secrets.join("\n")),
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
        entries: 0,
        bytes: 0,
        ignored_bytes,
        scanned: Scanned::default(),
        todo: Vec::new(),
    };
    walk.add_folder(Vec::new(), mode, Place::default());
    while let Some((index, place)) = walk.todo.pop() {
        walk.visit(index, place)?;
    }
    Ok(walk.scanned)
}

/// What is known of a folder before it is looked into.
#[derive(Debug, Clone, Default)]
struct Place {
    repository: Rc<Repository>,
    rules: Option<Rc<Rules>>,
    /// Inside of a `.git` folder everything counts.
    is_git: bool,
    /// Inside of an ignored folder only what git tracks counts.
    is_ignored: bool,
}

struct Walk<'a> {
    workspace: &'a Folder,
    options: &'a SnapshotOptions,
    known: &'a HashMap<Vec<u8>, SeenRow>,
    secrets: Option<Gitignore>,
    user: u32,
    group: u32,
    entries: u64,
    bytes: u64,
    /// Bytes of ignored files that may still be put in.
    ignored_bytes: u64,
    scanned: Scanned,
    todo: Vec<(usize, Place)>,
}

impl Walk<'_> {
    fn add_folder(&mut self, path: Vec<u8>, mode: u16, place: Place) -> usize {
        let index = self.scanned.folders.len();
        self.scanned.folders.push(ScannedFolder { path, mode, is_listed: false, entries: Vec::new() });
        self.todo.push((index, place));
        index
    }

    fn visit(&mut self, index: usize, mut place: Place) -> Result<(), SnapshotError> {
        let Some(path) = self.scanned.folders.get(index).map(|folder| folder.path.clone()) else { return Ok(()) };
        let listing = match Listing::read(self.workspace, &path, self.options.max_entries - self.entries) {
            Ok(listing) => listing,
            Err(Errno::OVERFLOW) => return Err(self.too_large("files and folders", self.options.max_entries)),
            Err(error) if path.is_empty() => {
                return Err(SnapshotError::io("list", self.workspace.path())(error));
            }
            Err(error) => {
                self.leave_out(&path, why(error));
                return Ok(());
            }
        };
        self.entries += listing.entries.len() as u64;
        if !place.is_git {
            self.enter(&path, &listing, &mut place);
        }
        let known = self.known;
        let mut known = known.get(&path).map(|row| seen::read(&row.stamps)).into_iter().flatten().peekable();
        let mut entries = Vec::with_capacity(listing.entries.len());
        for (name, stat) in &listing.entries {
            while known.next_if(|seen| seen.name < name.as_slice()).is_some() {}
            let seen = known.next_if(|seen| seen.name == name.as_slice());
            let full = tree::join(&path, name);
            let node = match stat {
                Ok(stat) => self.entry(&listing, name, full, stat, seen, &place)?,
                Err(Errno::NOENT) => None,
                Err(error) => self.absent(&full, why(*error)),
            };
            entries.extend(node.map(|node| ScannedEntry { name: name.clone(), node }));
        }
        if let Some(folder) = self.scanned.folders.get_mut(index) {
            folder.is_listed = true;
            folder.entries = entries;
        }
        Ok(())
    }

    /// Takes up what a folder says of the files in it: whether it is a repository, and what is to be ignored.
    fn enter(&mut self, path: &[u8], listing: &Listing, place: &mut Place) {
        if let Some(stat) = listing.get(b".git") {
            let git = self.git_folder(path, listing, stat);
            let exclude = git.as_ref().map(|git| tree::join(git, b"info/exclude"));
            place.repository = Rc::new(Repository::new(path.to_vec(), git));
            place.rules = None;
            place.is_ignored = false;
            if let Some(exclude) = exclude {
                self.add_rules(path, &exclude, place);
            }
        }
        if listing.get(b".gitignore").is_some_and(|stat| kind(stat) == FileType::RegularFile) {
            self.add_rules(path, &tree::join(path, b".gitignore"), place);
        }
    }

    fn add_rules(&mut self, folder: &[u8], file: &[u8], place: &mut Place) {
        match repository::read_rules(self.workspace, file) {
            Ok(Some(text)) => place.rules = Rules::add(place.rules.take(), folder, &text),
            Ok(None) => {}
            Err(()) => self.leave_out(file, WhyLeftOut::RulesUnread),
        }
    }

    /// Where the git folder is, if it lies in the workspace.
    fn git_folder(&mut self, path: &[u8], listing: &Listing, stat: &Statx) -> Option<Vec<u8>> {
        let git = tree::join(path, b".git");
        let led = match kind(stat) {
            FileType::Directory => Some(git),
            FileType::RegularFile => {
                let text = repository::read_small(self.workspace, &git, MAX_GITFILE).ok().flatten()?;
                repository::lead(path, repository::gitfile(&text)?)
            }
            FileType::Symlink => repository::lead(path, &listing.target(b".git").ok()?),
            _ => None,
        }?;
        let elsewhere = tree::join(&led, b"objects/info/alternates");
        if !matches!(repository::read_small(self.workspace, &elsewhere, MAX_GITFILE), Ok(None)) {
            self.leave_out(&elsewhere, WhyLeftOut::ObjectsElsewhere);
        }
        Some(led)
    }

    fn entry(
        &mut self,
        listing: &Listing,
        name: &[u8],
        path: Vec<u8>,
        stat: &Statx,
        seen: Option<Seen<'_>>,
        place: &Place,
    ) -> Result<Option<ScannedNode>, SnapshotError> {
        let kind = kind(stat);
        let is_folder = kind == FileType::Directory;
        if path.len() > MAX_PATH {
            return Ok(self.absent(&path, WhyLeftOut::PathTooLong));
        }
        if is_mounted(stat) {
            return Ok(self.absent(&path, WhyLeftOut::Mounted));
        }
        let is_dot_git = !place.is_git && name == b".git";
        let mut inside = place.clone();
        inside.is_git |= is_dot_git && is_folder;
        if is_dot_git && !is_folder && place.repository.git().is_none() {
            return Ok(self.absent(&path, WhyLeftOut::GitElsewhere));
        }
        if !place.is_git
            && !is_dot_git
            && let Some(why) = self.unwanted(name, &path, stat, is_folder, &mut inside)
        {
            return Ok(self.absent(&path, why));
        }
        Ok(match kind {
            FileType::Directory => {
                let mode = stat.stx_mode & MODE_BITS;
                Some(ScannedNode::Folder(self.add_folder(path, mode, inside)))
            }
            FileType::Symlink => match listing.target(name) {
                Ok(target) if !target.is_empty() && target.len() <= MAX_TARGET => Some(ScannedNode::Link { target }),
                Ok(_) => self.absent(&path, WhyLeftOut::PathTooLong),
                Err(error) => self.absent(&path, why(error)),
            },
            FileType::RegularFile => self.file(&path, stat, seen)?,
            _ => self.absent(&path, WhyLeftOut::Special),
        })
    }

    /// Why the rules keep something out, if they do; notes for a folder that only what git tracks in it is wanted.
    fn unwanted(
        &mut self,
        name: &[u8],
        path: &[u8],
        stat: &Statx,
        is_folder: bool,
        inside: &mut Place,
    ) -> Option<WhyLeftOut> {
        let is_ignored = inside.is_ignored || inside.rules.as_ref().is_some_and(|rules| rules.ignore(path, is_folder));
        let is_secret =
            !is_folder && self.secrets.as_ref().is_some_and(|secrets| repository::matches_name(secrets, name));
        if !is_ignored && !is_secret {
            return None;
        }
        let tracked = inside.repository.tracked(self.workspace);
        if tracked.is_none() && inside.repository.is_first_complaint() {
            let index = tree::join(inside.repository.git().unwrap_or_default(), b"index");
            self.scanned.left_out.add(&index, WhyLeftOut::IndexUnread);
        }
        let in_repository = inside.repository.name_of(path);
        if tracked.is_some_and(|tracked| tracked.has(in_repository)) {
            inside.is_ignored = false;
            return None;
        }
        if is_secret {
            return Some(WhyLeftOut::Secret);
        }
        inside.is_ignored = true;
        let size = if is_folder { 0 } else { stat.stx_size };
        match self.options.ignored {
            Ignored::LeaveOut if is_folder && tracked.is_some_and(|tracked| tracked.has_beneath(in_repository)) => None,
            Ignored::LeaveOut => Some(WhyLeftOut::Ignored),
            Ignored::Include { max_file_bytes, .. } if size > max_file_bytes => {
                Some(WhyLeftOut::TooLarge { bytes: size })
            }
            Ignored::Include { .. } => match self.ignored_bytes.checked_sub(size) {
                Some(left) => {
                    self.ignored_bytes = left;
                    None
                }
                None => Some(WhyLeftOut::IgnoredBudget),
            },
        }
    }

    fn file(
        &mut self,
        path: &[u8],
        stat: &Statx,
        seen: Option<Seen<'_>>,
    ) -> Result<Option<ScannedNode>, SnapshotError> {
        if stat.stx_size > self.options.max_file_bytes {
            return Ok(self.absent(path, WhyLeftOut::TooLarge { bytes: stat.stx_size }));
        }
        self.bytes = self.bytes.saturating_add(stat.stx_size);
        if self.bytes > self.options.max_total_bytes {
            return Err(self.too_large("bytes in files", self.options.max_total_bytes));
        }
        let stamp = Stamp::of_statx(stat);
        let dropped = stamp.mode & self.foreign_bits(stat);
        if dropped != 0 {
            self.leave_out(path, WhyLeftOut::SetIdOfAnother);
        }
        let id = seen.filter(|seen| seen.stamp == stamp).map(|seen| seen.id);
        Ok(Some(ScannedNode::File { stamp, id, dropped }))
    }

    /// A restored file belongs to whoever restores it. A program that ran as somebody else must not come back as one
    /// that runs as them.
    fn foreign_bits(&self, stat: &Statx) -> u16 {
        let user = if stat.stx_uid == self.user { 0 } else { SET_USER };
        let group = if stat.stx_gid == self.group { 0 } else { SET_GROUP };
        user | group
    }

    fn leave_out(&mut self, path: &[u8], why: WhyLeftOut) {
        self.scanned.left_out.add(path, why);
    }

    /// Says why there is nothing of it in the snapshot.
    fn absent(&mut self, path: &[u8], why: WhyLeftOut) -> Option<ScannedNode> {
        self.leave_out(path, why);
        None
    }

    fn too_large(&self, what: &'static str, limit: u64) -> SnapshotError {
        SnapshotError::TooLarge { folder: self.workspace.path().to_path_buf(), what, limit }
    }
}

/// What it means for the snapshot that something cannot be looked at.
pub(in super::super) fn why(error: Errno) -> WhyLeftOut {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => WhyLeftOut::Vanished,
        Errno::XDEV => WhyLeftOut::Mounted,
        Errno::NAMETOOLONG => WhyLeftOut::PathTooLong,
        _ => WhyLeftOut::Unreadable,
    }
}
