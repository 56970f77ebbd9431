//! The argument list for bubblewrap, together with the files that it is to inherit.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::backend::PIPE_ENDS_WITH_US;

/// Arguments under construction.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    list: Vec<OsString>,
    kept: Vec<OwnedFd>,
}

/// What shuts the guest off, whatever it may see.
pub(super) fn isolation() -> Arguments {
    let mut arguments = Arguments::default();
    arguments.add(["--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]);
    arguments.add(["--hostname", "retrace", "--new-session", "--die-with-parent", "--as-pid-1"]);
    arguments.add(["--cap-drop", "ALL"]);
    arguments
}

impl Arguments {
    pub(super) fn add<const N: usize>(&mut self, arguments: [&str; N]) {
        self.list.extend(arguments.map(OsString::from));
    }

    fn add_paths(&mut self, option: &str, paths: [&OsStr; 2]) {
        self.list.push(option.into());
        self.list.extend(paths.map(OsStr::to_os_string));
    }

    /// Shows a path of the host, read-only.
    pub(super) fn show(&mut self, source: &Path, place: &Path) {
        self.add_paths("--ro-bind", [source.as_os_str(), place.as_os_str()]);
    }

    /// Shows a path of the host, writable.
    pub(super) fn lend(&mut self, path: &Path) {
        self.add_paths("--bind", [path.as_os_str(), path.as_os_str()]);
    }

    pub(super) fn symlink(&mut self, target: &Path, place: &Path) {
        self.add_paths("--symlink", [target.as_os_str(), place.as_os_str()]);
    }

    /// An empty file system in memory.
    pub(super) fn tmpfs(&mut self, place: &Path, size_bytes: u64) {
        self.add(["--size", &size_bytes.to_string(), "--tmpfs"]);
        self.list.push(place.into());
    }

    /// A file with these contents.
    pub(super) fn file(&mut self, contents: &[u8], place: &str) -> io::Result<()> {
        self.add(["--perms", "0444"]);
        self.file_descriptor("--file", contents)?;
        self.add([place]);
        Ok(())
    }

    /// An option that takes its data from a file descriptor.
    pub(super) fn file_descriptor(&mut self, option: &str, contents: &[u8]) -> io::Result<()> {
        let mut file = File::from(memfd_create("retrace", MemfdFlags::CLOEXEC)?);
        file.write_all(contents)?;
        file.rewind()?;
        self.hand_over(option, file.into());
        Ok(())
    }

    /// An option that takes an open file.
    pub(super) fn hand_over(&mut self, option: &str, file: OwnedFd) {
        self.add([option, &file.as_raw_fd().to_string()]);
        self.kept.push(file);
    }

    /// The last ones: what to run.
    pub(super) fn command(&mut self, guest: &str, workspace: &Path) {
        self.add(["--chdir"]);
        self.list.push(workspace.into());
        self.add(["--", guest, "serve", "--root"]);
        self.list.push(workspace.into());
        self.add(PIPE_ENDS_WITH_US);
    }

    /// The finished list, and the files that must stay open and be inherited.
    pub(super) fn finish(self) -> (Vec<OsString>, Vec<OwnedFd>) {
        (self.list, self.kept)
    }
}

/// Breaking the isolation on purpose, to show that the probe notices.
#[cfg(test)]
impl Arguments {
    pub(super) fn remove(&mut self, option: &str, values: usize) {
        while let Some(at) = self.list.iter().position(|argument| argument == option) {
            self.list.drain(at..=at + values);
        }
    }

    pub(super) fn replace_unshare_all(&mut self, without: &str) {
        self.remove("--unshare-all", 0);
        self.remove("--as-pid-1", 0);
        let all = ["--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--unshare-pid"];
        self.list.extend(all.iter().filter(|option| **option != without).map(OsString::from));
    }

    pub(super) fn remove_masks(&mut self) {
        while let Some(at) = self.list.windows(2).position(|pair| {
            pair[0] == "--ro-bind" && Path::new(&pair[1]).file_name().is_some_and(|name| name == "empty")
        }) {
            self.list.drain(at..at + 3);
        }
    }

    pub(super) fn unshow_below(&mut self, prefix: &str) {
        while let Some(at) = self
            .list
            .windows(2)
            .position(|pair| pair[0] == "--ro-bind" && pair[1].to_string_lossy().starts_with(prefix))
        {
            self.list.drain(at..at + 3);
        }
    }

    pub(super) fn become_root(&mut self) {
        for argument in &mut self.list {
            if argument == "1000" {
                *argument = "0".into();
            }
        }
    }
}
