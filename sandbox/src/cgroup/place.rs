//! Where in the control group file systems a group of ours could be.

use std::fs;
use std::path::{Path, PathBuf};

/// What a group is to limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Controller {
    Memory,
    Pids,
    Cpu,
}

impl Controller {
    const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
        }
    }
}

/// The two interfaces of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// A group that may take a child of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) version: Version,
    pub(super) parent: PathBuf,
}

/// All places on this machine, best first.
pub(super) fn candidates(controller: Controller) -> Vec<Place> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let enabled = |dir: &Path| {
        let list = fs::read_to_string(dir.join("cgroup.subtree_control")).unwrap_or_default();
        list.split_ascii_whitespace().any(|name| name == controller.name())
    };
    find(controller, &mounts, &own, enabled)
}

/// As [`candidates`], from the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`.
pub(super) fn find(controller: Controller, mounts: &str, own: &str, enabled: impl Fn(&Path) -> bool) -> Vec<Place> {
    let mut places = Vec::new();
    for mount in mounts.lines().filter_map(Mount::parse) {
        let version = match mount.kind {
            "cgroup" if mount.options.split(',').any(|option| option == controller.name()) => Version::V1,
            "cgroup2" => Version::V2,
            _ => continue,
        };
        let Some(below) = own_group(own, version, controller) else { continue };
        let own_dir = mount.resolve(below);
        let parents: Vec<PathBuf> = match version {
            // Its own group, so that limits set for us hold for our sandboxes too; else the top.
            Version::V1 => vec![own_dir, PathBuf::from(mount.point)],
            // A group with processes in it cannot have limited children, so only those above it, where the
            // controller is handed down.
            Version::V2 => own_dir
                .ancestors()
                .skip(usize::from(own_dir != Path::new(mount.point)))
                .take_while(|dir| dir.starts_with(mount.point))
                .filter(|dir| enabled(dir))
                .map(Path::to_path_buf)
                .collect(),
        };
        places.extend(parents.into_iter().map(|parent| Place { version, parent }));
    }
    places.dedup();
    places
}

/// The groups of a container: from the topmost whose name holds `mark` down to the one that this process of it is in.
pub(super) fn marked(controller: Controller, pid: u32, mark: &str) -> Vec<Place> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut places =
        find_marked(controller, &read("/proc/self/mountinfo"), &read(&format!("/proc/{pid}/cgroup")), mark);
    places.retain(|place| place.parent.is_dir());
    places
}

/// As [`marked`], from the texts of `/proc/self/mountinfo` and `/proc/<pid>/cgroup`.
pub(super) fn find_marked(controller: Controller, mounts: &str, groups: &str, mark: &str) -> Vec<Place> {
    let found = mounts.lines().filter_map(Mount::parse).find_map(|mount| {
        let version = match mount.kind {
            "cgroup" if mount.options.split(',').any(|option| option == controller.name()) => Version::V1,
            "cgroup2" => Version::V2,
            _ => return None,
        };
        let above: Vec<&Path> = Path::new(own_group(groups, version, controller)?).ancestors().collect();
        let is_marked = |path: &&Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(mark));
        let topmost = above.iter().rposition(is_marked)?;
        let place = |path: &&Path| Some(Place { version, parent: mount.resolve(path.to_str()?) });
        above[..=topmost].iter().rev().map(place).collect::<Option<Vec<_>>>()
    });
    found.unwrap_or_default()
}

/// The path of a process's group, as `/proc/self/cgroup` has it.
fn own_group(own: &str, version: Version, controller: Controller) -> Option<&str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let fits = match version {
            Version::V1 => controllers.split(',').any(|name| name == controller.name()),
            Version::V2 => controllers.is_empty(),
        };
        fits.then_some(path)
    })
}

/// One line of `/proc/self/mountinfo`.
struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (place, source) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let mut source = source.split(' ');
        let (kind, _, options) = (source.next()?, source.next()?, source.next()?);
        Some(Self { root, point, kind, options })
    }

    /// Where a group's path is found; only a part of the hierarchy may be mounted here.
    fn resolve(&self, group: &str) -> PathBuf {
        let below = Path::new(group).strip_prefix(self.root).unwrap_or(Path::new(""));
        let mut dir = PathBuf::from(self.point);
        // Not `join`, which would leave a slash behind when there is nothing below.
        dir.extend(below);
        dir
    }
}
