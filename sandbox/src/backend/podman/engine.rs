//! The container engine: finding its socket, and asking it.
//!
//! Only unix sockets: binds name paths of this machine, so an engine elsewhere would mount something else. Every
//! question has a time limit, since an engine that hangs must not hang a session.

use std::env;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bollard::models::SystemVersion;
use bollard::{API_DEFAULT_VERSION, ClientVersion, Docker};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::failure;
use crate::error::SandboxError;

/// How long the engine may take to answer.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(60);
/// The same for making a container: rootless Podman copies an image when it is used for the first time.
pub(super) const CREATE_TIME: Duration = Duration::from_secs(900);
/// The client's own limit, above ours, so that ours is what is told.
const CLIENT_SECONDS: u64 = 120;
/// The oldest version of the API that has all we need (private cgroup namespaces).
const OLDEST_API: (usize, usize) = (1, 41);
/// The newest that we know.
const NEWEST_API: (usize, usize) = (API_DEFAULT_VERSION.major_version, API_DEFAULT_VERSION.minor_version);
/// Variables that may name the socket, the first that is set wins.
const VARIABLES: [&str; 3] = ["RETRACE_CONTAINER_SOCKET", "CONTAINER_HOST", "DOCKER_HOST"];

/// Whose engine it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    Podman,
    Docker,
}

/// What is known about an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) maker: Maker,
    pub(super) version: String,
    pub(super) api: (usize, usize),
    /// It runs without the rights of root.
    pub(super) rootless: bool,
    /// Its runtime says that it can start microVMs.
    pub(super) has_krun: bool,
}

/// A connection to an engine.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    pub(super) docker: Docker,
    pub(super) socket: PathBuf,
    pub(super) facts: Facts,
}

/// A socket, as the kernel identifies it: a service that is started anew makes another.
type Identity = (PathBuf, u64, u64, i64, i64);

/// Engines that this process has asked already; asking makes Podman start several programs.
static KNOWN: Mutex<Vec<(Identity, Facts)>> = Mutex::new(Vec::new());

impl Engine {
    /// Finds an engine that answers; only the named one, when one is named.
    pub(super) async fn find(named: Option<&Path>) -> Result<Self, SandboxError> {
        let candidates = match named.map(Path::to_path_buf).map_or_else(from_environment, |path| Ok(Some(path)))? {
            Some(socket) => vec![socket],
            None => usual_places(),
        };
        let (mut tried, mut denied) = (Vec::new(), None);
        for socket in candidates {
            // The kernel answers at once, also where nobody takes the connection: nothing to put a bound on.
            match UnixStream::connect(&socket).await {
                Ok(stream) => return Self::meet(socket, &stream).await,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => denied = Some(socket),
                Err(error) => tried.push(format!("{} ({})", socket.display(), plain(&error))),
            }
        }
        Err(match denied {
            Some(socket) => SandboxError::EngineDenied { socket },
            None => SandboxError::EngineMissing { tried: tried.join(", ") },
        })
    }

    async fn meet(socket: PathBuf, stream: &UnixStream) -> Result<Self, SandboxError> {
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = identity(&socket);
        if let Some(identity) = &identity {
            let facts = known().iter().find(|(found, _)| found == identity).map(|(_, facts)| facts.clone());
            if let Some(facts) = facts {
                let docker = connect(&socket, facts.api)?;
                return Ok(Self { docker, socket, facts });
            }
        }
        let rootless = stream.peer_cred().is_ok_and(|peer| peer.uid() != 0);
        // Only once: Podman asks its programs for their versions, and the system's package database who owns them.
        let version = ask("tell its version", connect(&socket, NEWEST_API)?.version()).await?;
        let facts = facts(&version, rootless)?;
        let docker = connect(&socket, facts.api)?;
        if let Some(identity) = identity {
            known().push((identity, facts.clone()));
        }
        Ok(Self { docker, socket, facts })
    }
}

/// Waits for an answer, but not for ever.
pub(super) async fn ask<T>(
    what: &'static str,
    answer: impl Future<Output = Result<T, bollard::errors::Error>>,
) -> Result<T, SandboxError> {
    ask_within(ANSWER_TIME, what, answer).await
}

/// As [`ask`], for what has a time of its own.
pub(super) async fn ask_within<T>(
    time: Duration,
    what: &'static str,
    answer: impl Future<Output = Result<T, bollard::errors::Error>>,
) -> Result<T, SandboxError> {
    match timeout(time, answer).await {
        Ok(answer) => answer.map_err(|error| failure::explain(what, &error)),
        Err(_) => {
            let detail = format!("no answer in {} s", time.as_secs());
            Err(SandboxError::Engine { what, detail })
        }
    }
}

/// What an engine says about itself.
pub(super) fn facts(version: &SystemVersion, rootless: bool) -> Result<Facts, SandboxError> {
    let components = version.components.as_deref().unwrap_or_default();
    let maker =
        if components.iter().any(|part| part.name.starts_with("Podman")) { Maker::Podman } else { Maker::Docker };
    let has_krun = components.iter().any(|part| {
        part.name.starts_with("OCI Runtime") && (part.name.contains("krun") || part.version.contains("+LIBKRUN"))
    });
    let number = version.version.clone().unwrap_or_else(|| "unknown".to_owned());
    let api = version.api_version.as_deref().unwrap_or("unknown");
    match api.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?))) {
        Some(newest) if newest >= OLDEST_API => {
            Ok(Facts { maker, version: number, api: newest.min(NEWEST_API), rootless, has_krun })
        }
        _ => Err(SandboxError::EngineTooOld { found: format!("version {number}, API {api}") }),
    }
}

fn connect(socket: &Path, api: (usize, usize)) -> Result<Docker, SandboxError> {
    let version = ClientVersion { major_version: api.0, minor_version: api.1 };
    Docker::connect_with_unix(&socket.to_string_lossy(), CLIENT_SECONDS, &version)
        .map_err(|error| failure::explain("be reached", &error))
}

fn identity(socket: &Path) -> Option<Identity> {
    let metadata = socket.metadata().ok()?;
    Some((socket.to_path_buf(), metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
}

/// The socket that the environment names, if it does.
fn from_environment() -> Result<Option<PathBuf>, SandboxError> {
    let named = VARIABLES.iter().find_map(|name| Some((*name, env::var(name).ok().filter(|text| !text.is_empty())?)));
    named.map(|(name, text)| socket_of(name, &text)).transpose()
}

/// The path in a variable, which may be written as a URL.
pub(super) fn socket_of(name: &'static str, text: &str) -> Result<PathBuf, SandboxError> {
    let path = text.strip_prefix("unix://").unwrap_or(text);
    if path.starts_with('/') {
        Ok(PathBuf::from(path))
    } else {
        let tried = format!("{name}={text} (only unix sockets of this machine are supported)");
        Err(SandboxError::EngineMissing { tried })
    }
}

/// Where engines listen: the user's own ones first.
fn usual_places() -> Vec<PathBuf> {
    let own = PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
    let runtime_dir = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute()).unwrap_or(own);
    let mut places = vec![
        runtime_dir.join("podman/podman.sock"),
        PathBuf::from("/run/podman/podman.sock"),
        runtime_dir.join("docker.sock"),
        PathBuf::from("/run/docker.sock"),
    ];
    places.extend(env::home_dir().map(|home| home.join(".docker/run/docker.sock")));
    places
}

/// Without the number that the system's errors end with.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_owned())
}
