//! Random operations on files, as an agent and its tools might do them.

use super::git;
use proptest::prelude::*;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const NAMES: [&[u8]; 9] =
    [b"a", b"b", b"dir", b"\xff\xfe", b"new\nline", b"-x", b" ", "\u{fc}n\u{ef}".as_bytes(), b"main.rs"];
const MODES: [u32; 11] = [0o000, 0o400, 0o444, 0o555, 0o600, 0o644, 0o755, 0o4755, 0o2711, 0o1777, 0o177];
const TARGETS: [&str; 6] = ["a", "nowhere", "/etc/passwd", "../../outside", ".", "dir/../b"];
const GIT: [&[&str]; 8] = [
    &["init", "-q"],
    &["add", "-A", "--ignore-errors"],
    &["commit", "-q", "--allow-empty", "-m", "something"],
    &["checkout", "-q", "-B", "other"],
    &["stash", "-q"],
    &["gc", "-q", "--prune=now"],
    &["branch", "-f", "third"],
    &["tag", "-f", "tag"],
];

/// One operation. It may well fail, as operations do.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Write(Vec<usize>, usize, u8),
    Append(Vec<usize>, usize),
    Truncate(Vec<usize>, u64),
    /// The same length and the same time of modification, but other bytes.
    Disguise(Vec<usize>),
    Chmod(Vec<usize>, usize),
    Rename(Vec<usize>, Vec<usize>),
    Delete(Vec<usize>),
    Link(Vec<usize>, usize),
    HardLink(Vec<usize>, Vec<usize>),
    Folder(Vec<usize>),
    Fifo(Vec<usize>),
    Git(usize),
}

pub(super) fn operation() -> impl Strategy<Value = Operation> {
    use Operation::{Append, Chmod, Delete, Disguise, Fifo, Folder, Git, HardLink, Link, Rename, Truncate, Write};
    let path = || prop::collection::vec(0..NAMES.len(), 1..4);
    let size =
        prop_oneof![8 => 0_usize..300, 2 => 4_000_usize..9_000, 1 => 1_048_570_usize..1_048_580, 1 => Just(3_300_000)];
    prop_oneof![
        6 => (path(), size.clone(), any::<u8>()).prop_map(|(path, size, byte)| Write(path, size, byte)),
        2 => (path(), size).prop_map(|(path, size)| Append(path, size)),
        2 => (path(), 0_u64..5_000).prop_map(|(path, size)| Truncate(path, size)),
        2 => path().prop_map(Disguise),
        3 => (prop::collection::vec(0..NAMES.len(), 0..4), 0..MODES.len()).prop_map(|(path, mode)| Chmod(path, mode)),
        3 => (path(), path()).prop_map(|(from, to)| Rename(from, to)),
        3 => path().prop_map(Delete),
        2 => (path(), 0..TARGETS.len()).prop_map(|(path, target)| Link(path, target)),
        1 => (path(), path()).prop_map(|(from, to)| HardLink(from, to)),
        2 => path().prop_map(Folder),
        1 => path().prop_map(Fifo),
        4 => (0..GIT.len()).prop_map(Git),
    ]
}

fn real(work: &Path, path: &[usize]) -> PathBuf {
    path.iter().fold(work.to_path_buf(), |path, name| path.join(OsStr::from_bytes(NAMES[*name])))
}

/// Whether the way to a path leads through a link, which could lead out of the workspace.
fn is_plain(work: &Path, path: &Path) -> bool {
    path.ancestors().take_while(|path| *path != work).all(|path| !path.is_symlink())
}

impl Operation {
    pub(super) fn apply(&self, work: &Path) {
        let paths: Vec<PathBuf> = match self {
            Self::Rename(from, to) | Self::HardLink(from, to) => vec![real(work, from), real(work, to)],
            Self::Write(path, ..)
            | Self::Append(path, _)
            | Self::Truncate(path, _)
            | Self::Disguise(path)
            | Self::Chmod(path, _)
            | Self::Delete(path)
            | Self::Link(path, _)
            | Self::Folder(path)
            | Self::Fifo(path) => vec![real(work, path)],
            Self::Git(_) => Vec::new(),
        };
        let parents_plain = paths.iter().all(|path| path.parent().is_some_and(|parent| is_plain(work, parent)));
        let Some(path) = paths.first().filter(|_| parents_plain) else {
            if let Self::Git(which) = self {
                git(work, GIT[*which]);
            }
            return;
        };
        let _ = self.carry_out(path, paths.last().unwrap(), work);
    }

    fn carry_out(&self, path: &Path, other: &Path, work: &Path) -> std::io::Result<()> {
        let file = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_file());
        match self {
            Self::Write(_, size, byte) => {
                if path != work && !path.is_symlink() && !path.is_dir() {
                    fs::create_dir_all(path.parent().unwrap())?;
                    let _ = fs::remove_file(path);
                    let bytes: Vec<u8> = (0..*size).map(|n| byte.wrapping_add((n / 7 % 251) as u8)).collect();
                    fs::write(path, bytes)?;
                }
            }
            Self::Append(_, size) if file(path) => {
                use std::io::Write as _;
                fs::File::options().append(true).open(path)?.write_all(&vec![b'+'; *size])?;
            }
            Self::Truncate(_, size) if file(path) => fs::File::options().write(true).open(path)?.set_len(*size)?,
            Self::Disguise(_) if file(path) => {
                let modified = path.metadata()?.modified()?;
                let bytes: Vec<u8> = fs::read(path)?.into_iter().map(|byte| byte ^ 1).collect();
                fs::write(path, bytes)?;
                fs::File::options().write(true).open(path)?.set_modified(modified)?;
            }
            Self::Chmod(_, mode) if !path.is_symlink() => {
                // A workspace that its owner cannot enter is tested by itself.
                let mode = if path == work { MODES[*mode] | 0o700 } else { MODES[*mode] };
                fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
            }
            Self::Rename(..) => fs::rename(path, other)?,
            Self::Delete(_) if path.is_dir() && !path.is_symlink() => fs::remove_dir_all(path)?,
            Self::Delete(_) => fs::remove_file(path)?,
            Self::Link(_, target) => std::os::unix::fs::symlink(TARGETS[*target], path)?,
            Self::HardLink(..) => fs::hard_link(path, other)?,
            Self::Folder(_) => fs::create_dir_all(path)?,
            Self::Fifo(_) => {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0)?;
            }
            Self::Append(..) | Self::Truncate(..) | Self::Disguise(_) | Self::Chmod(..) | Self::Git(_) => {}
        }
        Ok(())
    }
}

/// So that the folder can be removed at the end by somebody who is not root.
pub(super) fn open_up(dir: &Path) {
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            open_up(&entry.path());
        }
    }
}
