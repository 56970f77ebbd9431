//! Events around the conversation, one or a few lines each.

use super::{Style, clean, units};
use retrace_events::Event;
use retrace_events::payload::{Context, Control, Job, Sandbox, Session, Summary, Workspace};

/// `session.*`.
pub(super) fn session(event: &Event, session: &Session, style: Style) -> String {
    let id = style.bold(event.envelope.stream.id.as_str());
    match session {
        Session::Started(started) => {
            let model = clean::short(&started.settings.model, 80);
            format!("session {id} · {model} · {}\n", clean::line(&started.workspace))
        }
        Session::Forked(forked) => format!(
            "session {id}, from event {} of {} · {}\n",
            forked.parent_seq,
            forked.parent.id,
            clean::line(&forked.workspace)
        ),
        Session::Configured(configured) => format!("settings changed: {}\n", clean::short(&configured.why, 500)),
        Session::Closed(closed) => format!("closed: {}\n", clean::short(&closed.why, 200)),
    }
}

/// `sandbox.*`. A session without a sandbox says so loudly.
pub(super) fn sandbox(sandbox: &Sandbox, style: Style, log: Option<&str>) -> String {
    match sandbox {
        Sandbox::Started(started) => {
            let log = log.map(|log| format!(" · log: {log}")).unwrap_or_default();
            if started.backend == "none" {
                return format!(
                    "{}{log}\n",
                    style.red("NO SANDBOX: commands run as you, with your files and your network")
                );
            }
            let passed = started.proofs.iter().filter(|proof| proof.passed).count();
            let proofs = match started.proofs.len() {
                all if all == passed => units::of(all as u64, "proof"),
                all => format!("{passed} of {all} proofs"),
            };
            let level = match started.level.as_str() {
                level if level == started.backend => String::new(),
                level => format!(", {}", clean::short(level, 40)),
            };
            format!("sandbox: {}{level} ({proofs}){log}\n", clean::short(&started.backend, 40))
        }
        Sandbox::Stopped(stopped) if stopped.unexpected => {
            format!("{} the sandbox ended: {}\n", style.red("!"), clean::short(&stopped.why, 300))
        }
        Sandbox::Stopped(_) => String::new(),
        Sandbox::LimitHit(hit) => format!(
            "{} limit hit: {} ({})\n",
            style.yellow("!"),
            clean::short(&hit.limit, 40),
            clean::short(&hit.detail, 300)
        ),
        Sandbox::NetworkAttempted(attempt) => {
            let done = if attempt.allowed { "allowed" } else { "refused" };
            format!("{} network: {} ({done})\n", style.yellow("!"), clean::short(&attempt.destination, 200))
        }
    }
}

/// `context.*`.
pub(super) fn context(context: &Context) -> String {
    match context {
        Context::EpochStarted(epoch) => format!(
            "  context {}: {} of instructions, {} of tools, renderer {} ({})",
            epoch.number,
            units::size(epoch.system.len() as u64),
            units::size(epoch.tools.len() as u64),
            epoch.renderer,
            clean::short(&epoch.why, 200)
        ),
        Context::Retrieved(retrieved) => format!(
            "  retrieved {} for: {}",
            units::of(retrieved.passages.len() as u64, "passage"),
            clean::short(&retrieved.query, 200)
        ),
    }
}

/// `workspace.*`.
pub(super) fn workspace(workspace: &Workspace) -> String {
    match workspace {
        Workspace::Snapshotted(snapshot) => format!(
            "  snapshot {}: {} changed, {} new",
            clean::short(&snapshot.tree, 12),
            units::of(snapshot.changed_files, "file"),
            units::size(snapshot.new_bytes)
        ),
    }
}

/// `summary.*`.
pub(super) fn summary(summary: &Summary) -> String {
    match summary {
        Summary::Written(written) => {
            format!(
                "  summary of events {} to {}: {}",
                written.first_seq,
                written.last_seq,
                clean::short(&written.text, 200)
            )
        }
    }
}

/// `job.*`.
pub(super) fn job(job: &Job) -> String {
    match job {
        Job::Submitted(submitted) => format!("  job: {}", clean::short(&submitted.task, 200)),
        Job::Claimed(claimed) => format!("  job taken by {}", clean::short(&claimed.worker, 80)),
        Job::Progressed(progressed) => format!("  job: {}", clean::short(&progressed.note, 200)),
        Job::Finished(finished) => format!("  job over: {}", clean::short(&finished.note, 200)),
        Job::Cancelled(cancelled) => format!("  job cancelled by {}", clean::short(&cancelled.by, 80)),
    }
}

/// `control.*`.
pub(super) fn control(control: &Control) -> String {
    match control {
        Control::PromptSent(sent) => format!("  sent: {}", clean::short(&sent.text, 200)),
        Control::ApprovalGiven(given) => {
            format!(
                "  {} {}",
                if given.allow.is_some() { "allowed" } else { "forbade" },
                clean::short(&given.call.0, 80)
            )
        }
        Control::QuestionAnswered(answered) => format!("  answered: {}", clean::short(&answered.text, 200)),
        Control::CancelRequested(request) => format!("  cancel asked for by {}", clean::short(&request.by, 80)),
        Control::Tagged(tagged) => format!("  tagged {}", clean::short(&tagged.tag, 80)),
    }
}

/// `RateLimited` as `rate limited`.
pub(super) fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}
