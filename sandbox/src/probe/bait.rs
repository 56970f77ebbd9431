//! What the probe must not be able to reach: listeners and canary files on the host, gone again afterwards.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::backend::LaunchPlan;
use crate::leftover::temporary;
use crate::proof::Proof;

/// The bait of one probe. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Bait {
    listeners: Vec<TcpListener>,
    // Only has to exist.
    _abstract_listener: UnixListener,
    abstract_name: String,
    canaries: Vec<NamedTempFile>,
    canary_paths: Vec<PathBuf>,
    marker: String,
    /// Folders of the host in which the marker must not appear.
    watched: Vec<PathBuf>,
}

impl Bait {
    pub(super) fn lay(plan: &LaunchPlan<'_>) -> io::Result<Self> {
        // IPv6 may be switched off on the host.
        let mut listeners = vec![TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?];
        listeners.extend(TcpListener::bind((Ipv6Addr::LOCALHOST, 0)));
        let abstract_name = format!("retrace-probe-{}", plan.sandbox_id);
        let address = UnixAddress::from_abstract_name(&abstract_name)?;
        let abstract_listener = UnixListener::bind_addr(&address)?;

        let mut canaries = vec![canary(&plan.files.dir)?];
        let elsewhere = [Some(std::env::temp_dir()), std::env::home_dir(), Some(PathBuf::from("/var/tmp"))];
        for dir in elsewhere.into_iter().flatten() {
            let visible = plan.policy.expose.iter().any(|shown| dir.starts_with(shown));
            if !visible && !dir.starts_with(&plan.policy.workspace) {
                // A home folder that cannot be written to holds nothing of ours to find.
                canaries.extend(canary(&dir));
            }
        }
        let canary_paths = canaries.iter().map(|file| file.path().to_path_buf()).collect();
        let watched = vec![std::env::temp_dir(), PathBuf::from("/"), PathBuf::from("/usr"), PathBuf::from("/etc")];
        let marker = format!("retrace-probe-{}", plan.sandbox_id);
        Ok(Self {
            listeners,
            _abstract_listener: abstract_listener,
            abstract_name,
            canaries,
            canary_paths,
            marker,
            watched,
        })
    }

    pub(super) fn tcp_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    pub(super) fn abstract_name(&self) -> &str {
        &self.abstract_name
    }

    pub(super) fn canaries(&self) -> &[PathBuf] {
        &self.canary_paths
    }

    pub(super) fn marker(&self) -> &str {
        &self.marker
    }

    /// Seen from outside: the canaries are still as they were, and no marker has appeared.
    pub(super) fn untouched(&self) -> Proof {
        let intact = self.canaries.iter().all(|file| fs::read(file.path()).is_ok_and(|text| text == CANARY));
        let marker = self.watched.iter().map(|dir| dir.join(&self.marker)).find(|path| path.exists());
        let detail = match &marker {
            Some(path) => format!("{} was written", path.display()),
            None if intact => format!("{} canaries unharmed", self.canaries.len()),
            None => "a canary was changed".to_owned(),
        };
        Proof::new("host files untouched", intact && marker.is_none(), detail)
    }
}

const CANARY: &[u8] = b"not to be seen from inside a sandbox\n";

fn canary(dir: &Path) -> io::Result<NamedTempFile> {
    let file = temporary(dir)?;
    // For anyone to read: that another user may not open it would hide that it is visible.
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    fs::write(file.path(), CANARY)?;
    Ok(file)
}
