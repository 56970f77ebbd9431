//! What a repository in the workspace says of its files: which it tracks, and which are to be ignored.

use std::cell::{Cell, OnceCell};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, fstat};

use super::super::folder::Folder;
use super::super::tree;
use super::tracked::Tracked;

/// The largest `.gitignore` that is obeyed, in bytes.
const MAX_RULES: u64 = 1 << 20;
/// The largest index that is read, in bytes: a few million files.
const MAX_INDEX: u64 = 512 << 20;

/// A repository, or the workspace as a whole where there is none.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// The folder it is about.
    folder: Vec<u8>,
    /// Its git folder, when that lies in the workspace.
    git: Option<Vec<u8>>,
    tracked: OnceCell<Option<Tracked>>,
    is_complained_about: Cell<bool>,
}

impl Repository {
    pub(super) fn new(folder: Vec<u8>, git: Option<Vec<u8>>) -> Self {
        Self { folder, git, ..Self::default() }
    }

    /// What it tracks; `None` when its index cannot be read.
    pub(super) fn tracked(&self, workspace: &Folder) -> Option<&Tracked> {
        let read = || {
            let Some(git) = &self.git else { return Some(Tracked::default()) };
            match read_small(workspace, &tree::join(git, b"index"), MAX_INDEX) {
                Ok(Some(bytes)) => Tracked::parse(&bytes),
                Ok(None) => Some(Tracked::default()),
                Err(()) => None,
            }
        };
        self.tracked.get_or_init(read).as_ref()
    }

    /// Whether nobody has complained yet that its index cannot be read.
    pub(super) fn is_first_complaint(&self) -> bool {
        !self.is_complained_about.replace(true)
    }

    pub(super) fn git(&self) -> Option<&[u8]> {
        self.git.as_deref()
    }

    /// A path of the workspace as the repository names it.
    pub(super) fn name_of<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        beneath(&self.folder, path)
    }
}

/// The lines of one `.gitignore`, and those above it.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Rc<Rules>>,
    folder: Vec<u8>,
    lines: Gitignore,
}

impl Rules {
    /// Adds the lines of a file to those above; a line that is no pattern is passed over, as git does.
    pub(super) fn add(above: Option<Rc<Self>>, folder: &[u8], text: &str) -> Option<Rc<Self>> {
        match lines(text) {
            Some(lines) if !lines.is_empty() => Some(Rc::new(Self { above, folder: folder.to_vec(), lines })),
            _ => above,
        }
    }

    /// Whether the path is to be ignored: the nearest file that says anything decides.
    pub(super) fn ignore(&self, path: &[u8], is_folder: bool) -> bool {
        match self.lines.matched(as_path(beneath(&self.folder, path)), is_folder) {
            Match::Ignore(_) => true,
            Match::Whitelist(_) => false,
            Match::None => self.above.as_ref().is_some_and(|above| above.ignore(path, is_folder)),
        }
    }
}

/// Lines as in a `.gitignore`.
pub(super) fn lines(text: &str) -> Option<Gitignore> {
    // With `.` as its root the matcher takes paths as they are.
    let mut builder = GitignoreBuilder::new(".");
    // A pattern of nothing matches nothing for git, and everything for the matcher.
    let is_empty = |line: &str| matches!(line.strip_prefix('!').unwrap_or(line).trim_end_matches(' '), "" | "/");
    for line in text.lines().filter(|line| !is_empty(line)) {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

/// Whether a file of this name is matched.
pub(super) fn matches_name(lines: &Gitignore, name: &[u8]) -> bool {
    lines.matched(as_path(name), false).is_ignore()
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn beneath<'a>(folder: &[u8], path: &'a [u8]) -> &'a [u8] {
    if folder.is_empty() { path } else { path.get(folder.len() + 1..).unwrap_or_default() }
}

/// The lines of a file with patterns; `Err` when they cannot be obeyed.
pub(super) fn read_rules(workspace: &Folder, path: &[u8]) -> Result<Option<String>, ()> {
    let bytes = read_small(workspace, path, MAX_RULES)?;
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| ())).transpose()
}

/// A small regular file of the workspace; `None` when there is no such file, `Err` when it cannot be read.
pub(super) fn read_small(workspace: &Folder, path: &[u8], max_bytes: u64) -> Result<Option<Vec<u8>>, ()> {
    let file = match workspace.open_file(path) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(_) => return Err(()),
    };
    read_open(file, max_bytes).map(Some)
}

fn read_open(file: OwnedFd, max_bytes: u64) -> Result<Vec<u8>, ()> {
    use std::io::Read as _;
    let stat = fstat(&file).map_err(|_| ())?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(());
    }
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(max_bytes + 1).read_to_end(&mut bytes).map_err(|_| ())?;
    if bytes.len() as u64 > max_bytes { Err(()) } else { Ok(bytes) }
}

/// Where a `.git` that is a file or a link leads to, seen from `folder`: a path of the workspace, or `None` when it
/// leads out of it or is absolute. An absolute one would lead back to the original from every copy.
pub(super) fn lead(folder: &[u8], target: &[u8]) -> Option<Vec<u8>> {
    if target.is_empty() || target.starts_with(b"/") {
        return None;
    }
    let mut parts: Vec<&[u8]> = folder.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).collect();
    for part in target.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join(&b'/'))
}

/// What a `.git` file says.
pub(super) fn gitfile(text: &[u8]) -> Option<&[u8]> {
    Some(text.strip_prefix(b"gitdir:")?.trim_ascii())
}
