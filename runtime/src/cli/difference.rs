//! `retrace diff`: how two places differ, of one session or of two: in files, and in what happened since they parted.

use super::event_name;
use super::exit::{CliError, Exit};
use super::fork::missing_files;
use super::invocation::Invocation;
use super::render::{Style, clean, units};
use super::setup::Setup;
use crate::checkpoints::Checkpoints;
use crate::forking::{ForkPoint, Parting};
use crate::snapshots::{SnapshotPlan, on_store};
use clap::Args;
use retrace_events::fold::FilesAt;
use retrace_events::payload::{Payload, Tool, Turn};
use retrace_events::{Event, EventLog, StreamId};
use retrace_sandbox::snapshot::{Change, ChangeKind, ItemKind, SnapshotError, SnapshotStore, TreeId};
use serde_json::json;
use similar::TextDiff;
use std::path::{Path, PathBuf};

/// Paths that are listed for people, unless all are asked for.
const LISTED: usize = 200;
/// The largest file that is compared line by line, in bytes; and how much is shown of all together.
const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_PATCH_BYTES: usize = 4 << 20;

/// Show how two places in sessions differ: files, and what happened since they parted
#[derive(Debug, Args)]
pub(super) struct DiffCommand {
    /// A place: SESSION@EVENT; without an event the session's newest
    from: String,
    /// The other place [default: the newest of the same session]
    to: Option<String>,
    /// Line by line, as a patch
    #[arg(long, short)]
    patch: bool,
    /// All paths, however many
    #[arg(long)]
    all: bool,
}

/// What happened on one side since the two parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Since {
    events: u64,
    prompts: u64,
    answers: u64,
    calls: u64,
    cost_microusd: u64,
}

impl DiffCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let checkpoints = setup.checkpoints(log.as_ref());
        let from = place(&checkpoints, log.as_ref(), &self.from).await?;
        let to = match &self.to {
            Some(to) => place(&checkpoints, log.as_ref(), to).await?,
            None => ForkPoint::find_with(&checkpoints, log.as_ref(), &from.stream, None).await?,
        };
        let parting = Parting::of(log.as_ref(), (&from.stream, from.seq), (&to.stream, to.seq)).await?;
        let sides = [since(log.as_ref(), &from, &parting).await?, since(log.as_ref(), &to, &parting).await?];
        let plan = SnapshotPlan::new(&setup.config.folders.state, log.identity(), &[], false);
        let changes = changes(&plan, &from, &to).await?;
        if setup.output.json {
            print_json(&setup, (&from, &to), &parting, sides, &changes)?;
            return Ok(Exit::Done);
        }
        let style = setup.output.data_style();
        setup.output.data(&happened(style, (&from, &to), &parting, sides))?;
        let (shown, caches) = if self.all { (changes.clone(), Vec::new()) } else { without_caches(&changes) };
        setup.output.data(&listed(
            style,
            changes.len(),
            &shown,
            &caches,
            if self.all { usize::MAX } else { LISTED },
        ))?;
        if self.patch {
            setup.output.data(&patch(&setup, &plan, (&from, &to), &changes)?)?;
        }
        Ok(Exit::Done)
    }
}

async fn place(checkpoints: &Checkpoints, log: &dyn EventLog, name: &str) -> Result<ForkPoint, CliError> {
    let named = event_name::find(log, name).await?;
    Ok(ForkPoint::find_with(checkpoints, log, &named.stream, named.seq).await?)
}

/// What happened in `point`'s session between the parting and the point.
async fn since(log: &dyn EventLog, point: &ForkPoint, parting: &Parting) -> Result<Since, CliError> {
    let history = retrace_events::History::of(log, &point.stream).await?.until(point.seq);
    let mut since = Since::default();
    let count = |_, event: &Event| {
        since.events += 1;
        match event.payload.known() {
            Some(Payload::Turn(Turn::Prompted(_))) => since.prompts += 1,
            Some(Payload::Turn(Turn::Answered(answer))) => {
                since.answers += 1;
                since.cost_microusd = since.cost_microusd.saturating_add(answer.cost_microusd);
            }
            Some(Payload::Tool(Tool::Called(_))) => since.calls += 1,
            _ => {}
        }
        Ok::<_, CliError>(())
    };
    history.for_each(log, parting.common_events, count).await?;
    Ok(since)
}

async fn changes(plan: &SnapshotPlan, from: &ForkPoint, to: &ForkPoint) -> Result<Vec<Change>, CliError> {
    let (before, after) = (tree(from)?, tree(to)?);
    Ok(on_store(plan, move |store, _| store.changes(Some(&before), &after)).await?)
}

fn tree(point: &ForkPoint) -> Result<TreeId, CliError> {
    match &point.files {
        FilesAt::At(tree) => Ok(tree.parse()?),
        FilesAt::Unknown | FilesAt::Failed(_) => Err(CliError { hint: None, ..missing_files(point, true) }),
    }
}

fn name(stream: &StreamId, seq: u64) -> String {
    format!("{}@{seq}", stream.id)
}

fn happened(style: Style, (from, to): (&ForkPoint, &ForkPoint), parting: &Parting, sides: [Since; 2]) -> String {
    let parted = match &parting.last {
        Some((stream, seq)) => format!("parted at event {seq} of session {}", stream.id),
        None => "no event in common".to_owned(),
    };
    let mut text = format!("{}\n", style.dim(&parted));
    for (point, since, mark) in [(from, sides[0], "-"), (to, sides[1], "+")] {
        let name = style.bold(&name(&point.stream, point.seq));
        text.push_str(&format!(
            "{mark} {name}  {} since: {}, {}, {}, {}\n",
            units::of(since.events, "event"),
            units::of(since.prompts, "prompt"),
            units::of(since.answers, "answer"),
            units::of(since.calls, "call"),
            units::cost(since.cost_microusd)
        ));
    }
    text
}

/// The letter that git uses.
fn letter(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Deleted => 'D',
        ChangeKind::Modified => 'M',
        ChangeKind::Mode => 'm',
        ChangeKind::Replaced => 'T',
    }
}

/// The name that marks a folder of build results: <https://bford.info/cachedir/>.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// `changes` without what lies in folders that build tools mark as theirs or that are known as such, and those folders, each with
/// how many changes it holds.
fn without_caches(changes: &[Change]) -> (Vec<Change>, Vec<(String, usize)>) {
    let tagged = changes.iter().filter(|change| change.path.file_name().is_some_and(|name| name == CACHE_TAG));
    let mut caches: Vec<PathBuf> = tagged.filter_map(|change| change.path.parent().map(Path::to_path_buf)).collect();
    // A tag that did not change is no change: the usual names then.
    for change in changes {
        let usual = change.path.ancestors().filter(|folder| {
            folder
                .file_name()
                .is_some_and(|name| ["target", "node_modules", "__pycache__"].iter().any(|usual| name == *usual))
        });
        if let Some(outermost) = usual.last().filter(|folder| !caches.iter().any(|cache| folder.starts_with(cache))) {
            caches.push(outermost.to_path_buf());
        }
    }
    let mut counted: Vec<(String, usize)> = Vec::new();
    let mut shown = Vec::new();
    for change in changes {
        match caches.iter().find(|cache| change.path.starts_with(cache)) {
            None => shown.push(change.clone()),
            Some(cache) => {
                let name = cache.display().to_string();
                match counted.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, count)) => *count += 1,
                    None => counted.push((name, 1)),
                }
            }
        }
    }
    (shown, counted)
}

fn listed(style: Style, total: usize, changes: &[Change], caches: &[(String, usize)], limit: usize) -> String {
    let differ = if total == 1 { "differs" } else { "differ" };
    let mut text = format!("{} {differ}\n", units::of(total as u64, "path"));
    for change in changes.iter().take(limit) {
        let path = clean::line(&change.path.display().to_string());
        let line = format!("{} {path}{}\n", letter(change.kind()), sizes(change));
        text.push_str(&match change.kind() {
            ChangeKind::Added => style.green(&line),
            ChangeKind::Deleted => style.red(&line),
            ChangeKind::Modified | ChangeKind::Mode | ChangeKind::Replaced => line,
        });
    }
    if changes.len() > limit {
        text.push_str(&style.dim(&format!("{} more: --all\n", changes.len() - limit)));
    }
    for (folder, count) in caches {
        let count = units::of(*count as u64, "path");
        text.push_str(&style.dim(&format!("… {}/  {count} of build results: --all\n", clean::line(folder))));
    }
    text
}

/// What else is to say of a change.
fn sizes(change: &Change) -> String {
    match (change.kind(), &change.before, &change.after) {
        (ChangeKind::Mode, Some(before), Some(after)) => format!("  {:o} -> {:o}", before.mode, after.mode),
        (ChangeKind::Modified, Some(before), Some(after)) if before.size != after.size => {
            format!("  {} -> {}", units::size(before.size), units::size(after.size))
        }
        (ChangeKind::Added, _, Some(item)) if item.kind != ItemKind::Folder => format!("  {}", units::size(item.size)),
        _ => String::new(),
    }
}

/// The changes of files line by line, as far as they are text. Secrets are taken out, terminal sequences too.
fn patch(
    setup: &Setup,
    plan: &SnapshotPlan,
    (from, to): (&ForkPoint, &ForkPoint),
    changes: &[Change],
) -> Result<String, CliError> {
    let store = SnapshotStore::open(&plan.dir)?;
    let (before, after) = (tree(from)?, tree(to)?);
    let style = setup.output.data_style();
    let mut text = String::new();
    for change in changes {
        let is_file = |item: &Option<retrace_sandbox::snapshot::Item>| {
            item.as_ref().is_none_or(|item| item.kind != ItemKind::Folder)
        };
        if !is_file(&change.before) || !is_file(&change.after) || change.kind() == ChangeKind::Mode {
            continue;
        }
        let path = clean::line(&change.path.display().to_string());
        if text.len() > MAX_PATCH_BYTES {
            text.push_str(&format!("… {path} and what follows are left out\n"));
            break;
        }
        let read = |tree: &TreeId, there: bool| -> Result<Option<String>, SnapshotError> {
            if !there {
                return Ok(Some(String::new()));
            }
            let bytes = match store.read(tree, &change.path, MAX_FILE_BYTES) {
                Err(SnapshotError::NotReadable { .. }) => return Ok(None),
                other => other?,
            };
            Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|text| !text.contains('\0')))
        };
        let (Some(old), Some(new)) = (read(&before, change.before.is_some())?, read(&after, change.after.is_some())?)
        else {
            text.push_str(&style.dim(&format!("{path}: not text, or too large\n")));
            continue;
        };
        let (old, new) = (setup.redactor.redact(&old).into_owned(), setup.redactor.redact(&new).into_owned());
        let diff = TextDiff::from_lines(&old, &new);
        let unified =
            diff.unified_diff().context_radius(3).header(&format!("a/{path}"), &format!("b/{path}")).to_string();
        text.push_str(&crate::cli::render::painted_diff(&clean::text(&unified), style));
    }
    Ok(text)
}

fn print_json(
    setup: &Setup,
    (from, to): (&ForkPoint, &ForkPoint),
    parting: &Parting,
    sides: [Since; 2],
    changes: &[Change],
) -> Result<(), CliError> {
    let side = |point: &ForkPoint, since: Since| {
        json!({
            "session": point.stream.id.as_str(), "event": point.seq, "tree": point.files.tree(), "events": since.events,
            "prompts": since.prompts, "answers": since.answers, "calls": since.calls, "cost_microusd": since.cost_microusd,
        })
    };
    let parted = parting.last.as_ref().map(|(stream, seq)| json!({ "session": stream.id.as_str(), "event": seq }));
    setup.output.json_line(&json!({
        "from": side(from, sides[0]), "to": side(to, sides[1]), "parted_at": parted, "paths": changes.len(),
    }))?;
    for change in changes {
        setup.output.json_line(&json!({
            "path": clean::line(&change.path.display().to_string()),
            "change": letter(change.kind()).to_string(),
            "bytes_before": change.before.as_ref().map(|item| item.size),
            "bytes_after": change.after.as_ref().map(|item| item.size),
        }))?;
    }
    Ok(())
}
