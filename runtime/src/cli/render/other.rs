//! Events around the conversation, one or a few lines each.

use super::transcript::Detail;
use super::{Style, clean, units};
use retrace_events::Event;
use retrace_events::payload::context::{ContextEpochStarted, ContextImageAttached, ContextSource};
use retrace_events::payload::sandbox::SandboxConnection;
use retrace_events::payload::session::{PlanStatus, SessionControlHandled, SessionPlanned};
use retrace_events::payload::{Context, Control, Job, Sandbox, Session, Summary, Workspace};
use retrace_events::redact::Redactor;

/// Steps of a plan that are shown.
const PLAN_ITEMS: usize = 50;

/// `session.*`.
pub(super) fn session(event: &Event, session: &Session, style: Style, detail: Detail, redactor: &Redactor) -> String {
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
        Session::ControlHandled(handled) => control_handled(handled, style, detail, redactor),
        Session::RuleAdded(added) => format!(
            "{} {} {}\n",
            style.yellow("! allowed for this session:"),
            line(redactor, &added.rule),
            style.dim(&format!("(by {})", short(redactor, &added.by, 80)))
        ),
        Session::Planned(planned) => plan(planned, style, redactor),
        Session::Imported(imported) => format!(
            "imported from {} {}, session {}: what its requests were is not known\n",
            short(redactor, &imported.source, 40),
            short(redactor, &imported.source_version, 40),
            short(redactor, &imported.source_session, 80)
        ),
        Session::Closed(closed) => format!("closed: {}\n", short(redactor, &closed.why, 200)),
    }
}

/// What became of something that was said to the session. All that had an effect shows by what it led to.
fn control_handled(handled: &SessionControlHandled, style: Style, detail: Detail, redactor: &Redactor) -> String {
    let note = short(redactor, &handled.note, 300);
    match (handled.accepted, detail) {
        (false, _) => format!("{} {note}\n", style.yellow("! not done:")),
        (true, Detail::Short) => String::new(),
        (true, Detail::Full) => {
            format!("{}\n", style.dim(&format!("  control event {} taken: {note}", handled.seq)))
        }
    }
}

/// A plan as a checklist.
fn plan(planned: &SessionPlanned, style: Style, redactor: &Redactor) -> String {
    let items = &planned.items;
    let done = items.iter().filter(|item| item.status == PlanStatus::Done).count();
    let mut text = format!("{} {done} of {} done\n", style.bold("plan:"), items.len());
    for item in items.iter().take(PLAN_ITEMS) {
        let words = short(redactor, &item.text, 200);
        text.push_str(&match item.status {
            PlanStatus::Done => format!("  {} {}\n", style.green("[x]"), style.dim(&words)),
            PlanStatus::InProgress => format!("  {} {}\n", style.yellow("[~]"), style.bold(&words)),
            PlanStatus::Pending => format!("  [ ] {words}\n"),
        });
    }
    if items.len() > PLAN_ITEMS {
        text.push_str(&format!("  … {} more\n", units::of((items.len() - PLAN_ITEMS) as u64, "step")));
    }
    text
}

/// An image that a prompt or a result came with; its bytes are not for a terminal.
pub(super) fn image(image: &ContextImageAttached, redactor: &Redactor) -> String {
    let base64 = image.data_base64.trim_end_matches('=').len() as u64;
    format!(
        "  image: {}, {}, {}x{}, {}",
        short(redactor, &image.name, 80),
        short(redactor, &image.media_type, 40),
        image.width_px,
        image.height_px,
        units::size(base64 / 4 * 3 + base64 % 4 * 3 / 4)
    )
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
        Sandbox::Connection(used) => connection(used, style, redactor),
    }
}

/// A connection: where to, how much, and why not.
fn connection(used: &SandboxConnection, style: Style, redactor: &Redactor) -> String {
    let place = format!("{}:{}", short(redactor, &used.host, 200), used.port);
    let why = if used.why.is_empty() { String::new() } else { format!(": {}", short(redactor, &used.why, 300)) };
    if !used.allowed {
        return format!("{} network: {place} refused{why}\n", style.yellow("!"));
    }
    let key = if used.credential.is_some() { ", credential added" } else { "" };
    let (sent, received) = (units::size(used.sent_bytes), units::size(used.received_bytes));
    format!("{} network: {place} ({sent} sent, {received} received{key}){why}\n", style.dim("·"))
}

/// A later epoch: why it began, and what of the conversation it begins with.
pub(super) fn rotation(epoch: &ContextEpochStarted, redactor: &Redactor) -> String {
    let of =
        |what: fn(&ContextSource) -> bool| epoch.seed.iter().filter(|passage| what(&passage.source)).count() as u64;
    let counts = [
        (of(|source| matches!(source, ContextSource::Prompt(_))), "prompt"),
        (of(|source| matches!(source, ContextSource::Summary(_))), "digest"),
        (of(|source| matches!(source, ContextSource::File { .. })), "file"),
        (of(|source| matches!(source, ContextSource::Event(_))), "passage"),
    ];
    let mut kept: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| units::of(*count, noun)).collect();
    if epoch.compacted.is_some() {
        kept.push("the API's summary".to_owned());
    }
    kept.push(match epoch.from_seq {
        0 => "the whole conversation".to_owned(),
        seq => format!("word for word from event {seq}"),
    });
    format!("  ─ context {} begins: {}; it keeps {}", epoch.number, short(redactor, &epoch.why, 200), kept.join(", "))
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
        Context::ImageAttached(attached) => image(attached, redactor),
        Context::Retrieved(retrieved) => format!(
            "  retrieved {} for: {}",
            units::of(retrieved.passages.len() as u64, "passage"),
            short(redactor, &retrieved.query, 200)
        ),
        Context::Compacted(compacted) => format!(
            "  the conversation so far was summarized by {}: {}",
            short(redactor, &compacted.by, 80),
            short(redactor, &compacted.summary, 200)
        ),
        Context::CompactionRequested(request) => format!(
            "  asks the API for a summary of what is older than event {}, {} ({})",
            request.until_seq,
            units::size(request.body_bytes),
            short(redactor, &request.why, 200)
        ),
        Context::CompactionAnswered(answer) => format!(
            "  {} ({}, {})",
            if answer.block.is_some() { "the API wrote a summary" } else { "the API wrote no summary" },
            short(redactor, &answer.stop_reason, 80),
            units::cost(answer.cost_microusd)
        ),
        Context::CompactionFailed(failed) => {
            format!("  no summary by the API: {:?}: {}", failed.failure, short(redactor, &failed.message, 200))
        }
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
        Workspace::SnapshotFailed(failed) => {
            format!(" no snapshot of the files from here on: {}", short(redactor, &failed.why, 300))
        }
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
