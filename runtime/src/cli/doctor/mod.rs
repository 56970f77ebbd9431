//! `retrace doctor`: tries everything a session needs, and says what to do about what does not work.

mod sandboxes;

use crate::claude::{Auth, ClaudeClient, Endpoint, FailureKind};
use crate::cli::exit::{CliError, Exit, failure_hint};
use crate::cli::flags::SettingFlags;
use crate::cli::invocation::Invocation;
use crate::cli::render::{clean, units};
use crate::cli::setup::Setup;
use bytes::Bytes;
use clap::Args;
use retrace_events::log::Durability;
use retrace_events::payload::turn::TurnFailure;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long the API may take to answer.
const API_TIME: Duration = Duration::from_secs(20);

/// Free space that is little, and too little, in bytes.
const LITTLE_BYTES: u64 = 2_000_000_000;
const TOO_LITTLE_BYTES: u64 = 200_000_000;

/// Check that everything a session needs is there
#[derive(Debug, Args)]
pub(super) struct DoctorCommand {
    /// Do not contact the API
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    settings: SettingFlags,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Ok,
    Warn,
    Fail,
}

/// One check.
#[derive(Debug)]
struct Finding {
    health: Health,
    what: &'static str,
    detail: String,
    hint: Option<String>,
}

impl DoctorCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::new(invocation, &self.settings)?;
        let mut worst = Health::Ok;
        let mut show = |finding: Finding| {
            worst = worse(worst, finding.health);
            print(&setup, &finding)
        };
        show(version())?;
        show(log(&setup).await)?;
        show(space("state folder", &setup.config.folders.state))?;
        show(space("workspace", &setup.config.workspace))?;
        for finding in sandboxes::look(&setup).await {
            show(finding)?;
        }
        show(self.api(&setup).await)?;
        Ok(if worst == Health::Fail { Exit::Failed } else { Exit::Done })
    }

    async fn api(&self, setup: &Setup) -> Finding {
        let auth = match setup.auth() {
            Ok(auth) => auth,
            Err(error) => return Finding { hint: error.hint, ..finding(Health::Fail, "api", error.message) },
        };
        if self.offline {
            return finding(Health::Ok, "api", "a key is set; not tried (--offline)");
        }
        try_api(setup, auth).await
    }
}

fn worse(one: Health, other: Health) -> Health {
    match (one, other) {
        (Health::Fail, _) | (_, Health::Fail) => Health::Fail,
        (Health::Warn, _) | (_, Health::Warn) => Health::Warn,
        (Health::Ok, Health::Ok) => Health::Ok,
    }
}

fn finding(health: Health, what: &'static str, detail: impl Into<String>) -> Finding {
    Finding { health, what, detail: detail.into(), hint: None }
}

fn version() -> Finding {
    let uname = rustix::system::uname();
    let kernel = format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy());
    finding(
        Health::Ok,
        "version",
        format!("retrace {} on {kernel} ({})", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH),
    )
}

/// Opens the log and stores a small blob, which is the same each time: writing is tried, and no event is left behind.
async fn log(setup: &Setup) -> Finding {
    let failed = |error: CliError| Finding { hint: error.hint, ..finding(Health::Fail, "log", error.message) };
    let log = match setup.open_log().await {
        Ok(log) => log,
        Err(error) => return failed(error),
    };
    let begun = Instant::now();
    if let Err(error) = log.blobs().put(b"retrace doctor was here\n").await {
        return failed(error.into());
    }
    let words = format!("{}, a write took {}", Setup::log_words(log.as_ref()), elapsed(begun));
    match log.durability() {
        Durability::PowerLoss => finding(Health::Ok, "log", words),
        Durability::ProcessCrash(why) => {
            Finding { hint: Some(clean::line(&why)), ..finding(Health::Warn, "log", words) }
        }
        Durability::Volatile => finding(Health::Warn, "log", words),
    }
}

fn space(what: &'static str, folder: &Path) -> Finding {
    let existing = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let free = match rustix::fs::statvfs(existing) {
        Ok(stat) => stat.f_bavail.saturating_mul(stat.f_frsize),
        Err(error) => return finding(Health::Warn, what, format!("free space unknown: {error}")),
    };
    let health = match free {
        0..TOO_LITTLE_BYTES => Health::Fail,
        TOO_LITTLE_BYTES..LITTLE_BYTES => Health::Warn,
        _ => Health::Ok,
    };
    let hint = (health != Health::Ok).then(|| "make space: a full disk stops the log".to_owned());
    let words = format!("{} free at {}", units::size(free), clean::line(&existing.display().to_string()));
    Finding { hint, ..finding(health, what, words) }
}

/// Has a small request counted, which costs nothing and needs address, key and model to be right.
async fn try_api(setup: &Setup, auth: Auth) -> Finding {
    let values = &setup.config.values;
    let url = values.base_url.value.clone();
    let client = match ClaudeClient::new(&Endpoint::new(&url, auth)) {
        Ok(client) => client,
        Err(error) => {
            let error = CliError::from(error);
            return Finding { hint: error.hint, ..finding(Health::Fail, "api", error.message) };
        }
    };
    let body = json!({ "model": values.model.value, "messages": [{ "role": "user", "content": "hello" }] });
    let begun = Instant::now();
    let cancel = CancellationToken::new();
    let counted =
        tokio::time::timeout(API_TIME, client.count_tokens(Bytes::from(body.to_string()), &[], &cancel)).await;
    let model = clean::short(&values.model.value, 80);
    match counted {
        Ok(Ok(_)) => {
            finding(Health::Ok, "api", format!("{url} knows the key and {model}, answered in {}", elapsed(begun)))
        }
        Ok(Err(failure)) => {
            let hint = match failure.kind {
                FailureKind::Authentication | FailureKind::Permission => failure_hint(TurnFailure::Authentication),
                FailureKind::NotFound => failure_hint(TurnFailure::NotFound),
                _ => failure_hint(TurnFailure::Connection),
            };
            let words = format!("{url}: {}", clean::short(&setup.redactor.redact(&failure.to_string()), 300));
            Finding { hint: hint.map(str::to_owned), ..finding(Health::Fail, "api", words) }
        }
        Err(_) => {
            let hint = Some("check the network and the base URL; --offline leaves this out".to_owned());
            Finding {
                hint,
                ..finding(Health::Fail, "api", format!("{url} did not answer in {} s", API_TIME.as_secs()))
            }
        }
    }
}

fn elapsed(begun: Instant) -> String {
    units::duration(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX))
}

fn print(setup: &Setup, finding: &Finding) -> Result<(), CliError> {
    let word = match finding.health {
        Health::Ok => "ok",
        Health::Warn => "warn",
        Health::Fail => "fail",
    };
    if setup.output.json {
        return setup.output.json_line(&json!({
            "check": finding.what.trim(), "health": word, "detail": finding.detail, "hint": finding.hint
        }));
    }
    let style = setup.output.data_style();
    let padded = format!("{word:<4}");
    let mark = match finding.health {
        Health::Ok => style.green(&padded),
        Health::Warn => style.yellow(&padded),
        Health::Fail => style.red(&padded),
    };
    let hint = finding.hint.as_ref().map(|hint| format!("      hint: {hint}\n")).unwrap_or_default();
    setup.output.data(&format!("{mark}  {}: {}\n{hint}", finding.what, finding.detail))
}
