//! Connecting: credentials, TLS, and what a refused connection means.

use super::NatsOptions;
use crate::log::LogError;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long connecting may take in all.
const CONNECT: Duration = Duration::from_secs(5);

/// How long the server may take to store something.
pub(super) const REQUEST: Duration = Duration::from_secs(5);

/// How long the server may take to answer a question, which is then asked once more.
pub(super) const QUESTION: Duration = Duration::from_secs(3);

/// The largest credentials or seed file that is read.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// The oldest server that knows atomic batches.
const OLDEST: (i64, i64, i64) = (2, 12, 0);

/// The oldest server without known ways to lose acked messages.
const ADVISED: (i64, i64, i64) = (2, 15, 0);

/// A connection, and what its server said last about something it refused.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) location: String,
    pub(super) signals: Arc<Signals>,
}

/// What the client says besides its answers.
#[derive(Debug)]
pub(super) struct Signals {
    /// The server's last complaint. A call that is not permitted looks like a time-out to the caller; this is where
    /// the reason comes in.
    complaint: Mutex<Option<(Instant, String)>>,
    /// Changes when the connection breaks: what was under way then is not answered any more.
    breaks: watch::Sender<()>,
}

impl Signals {
    fn new() -> Self {
        Self { complaint: Mutex::default(), breaks: watch::Sender::new(()) }
    }

    /// What the server said while a request that has failed now could have been under way.
    pub(super) fn complaint(&self) -> Option<String> {
        let noted = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        noted.as_ref().filter(|(at, _)| at.elapsed() < 2 * REQUEST).map(|(_, what)| what.clone())
    }

    /// Waits for `answer`; `None` when the connection breaks before it comes.
    pub(super) async fn unless_broken<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        let mut breaks = self.breaks.subscribe();
        tokio::select! {
            biased;
            answer = answer => Some(answer),
            // The sender is ours, so that this waits for a break and for nothing else.
            _ = breaks.changed() => None,
        }
    }

    /// What the connection's own events mean to us.
    fn hear(&self, event: &Event) {
        match event {
            Event::Connected | Event::Draining | Event::Closed => tracing::debug!(%event, "nats"),
            Event::LameDuckMode | Event::SlowConsumer(_) => tracing::warn!(%event, "nats"),
            Event::Disconnected => {
                tracing::warn!(%event, "nats");
                self.breaks.send_replace(());
            }
            Event::ServerError(_) | Event::ClientError(_) => {
                tracing::warn!(%event, "nats");
                let noted = (Instant::now(), event.to_string());
                *self.complaint.lock().unwrap_or_else(PoisonError::into_inner) = Some(noted);
            }
        }
    }
}

/// Connects to one of the servers.
pub(super) async fn connect(options: &NatsOptions) -> Result<Connection, LogError> {
    let location = options.to_string();
    let signals = Arc::new(Signals::new());
    let servers = options.hosts();
    let prepared = prepare(options, &location, Arc::clone(&signals))?;
    let client = match tokio::time::timeout(CONNECT, prepared.connect(&servers[..])).await {
        Ok(Ok(client)) => client,
        Ok(Err(e)) => return Err(refused(location, &e)),
        Err(_) => {
            let why = format!("no connection within {} seconds{UNREACHABLE}", CONNECT.as_secs());
            return Err(LogError::Unavailable { location, why });
        }
    };
    let version = client.server_info().version;
    let is_at_least = |(major, minor, patch): (i64, i64, i64)| client.is_server_compatible(major, minor, patch);
    if !is_at_least(OLDEST) {
        let why = format!("its nats-server is {version}, and atomic batches need 2.12\nhint: use 2.15 or newer");
        return Err(LogError::Unfit { location, why });
    }
    if !is_at_least(ADVISED) {
        tracing::warn!(%location, %version, "this nats-server has known ways to lose messages; use 2.15 or newer");
    }
    Ok(Connection { client, location, signals })
}

const UNREACHABLE: &str =
    "\nhint: is nats-server running there? without --log and NATS_URL the log is kept in a local file";

fn prepare(options: &NatsOptions, location: &str, signals: Arc<Signals>) -> Result<ConnectOptions, LogError> {
    let unfit = |why: String| LogError::Unfit { location: location.to_owned(), why };
    let prepared = ConnectOptions::new().name("retrace").request_timeout(Some(REQUEST)).connection_timeout(CONNECT);
    // Whoever asks who holds a stream must not be answered by itself.
    let mut prepared = prepared.no_echo();
    if let Some((user, password)) = options.user() {
        prepared = match password {
            Some(password) => prepared.user_and_password(user, password),
            None => prepared.token(user),
        };
    }
    if let Some(file) = &options.credentials {
        let credentials = read_secret(file).map_err(&unfit)?;
        let wrong = |e: std::io::Error| unfit(format!("{} is not a credentials file: {e}", file.display()));
        prepared = prepared.credentials(&credentials).map_err(wrong)?;
    }
    if let Some(file) = &options.nkey_seed {
        prepared = prepared.nkey(read_secret(file).map_err(&unfit)?.trim().to_owned());
    }
    if let Some(file) = &options.tls_ca {
        prepared = prepared.add_root_certificates(file.clone()).require_tls(true);
    }
    match (&options.tls_cert, &options.tls_key) {
        (Some(certificate), Some(key)) => prepared = prepared.add_client_certificate(certificate.clone(), key.clone()),
        (None, None) => {}
        _ => return Err(unfit("a client certificate needs its key, and a key its certificate".to_owned())),
    }
    if options.tls_first {
        prepared = prepared.tls_first();
    }
    Ok(prepared.event_callback(move |event| {
        signals.hear(&event);
        std::future::ready(())
    }))
}

fn read_secret(file: &Path) -> Result<String, String> {
    let read = || {
        if std::fs::metadata(file)?.len() > MAX_SECRET_BYTES {
            return Err(std::io::Error::other("it is too large for that"));
        }
        std::fs::read_to_string(file)
    };
    read().map_err(|e| format!("cannot read {}: {e}", file.display()))
}

fn refused(location: String, error: &async_nats::ConnectError) -> LogError {
    let why = error.to_string();
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => LogError::Unfit {
            location,
            why: format!("{why}\nhint: credentials come from NATS_CREDS (file), NATS_NKEY (file) or the address"),
        },
        ConnectErrorKind::Tls => LogError::Unfit {
            location,
            why: format!("{why}\nhint: the server's certificate is checked; NATS_CA names its authority's"),
        },
        ConnectErrorKind::ServerParse => LogError::Unfit { location, why },
        ConnectErrorKind::Dns | ConnectErrorKind::TimedOut | ConnectErrorKind::Io | ConnectErrorKind::MaxReconnects => {
            LogError::Unavailable { location, why: format!("{why}{UNREACHABLE}") }
        }
    }
}
