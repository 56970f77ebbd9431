//! What must not be reached, changed, heard from or signalled.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

use crate::support::{Place, slowly};

/// Settings of the host's kernel that a sandbox must not change.
const SETTINGS: [&str; 6] = [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/domainname",
    "/sys/kernel/uevent_helper",
    "/proc/sys/kernel/sysrq",
];
/// How far the clock may be from where it should be.
const CLOCK_SLACK: Duration = Duration::from_secs(600);

/// The bait of one test; it goes away with it.
pub(super) struct Bait {
    dir: TempDir,
    secret: String,
    marker: String,
    tcp: Vec<TcpListener>,
    udp: UdpSocket,
    unix: [UnixListener; 2],
    abstract_name: String,
    process: Mutex<Child>,
    settings: Vec<Option<Vec<u8>>>,
    begun: (Instant, SystemTime),
}

impl Bait {
    pub(super) fn lay(place: &Place) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // Unlike any other, and not told to anybody inside.
        let stamp = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let secret = format!("S3CRET-{}-{stamp}-OF-THE-HOST", std::process::id());
        let marker = format!("retrace-escape-{}-{stamp}", std::process::id());
        fs::write(dir.path().join("secret"), &secret).unwrap();
        fs::write(place.guest_dir().join("secret"), &secret).unwrap();
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let udp = UdpSocket::bind(("0.0.0.0", port)).unwrap();
        // IPv6 may be switched off.
        let mut tcp = vec![listener];
        tcp.extend(TcpListener::bind(("::1", port)));
        let abstract_name = format!("{marker}-abstract");
        let unix = [
            UnixListener::bind(dir.path().join("socket")).unwrap(),
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name).unwrap()).unwrap(),
        ];
        tcp.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());
        unix.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());
        udp.set_nonblocking(true).unwrap();
        let mut command = Command::new("sleep");
        command.arg("86400").env("HOST_SECRET", &secret).stdin(Stdio::null()).stdout(Stdio::null());
        let process = Mutex::new(command.spawn().unwrap());
        let settings = SETTINGS.map(|path| fs::read(path).ok()).to_vec();
        let begun = (Instant::now(), SystemTime::now());
        Self { dir, secret, marker, tcp, udp, unix, abstract_name, process, settings, begun }
    }

    /// A folder of the host that holds a secret.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn secret(&self) -> &str {
        &self.secret
    }

    /// What attempts are told, so that they fail by being refused and not by looking in the wrong place.
    pub(super) fn told(&self, place: &Place) -> Vec<(String, String)> {
        let pid = self.process.lock().unwrap_or_else(PoisonError::into_inner).id();
        let port = self.tcp.first().unwrap().local_addr().unwrap().port();
        let engine = std::env::var("RETRACE_CONTAINER_SOCKET").unwrap_or_default();
        let home = std::env::home_dir().unwrap();
        [
            ("BAIT_DIR", self.dir.path().display().to_string()),
            ("BAIT_PORT", port.to_string()),
            ("BAIT_ABSTRACT", self.abstract_name.clone()),
            ("BAIT_PID", pid.to_string()),
            ("HOST_PID", std::process::id().to_string()),
            ("MARKER", self.marker.clone()),
            ("GUEST_DIR", place.guest_dir().display().to_string()),
            ("HOST_HOME", home.display().to_string()),
            ("ENGINE_SOCKET", engine.strip_prefix("unix://").unwrap_or(&engine).to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// What was reached of it, if anything; `said` is what came out of the sandbox.
    pub(super) fn check(&self, said: &[&str]) -> Result<(), String> {
        if said.iter().any(|said| said.contains(&self.secret)) {
            return Err("a secret of the host came out".to_owned());
        }
        for file in [self.dir.path().join("secret")] {
            if fs::read(&file).ok().as_deref() != Some(self.secret.as_bytes()) {
                return Err(format!("{} was changed", file.display()));
            }
        }
        let names = fs::read_dir(self.dir.path()).map(Iterator::count).unwrap_or_default();
        if names != 2 {
            return Err(format!("the folder of the bait holds {names} files"));
        }
        self.check_listeners()?;
        if let Some(status) = self.process.lock().unwrap_or_else(PoisonError::into_inner).try_wait().unwrap() {
            return Err(format!("the bait process was ended by signal {:?}", status.signal()));
        }
        for (path, before) in SETTINGS.iter().zip(&self.settings) {
            if fs::read(path).ok() != *before {
                return Err(format!("{path} was changed"));
            }
        }
        let (instant, time) = self.begun;
        let expected = time + instant.elapsed();
        let now = SystemTime::now();
        let off = now.duration_since(expected).or_else(|_| expected.duration_since(now)).unwrap_or_default();
        if off > CLOCK_SLACK {
            return Err(format!("the clock was set ({off:?})"));
        }
        self.check_marker()
    }

    fn check_listeners(&self) -> Result<(), String> {
        for listener in &self.tcp {
            match listener.accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return Err(format!("a listener of the host was reached: {other:?}")),
            }
        }
        for listener in &self.unix {
            match listener.accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return Err(format!("a UNIX socket of the host was reached: {other:?}")),
            }
        }
        match self.udp.recv_from(&mut [0; 16]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            other => Err(format!("a datagram came: {other:?}")),
        }
    }

    fn check_marker(&self) -> Result<(), String> {
        let home = std::env::home_dir().unwrap();
        let places = ["/", "/tmp", "/var/tmp", "/etc", "/usr", "/usr/bin", "/run", "/dev", "/dev/shm", "/var"];
        let found = places.iter().map(Path::new).chain([home.as_path()]).map(|dir| dir.join(&self.marker));
        match found.into_iter().find(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Err(format!("{} was made", path.display())),
            None => match fs::read_to_string("/proc/self/mountinfo").unwrap_or_default().contains(&self.marker) {
                true => Err("a mount was made".to_owned()),
                false => Ok(()),
            },
        }
    }

    /// When the sandbox is gone: nothing of it runs, and what it left in the workspace is harmless.
    pub(super) fn check_after_the_end(&self, place: &Place) -> Result<(), String> {
        self.check(&[])?;
        if let Some(process) = self.marked_process() {
            return Err(format!("a process outlives the sandbox: {process}"));
        }
        let guest_dir: Vec<PathBuf> = fs::read_dir(place.guest_dir()).unwrap().map(|e| e.unwrap().path()).collect();
        let ours = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("retrace-guest-")
                || [".retrace-temporary-", "empty", "secret", "filter", "hosts"]
                    .iter()
                    .any(|ours| name.starts_with(ours))
        };
        match guest_dir.iter().find(|path| !ours(path)) {
            Some(path) => Err(format!("{} was made", path.display())),
            None => Ok(()),
        }
    }

    /// A process of the host with the marker in its command line or environment.
    fn marked_process(&self) -> Option<String> {
        let deadline = Instant::now() + Duration::from_millis(slowly(10_000));
        loop {
            let found = fs::read_dir("/proc").unwrap().flatten().find_map(|process| {
                let pid = process.file_name().to_str()?.parse::<u32>().ok()?;
                let read = |name: &str| fs::read(process.path().join(name)).unwrap_or_default();
                let all = String::from_utf8_lossy(&[read("cmdline"), read("environ")].concat()).into_owned();
                (pid != std::process::id() && all.contains(&self.marker)).then(|| all.replace('\0', " "))
            });
            // What was killed may take a moment to disappear.
            if found.is_none() || Instant::now() > deadline {
                return found;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Bait {
    fn drop(&mut self) {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }
}
