//! Who the commands are: uid 1000 inside, the workspace's owner on its files.
//!
//! What the engines offer decides, the safest that works comes first (measured with Podman 4.3.1 and crun 1.8.1):
//! - Podman as root mounts the workspace *idmapped*: the owner's files look like uid 1000's inside, and what uid 1000
//!   writes is the owner's outside, while the process is the host's uid 1000, without any capability, not the host's
//!   root. (A user namespace of its own would be a little better yet, but the API takes no mapping for one, and its
//!   `auto` needs ids set aside for it in `/etc/subuid`, which is not so on any system by itself.)
//! - Where the file system cannot be mounted so, the process runs as the workspace's owner itself, if that is not root.
//! - Podman without root maps the user to 1000 by `keep-id`.
//! - Docker knows neither: the process runs as the workspace's owner, and a workspace of root's is refused.

use std::path::Path;

use super::engine::{Facts, Maker};
use crate::error::SandboxError;

/// The user inside, wherever possible.
const INSIDE: u32 = 1000;

/// One way to be someone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mapping {
    /// `uid:gid` of the container's process.
    pub(super) user: String,
    /// The mode of its user namespace.
    pub(super) user_namespace: Option<String>,
    /// Further options of the workspace's mount.
    pub(super) mount_options: Option<String>,
}

/// The ways that may work for a workspace of this owner, best first.
pub(super) fn choose(facts: &Facts, owner: (u32, u32), workspace: &Path) -> Result<Vec<Mapping>, SandboxError> {
    let own = Mapping { user: format!("{INSIDE}:{INSIDE}"), ..Mapping::default() };
    let as_owner = Mapping { user: format!("{}:{}", owner.0, owner.1), ..Mapping::default() };
    let refused = |reason: &str| SandboxError::Refused { path: workspace.to_path_buf(), reason: reason.to_owned() };
    match (facts.maker, facts.rootless) {
        (Maker::Podman, true) => {
            Ok(vec![Mapping { user_namespace: Some(format!("keep-id:uid={INSIDE},gid={INSIDE}")), ..own }])
        }
        (Maker::Podman | Maker::Docker, false) if owner == (INSIDE, INSIDE) => Ok(vec![own]),
        (Maker::Podman, false) => {
            let options = format!("idmap=uids={}-{INSIDE}-1;gids={}-{INSIDE}-1", owner.0, owner.1);
            let mut ways = vec![Mapping { mount_options: Some(options), ..own }];
            ways.extend((owner.0 != 0).then_some(as_owner));
            Ok(ways)
        }
        (Maker::Docker, false) if owner.0 != 0 => Ok(vec![as_owner]),
        (Maker::Docker, false) => {
            Err(refused("belongs to root, whose files Docker cannot lend to another user; use Podman for it"))
        }
        (Maker::Docker, true) => {
            Err(refused("cannot be lent to another user than root by a rootless Docker; use Podman for it"))
        }
    }
}
