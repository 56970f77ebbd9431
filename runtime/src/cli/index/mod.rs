//! `retrace index`: the indexes that searches look into. All of them are made of the log and the workspace, and can be thrown
//! away; a search or a running session brings them up to date by itself.

mod index_facts;
pub(super) mod upkeep;
mod vector_upkeep;

#[cfg(test)]
mod tests;

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::progress::Progress;
use super::render::{clean, units};
use super::search::workspace;
use super::setup::Setup;
use clap::{Args, Subcommand};
use index_facts::IndexFacts;
use retrace_events::EventLog;
use retrace_events::log::Holder;
use retrace_indexer::{IndexCheck, IndexFolder, IndexModel, IndexStatus, Rebuild, VectorTable};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use upkeep::sessions_folder;

/// Look at, update, check or make again what searches look into
#[derive(Debug, Args)]
pub(super) struct IndexCommand {
    #[command(subcommand)]
    action: IndexAction,
}

#[derive(Debug, Clone, Subcommand)]
enum IndexAction {
    /// Say what is indexed, how far, where, and who is writing
    Status,
    /// Bring the indexes of sessions and of this workspace's code up to date, with all vectors where a model is set
    Update,
    /// Make the index of sessions again from the log; the old one answers meanwhile
    Rebuild {
        /// That of this workspace's code too
        #[arg(long)]
        code: bool,
        /// The vectors too
        #[arg(long)]
        vectors: bool,
    },
    /// Compare the index of sessions with one made anew, document for document
    Verify,
}

impl IndexCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let code = workspace::of_code(&setup, log.as_ref(), invocation.global.workspace.is_some()).await?;
        match self.action {
            IndexAction::Status => {}
            IndexAction::Update => update(invocation, &setup, &log, code.as_deref()).await?,
            IndexAction::Rebuild { code: with_code, vectors } => {
                let with_code = code.as_deref().filter(|_| with_code);
                make_again(invocation, &setup, &log, with_code, vectors).await?;
            }
            IndexAction::Verify => return verify(invocation, &setup, &log).await,
        }
        for facts in all(&setup, &log, code.as_deref(), &setup.index_model).await? {
            setup.output.data(&if setup.output.json {
                format!("{}\n", clean::json(&facts.json().to_string()))
            } else {
                facts.text(setup.output.data_style())
            })?;
        }
        Ok(Exit::Done)
    }
}

async fn update(
    invocation: &Invocation,
    setup: &Setup,
    log: &Arc<dyn EventLog>,
    code: Option<&Path>,
) -> Result<(), CliError> {
    if let Some(why) = upkeep::sessions(invocation, setup, log).await? {
        setup.output.note(&format!("the index of sessions was made anew: {}\n", clean::line(&why)));
    }
    if let Some(workspace) = code {
        upkeep::code(invocation, setup, workspace).await?;
    }
    let embedder = match setup.index_model.embedder().await {
        Ok(Some(embedder)) => embedder,
        Ok(None) => return Ok(()),
        Err(problem) => {
            return Err(CliError::new(Exit::Failed, format!("no vectors were made: {}", clean::line(&problem))));
        }
    };
    let folder = sessions_folder(setup, log.as_ref());
    let mut complete = vector_upkeep::sessions(invocation, &folder, Arc::clone(&embedder)).await?;
    if let Some(workspace) = code {
        let folder = IndexFolder::of_code(&setup.config.folders.state, workspace);
        complete &= vector_upkeep::code(invocation, &folder, workspace, embedder).await?;
    }
    if !complete {
        setup.output.note("another process is making vectors; it goes on\n");
    }
    Ok(())
}

/// Makes the index over sessions again, and on request that of `code`, and the vectors of what is made again.
async fn make_again(
    invocation: &Invocation,
    setup: &Setup,
    log: &Arc<dyn EventLog>,
    code: Option<&Path>,
    vectors: bool,
) -> Result<(), CliError> {
    let sessions = sessions_folder(setup, log.as_ref());
    let mut progress = Progress::begin(invocation, "indexing sessions");
    let rebuild = rebuild(setup, log)?;
    rebuild.run(&mut |at| upkeep::show(&mut progress, at)).await?;
    drop(progress);
    if vectors {
        remove(&sessions.vectors())?;
    }
    drop(rebuild);
    if let Some(workspace) = code {
        let folder = IndexFolder::of_code(&setup.config.folders.state, workspace);
        remove(&folder.keyword())?;
        if vectors {
            remove(&folder.vectors())?;
        }
        upkeep::code(invocation, setup, workspace).await?;
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<(), CliError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(CliError::new(Exit::Failed, format!("cannot remove {}: {error}", folder.display())))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn rebuild(setup: &Setup, log: &Arc<dyn EventLog>) -> Result<Rebuild, CliError> {
    let folder = sessions_folder(setup, log.as_ref());
    let redactor = Arc::clone(&setup.redactor);
    Ok(Rebuild::begin(Arc::clone(log), &folder, redactor, &upkeep::holder("retrace index"))?)
}

/// All indexes there are for this log and this workspace.
async fn all(
    setup: &Setup,
    log: &Arc<dyn EventLog>,
    code: Option<&Path>,
    model: &IndexModel,
) -> Result<Vec<IndexFacts>, CliError> {
    let folder = sessions_folder(setup, log.as_ref());
    let status = IndexStatus::of(&folder);
    let end = log.end().await?.0;
    let mut sessions = facts("sessions", &status);
    sessions.position = Some((status.position.0, end));
    sessions.behind = Some(end.saturating_sub(status.position.0));
    sessions.vectors = vectors(&folder, model).await;
    let mut all = vec![sessions];
    if let Some(workspace) = code {
        let folder = IndexFolder::of_code(&setup.config.folders.state, workspace);
        let mut code = facts("code", &IndexStatus::of(&folder));
        code.workspace = Some(workspace.to_path_buf());
        code.vectors = vectors(&folder, model).await;
        all.push(code);
    }
    Ok(all)
}

/// How many documents can be found by meaning, and by which model; `None` when none is set.
async fn vectors(folder: &IndexFolder, model: &IndexModel) -> Option<(u64, String)> {
    if !model.is_chosen() {
        return None;
    }
    let embedder = match model.embedder().await {
        Ok(embedder) => embedder?,
        Err(why) => return Some((0, why)),
    };
    let name = format!("{}, {} dimensions", embedder.id(), embedder.dimensions());
    let table = VectorTable::open(&folder.vectors(), embedder.id(), embedder.dimensions()).await;
    let counted = match table {
        Ok(Some(table)) => table.count().await,
        Ok(None) => Ok(0),
        Err(error) => Err(error),
    };
    Some(counted.map_or_else(|error| (0, error.to_string()), |count| (count, name)))
}

fn facts(what: &'static str, status: &IndexStatus) -> IndexFacts {
    IndexFacts {
        what,
        folder: status.folder.clone(),
        documents: Some(status.documents).filter(|_| status.size_bytes > 0 && status.damage.is_none()),
        size_bytes: status.size_bytes,
        writer: status.writer.as_ref().map(Holder::to_string),
        unreadable: status.unreadable,
        problem: status.damage.clone(),
        ..IndexFacts::default()
    }
}

async fn verify(invocation: &Invocation, setup: &Setup, log: &Arc<dyn EventLog>) -> Result<Exit, CliError> {
    let mut progress = Progress::begin(invocation, "building another index to compare with");
    let check = rebuild(setup, log)?.check(&mut |at| upkeep::show(&mut progress, at)).await?;
    drop(progress);
    setup.output.data(&found(&check, setup.output.json))?;
    if check.is_clean() {
        return Ok(Exit::Done);
    }
    Err(CliError::new(Exit::Failed, "the index is not what the log says")
        .hint("`retrace index rebuild` makes it again"))
}

/// What a comparison found, as one line or one object.
fn found(check: &IndexCheck, as_json: bool) -> String {
    let IndexCheck { documents, missing, extra, different, named } = check;
    if as_json {
        let object = json!({
            "documents": documents, "missing": missing, "extra": extra, "different": different, "named": named,
        });
        return format!("{}\n", clean::json(&object.to_string()));
    }
    let mut text = format!(
        "{} compared: {} missing, {} too many, {} different\n",
        units::of(*documents, "document"),
        units::count(*missing),
        units::count(*extra),
        units::count(*different)
    );
    for key in named {
        text.push_str(&format!("  {}\n", clean::line(key)));
    }
    text
}
