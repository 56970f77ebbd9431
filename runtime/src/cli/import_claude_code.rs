//! `retrace import claude-code`: a user's sessions of Claude Code become sessions here.

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::progress::Progress;
use super::render::{clean, units};
use super::session_name;
use super::setup::Setup;
use crate::import::claude_code::{ImportReport, Importer, SessionReport, SessionState, Shop};
use crate::import::{ImportError, Refusal};
use clap::Args;
use retrace_events::log::Holder;
use retrace_events::mint::SystemMint;
use retrace_events::{Class, Mint, StreamId, Token};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// How much of a title stands in the list.
const TITLE_CHARS: usize = 60;

/// Take in sessions of Claude Code
///
/// They can be searched, read, and gone on with. Taking them in again adds what is new, and nothing twice. Lines that cannot be
/// understood are left out and told; a file or session that could not be taken makes the exit code 1, after all others were.
#[derive(Debug, Args)]
pub(super) struct ImportClaudeCode {
    /// A transcript (.jsonl, .jsonl.gz) or a folder of them [default: ~/.claude/projects]
    path: Option<PathBuf>,
    /// Leave out what subagents did
    #[arg(long)]
    without_subagents: bool,
}

impl ImportClaudeCode {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let path = match self.path {
            Some(path) => path,
            None => default_folder(invocation)?,
        };
        if !path.exists() {
            return Err(CliError::new(Exit::Usage, format!("there is no {}", path.display()))
                .hint("name a transcript of Claude Code's, or a folder of them"));
        }
        let shop = shop(&setup, !self.without_subagents).await?;
        let mut progress = Progress::begin(invocation, "importing");
        let report = Importer::new(&shop).run(&path, &mut |done, all| progress.at(done, all)).await?;
        drop(progress);
        tell(&setup, &report)?;
        if report.sessions.is_empty() && !report.failed() {
            let what = format!("no transcript in {} ({} looked at)", path.display(), units::of(report.files, "file"));
            return Err(CliError::new(Exit::Usage, what).hint("Claude Code keeps them in ~/.claude/projects"));
        }
        Ok(if report.failed() { Exit::Failed } else { Exit::Done })
    }
}

/// Where Claude Code keeps its transcripts.
fn default_folder(invocation: &Invocation) -> Result<PathBuf, CliError> {
    let folder = |name: &str| invocation.env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = folder("CLAUDE_CONFIG_DIR").or_else(|| Some(folder("HOME")?.join(".claude")));
    home.map(|home| home.join("projects"))
        .ok_or_else(|| CliError::new(Exit::Usage, "import what?").hint("retrace import claude-code <FILE or FOLDER>"))
}

async fn shop(setup: &Setup, subagents: bool) -> Result<Shop, CliError> {
    let stream = |workspace: &std::path::Path, id: &str| StreamId {
        tenant: Token::slug(session_name::LOCAL_TENANT),
        project: session_name::project(workspace),
        class: Class::Session,
        id: Token::slug(id),
    };
    Ok(Shop {
        log: setup.open_log().await?,
        redactor: Arc::clone(&setup.redactor),
        models: setup.models.clone(),
        settings: setup.config.settings(&setup.models),
        stream: Box::new(stream),
        workspace: setup.config.workspace.clone(),
        imported_list: setup.config.folders.imported_file(),
        holder: Holder::this_process("retrace import", SystemMint.now()),
        now_ms: SystemMint.now().0,
        subagents,
    })
}

/// Prints the report.
fn tell(setup: &Setup, report: &ImportReport) -> Result<(), CliError> {
    let output = &setup.output;
    for problem in &report.problems {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        let hint = problem.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        let what =
            format!("{}{line}: {}", clean::line(&problem.file.display().to_string()), clean::line(&problem.what));
        output.warn(&format!("{what}{hint}"));
    }
    for session in &report.sessions {
        if let SessionState::Refused(refusal) = &session.state {
            output.warn(&refused(session, refusal));
        }
        if session.held_back {
            output.warn(&format!(
                "session {}: its last answer may still be in the making and is left out\nhint: import it again later",
                session.session
            ));
        }
        if output.json {
            output.json_line(&row(session))?;
        } else {
            output.data(&line(session))?;
        }
    }
    if output.json { output.json_line(&sums(report)) } else { output.data(&summary(report)) }
}

fn refused(session: &SessionReport, refusal: &Refusal) -> String {
    let (id, left) = (&session.session, units::of(session.left, "newer event"));
    match refusal {
        Refusal::GoneOn { seq } => format!(
            "session {id} has gone on here from event {seq}: {left} of the transcript not taken\nhint: what was done here stays; \
             `--log` names another log for the transcript"
        ),
        Refusal::Differs { seq } => format!(
            "session {id} is here already with other events from event {seq}: {left} not taken\nhint: import the folder \
             with all files of the session, or use another log (`--log`)"
        ),
        Refusal::InUse { by } => {
            format!(
                "session {id} is held by {}: {left} not taken\nhint: import it again when that ends",
                clean::line(by)
            )
        }
        Refusal::Deleted => format!(
            "session {id} was deleted here: {left} not taken\nhint: `--log` names another log for the transcript"
        ),
    }
}

fn line(session: &SessionReport) -> String {
    let what = match &session.state {
        SessionState::New => units::of(session.stored, "event"),
        SessionState::Grown => format!("{} more", units::of(session.stored, "event")),
        SessionState::Same => "already there".to_owned(),
        SessionState::Refused(_) => "not taken".to_owned(),
    };
    format!("{}  {what:>16}  {}\n", session.session, clean::short(&session.title, TITLE_CHARS))
}

fn summary(report: &ImportReport) -> String {
    let mut text = format!(
        "{} imported into {} ({} already there) from {}\n",
        units::of(report.stored(), "event"),
        units::of(report.sessions.len() as u64, "session"),
        units::count(report.present()),
        units::of(report.files - report.others, "file"),
    );
    if report.others > 0 {
        text.push_str(&format!("{} in the folder are no transcripts\n", units::of(report.others, "file")));
    }
    if report.broken_lines > 0 {
        text.push_str(&format!("{} could not be understood\n", units::of(report.broken_lines, "line")));
    }
    let left_out: Vec<String> = report
        .left_out
        .iter()
        .map(|(what, count)| format!("{} {}", units::count(count), clean::short(what, 60)))
        .collect();
    if !left_out.is_empty() {
        text.push_str(&format!("left out: {}\n", left_out.join(", ")));
    }
    text
}

fn row(session: &SessionReport) -> Value {
    let (state, why) = match &session.state {
        SessionState::New => ("new", Value::Null),
        SessionState::Grown => ("grown", Value::Null),
        SessionState::Same => ("same", Value::Null),
        SessionState::Refused(Refusal::GoneOn { seq }) => ("gone_on", json!({ "seq": seq })),
        SessionState::Refused(Refusal::Differs { seq }) => ("differs", json!({ "seq": seq })),
        SessionState::Refused(Refusal::InUse { by }) => ("in_use", json!({ "by": by })),
        SessionState::Refused(Refusal::Deleted) => ("deleted", Value::Null),
    };
    json!({
        "session": session.session,
        "agent": session.agent,
        "title": session.title,
        "workspace": session.workspace,
        "state": state,
        "why": why,
        "stored": session.stored,
        "present": session.present,
        "left": session.left,
        "held_back": session.held_back,
    })
}

fn sums(report: &ImportReport) -> Value {
    let left_out: serde_json::Map<String, Value> =
        report.left_out.iter().map(|(what, count)| (what.to_owned(), count.into())).collect();
    let problems = report.problems.iter().map(|problem| {
        json!({ "file": problem.file.display().to_string(), "line": problem.line, "what": problem.what, "fatal": problem.fatal })
    });
    json!({
        "files": report.files,
        "other_files": report.others,
        "lines": report.lines,
        "broken_lines": report.broken_lines,
        "sessions": report.sessions.len(),
        "stored": report.stored(),
        "present": report.present(),
        "left_out": left_out,
        "problems": problems.collect::<Vec<_>>(),
    })
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Log(error) => error.into(),
            ImportError::Config(error) => error.into(),
        }
    }
}
