//! Events around the conversation, one or a few lines each.

use super::{Style, clean, units};
use retrace_events::Event;
use retrace_events::payload::{Context, Control, Job, Sandbox, Session, Summary, Workspace};
use retrace_events::redact::Redactor;

/// `session.*`.
pub(super) fn session(event: &Event, session: &Session, style: Style, redactor: &Redactor) -> String {
    let id = style.bold(event.envelope.stream.id.as_str());
    match session {
        Session::Started(started) => {
            let model = short(redactor, &started.settings.model, 80);
            format!("session {id} · {model} · {}\n", line(redactor, &started.workspace))
        }
        Session::Forked(forked) => format!(
            "session {id}, from event {} of {} · {}\n",
            forked.parent_seq,
            forked.parent.id,
            line(redactor, &forked.workspace)
        ),
        Session::Configured(configured) => format!("settings changed: {}\n", short(redactor, &configured.why, 500)),
        Session::Closed(closed) => format!("closed: {}\n", short(redactor, &closed.why, 200)),
    }
}

/// `sandbox.*`. A session without a sandbox says so loudly.
pub(super) fn sandbox(sandbox: &Sandbox, style: Style, log: Option<&str>, redactor: &Redactor) -> String {
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
                level => format!(", {}", short(redactor, level, 40)),
            };
            format!("sandbox: {}{level} ({proofs}){log}\n", short(redactor, &started.backend, 40))
        }
        Sandbox::Stopped(stopped) if stopped.unexpected => {
            format!("{} the sandbox ended: {}\n", style.red("!"), short(redactor, &stopped.why, 300))
        }
        Sandbox::Stopped(_) => String::new(),
        Sandbox::LimitHit(hit) => format!(
            "{} limit hit: {} ({})\n",
            style.yellow("!"),
            short(redactor, &hit.limit, 40),
            short(redactor, &hit.detail, 300)
        ),
        Sandbox::NetworkAttempted(attempt) => {
            let done = if attempt.allowed { "allowed" } else { "refused" };
            format!("{} network: {} ({done})\n", style.yellow("!"), short(redactor, &attempt.destination, 200))
        }
    }
}

/// `context.*`.
pub(super) fn context(context: &Context, redactor: &Redactor) -> String {
    match context {
        Context::EpochStarted(epoch) => format!(
            "  context {}: {} of instructions, {} of tools, renderer {} ({})",
            epoch.number,
            units::size(epoch.system.len() as u64),
            units::size(epoch.tools.len() as u64),
            epoch.renderer,
            short(redactor, &epoch.why, 200)
        ),
        Context::Retrieved(retrieved) => format!(
            "  retrieved {} for: {}",
            units::of(retrieved.passages.len() as u64, "passage"),
            short(redactor, &retrieved.query, 200)
        ),
    }
}

/// `workspace.*`.
pub(super) fn workspace(workspace: &Workspace, redactor: &Redactor) -> String {
    match workspace {
        Workspace::Snapshotted(snapshot) => format!(
            "  snapshot {}: {} changed, {} new",
            short(redactor, &snapshot.tree, 12),
            units::of(snapshot.changed_files, "file"),
            units::size(snapshot.new_bytes)
        ),
    }
}

/// `summary.*`.
pub(super) fn summary(summary: &Summary, redactor: &Redactor) -> String {
    match summary {
        Summary::Written(written) => {
            format!(
                "  summary of events {} to {}: {}",
                written.first_seq,
                written.last_seq,
                short(redactor, &written.text, 200)
            )
        }
    }
}

/// `job.*`.
pub(super) fn job(job: &Job, redactor: &Redactor) -> String {
    match job {
        Job::Submitted(submitted) => format!("  job: {}", short(redactor, &submitted.task, 200)),
        Job::Claimed(claimed) => format!("  job taken by {}", short(redactor, &claimed.worker, 80)),
        Job::Progressed(progressed) => format!("  job: {}", short(redactor, &progressed.note, 200)),
        Job::Finished(finished) => format!("  job over: {}", short(redactor, &finished.note, 200)),
        Job::Cancelled(cancelled) => format!("  job cancelled by {}", short(redactor, &cancelled.by, 80)),
    }
}

/// `control.*`.
pub(super) fn control(control: &Control, redactor: &Redactor) -> String {
    match control {
        Control::PromptSent(sent) => format!("  sent: {}", short(redactor, &sent.text, 200)),
        Control::ApprovalGiven(given) => {
            format!(
                "  {} {}",
                if given.allow.is_some() { "allowed" } else { "forbade" },
                short(redactor, &given.call.0, 80)
            )
        }
        Control::QuestionAnswered(answered) => format!("  answered: {}", short(redactor, &answered.text, 200)),
        Control::CancelRequested(request) => format!("  cancel asked for by {}", short(redactor, &request.by, 80)),
        Control::Tagged(tagged) => format!("  tagged {}", short(redactor, &tagged.tag, 80)),
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

/// Foreign text in one short line. Redacted before it is cut: half a secret is no secret to the redactor any more.
pub(super) fn short(redactor: &Redactor, foreign: &str, max_chars: usize) -> String {
    clean::short(&redactor.redact(foreign), max_chars)
}

fn line(redactor: &Redactor, foreign: &str) -> String {
    clean::line(&redactor.redact(foreign))
}
