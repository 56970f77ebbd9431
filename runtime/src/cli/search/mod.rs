//! `retrace search`: what was said and done in all sessions, and the code of this workspace.
//!
//! Hits are data; how many, how long it took and what should be known of them goes to stderr. The index is brought up to date
//! first, unless another process is at it: then the answer is what is there, and says how far that is behind.

mod flags;
mod footer;
mod hit_json;
mod hit_list;
mod origins;
mod passage;
pub(super) mod workspace;

#[cfg(test)]
mod tests;

use super::exit::{CliError, Exit};
use super::index::upkeep::{self, sessions_folder};
use super::invocation::Invocation;
use super::render::clean;
use super::setup::Setup;
use crate::config::Origin;
use clap::Args;
use flags::SearchFlags;
use footer::Footer;
use hit_list::HitList;
use origins::Origins;
use retrace_events::EventLog;
use retrace_events::mint::{Mint as _, SystemMint};
use retrace_events::redact::Redactor;
use retrace_indexer::{Filter, FollowError, Hit, IndexFolder, Query, SearchIndex, SearchRequest, Snippet, Within};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The least length of a snippet that is made again, in characters.
const MIN_SNIPPET_CHARS: usize = 120;

/// How a query is written; below the flags in the help.
const QUERY_HELP: &str = "\
The query:
  words                  rank what holds them, also as parts of names; case does not count
  \"some words\"           must stand there one after the other
  -word  -\"some words\"   must not
  kind:result tool:bash path:src/ session:w0rd since:2d until:2026-11-20 exit:fail in:code
                         filter as the flags do; with - before them they leave out
  Filters alone list what fits, the newest first.

Examples:
  retrace search \"caret column\"
  retrace search \"error\\[E0502\\]\" --kind result --since 2w
  retrace search --tool bash --exit fail --limit 20
  retrace search 'tool:bash -path:vendor \"no space left\"' --json";

/// Find what was said and done in sessions, and code
#[derive(Debug, Args)]
#[command(after_help = QUERY_HELP)]
pub(super) struct SearchCommand {
    /// What to look for: words, "a phrase", -not, and filters like tool:bash
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// How many hits at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: u16,
    /// Only the sessions of this workspace, and its code
    #[arg(long)]
    project: bool,
    /// Also the code of all other workspaces that were indexed
    #[arg(long, conflicts_with = "project")]
    all: bool,
    /// Say what each score is made of
    #[arg(long)]
    explain: bool,
    /// Answer from the index as it is, without bringing it up to date
    #[arg(long)]
    no_update: bool,
    #[command(flatten)]
    filters: SearchFlags,
}

impl SearchCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let now = SystemMint.now();
        let query = Query::parse(&self.query.join(" "), now);
        if query.is_empty() && self.filters.is_empty() {
            return Err(CliError::new(Exit::Usage, "the query is empty").hint(
                "`retrace search \"some words\"`; filters alone list what fits, like `--kind prompt --since 1d`",
            ));
        }
        let log = setup.open_log().await?;
        let mut filter = self.filters.filter(log.as_ref(), now).await?;
        let narrowed = !self.filters.is_empty() || query.filter != Filter::default() || self.project;
        let here = workspace::of_code(&setup, log.as_ref(), invocation.global.workspace.is_some()).await?;
        if self.project {
            let workspace = here.as_ref().unwrap_or(&setup.config.workspace);
            filter.workspace = Some(workspace.display().to_string());
        }
        let wants_code = filter.clone().merge(&query.filter).accepts_within(Within::Code);
        let here = here.filter(|_| wants_code);
        let mut footer = Footer { narrowed, log: other_log(&setup), ..Footer::default() };
        if !self.no_update {
            update(invocation, &setup, &log, here.as_deref(), &mut footer).await?;
        }
        let code = self.code(&setup, here);
        let state = &setup.config.folders.state;
        let folders = code.iter().map(|workspace| IndexFolder::of_code(state, workspace)).collect();
        let index = SearchIndex::new(sessions_folder(&setup, log.as_ref()), folders, Arc::clone(&setup.index_model));
        let begun = Instant::now();
        let request = SearchRequest {
            query,
            filter,
            limit: usize::from(self.limit),
            now_ms: i64::try_from(now.0).unwrap_or(i64::MAX),
            explain: self.explain,
            ..SearchRequest::default()
        };
        let found = index.search(&request).await;
        footer.took = begun.elapsed();
        footer.behind = log.end().await?.0.saturating_sub(index.position().await.0);
        footer.hear(&found.notices, setup.config.values.embed_model.value.is_some());
        let hits = redacted(found.hits, &request.query, &setup.redactor);
        let origins = Origins::of(log.as_ref(), state, &code, &hits).await;
        self.print(&setup, &hits, &origins)?;
        setup.output.note(&footer.text(&hits, setup.output.note_style()));
        Ok(if hits.is_empty() { Exit::NotFound } else { Exit::Done })
    }

    /// The workspaces whose code is looked into.
    fn code(&self, setup: &Setup, here: Option<PathBuf>) -> Vec<PathBuf> {
        let all = if self.all { workspace::indexed(&setup.config.folders.state) } else { Vec::new() };
        let others: Vec<PathBuf> = all.into_iter().filter(|other| here.as_ref() != Some(other)).collect();
        here.into_iter().chain(others).collect()
    }

    fn print(&self, setup: &Setup, hits: &[Hit], origins: &Origins) -> Result<(), CliError> {
        let output = &setup.output;
        if output.json {
            return hits.iter().try_for_each(|hit| output.json_line(&hit_json::object(hit, origins, &setup.redactor)));
        }
        let style = output.data_style();
        let list = HitList { style, width: width(), explain: self.explain, origins, redactor: &setup.redactor };
        output.data(&list.text(hits))
    }
}

/// Brings the indexes up to date, where nobody else does: that of sessions and that of the code of `here`.
async fn update(
    invocation: &Invocation,
    setup: &Setup,
    log: &Arc<dyn EventLog>,
    here: Option<&Path>,
    footer: &mut Footer,
) -> Result<(), CliError> {
    match upkeep::sessions(invocation, setup, log).await {
        Ok(None) => {}
        Ok(Some(why)) => footer.notices.push(format!("the index of sessions was made anew: {why}")),
        Err(FollowError::Busy(holder)) => footer.busy = Some(holder.unwrap_or_default().to_string()),
        Err(FollowError::Log(error)) => return Err(error.into()),
        // What is there can be searched all the same.
        Err(error) => footer.notices.push(format!("the index of sessions stands still: {error}")),
    }
    let Some(workspace) = here else { return Ok(()) };
    if let Err(why) = upkeep::code(invocation, setup, workspace).await {
        footer.notices.push(format!("the code is searched as it was: {why}"));
    }
    Ok(())
}

/// The width of the terminal that data is read on, if it is one.
fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// What other commands have to be told to look into the same log; the one that is configured they find by themselves.
fn other_log(setup: &Setup) -> String {
    let log = &setup.config.values.log;
    if matches!(log.origin, Origin::Flag(_)) {
        format!(" --log {}", clean::line(&log.value.to_string()))
    } else {
        String::new()
    }
}

/// The hits without the secrets that are known now. A snippet may begin or end within one, so it is made again where the text
/// had any.
fn redacted(mut hits: Vec<Hit>, query: &Query, redactor: &Redactor) -> Vec<Hit> {
    for hit in &mut hits {
        if let Cow::Owned(text) = redactor.redact(&hit.text) {
            hit.snippet = Snippet::of(query, &text, hit.snippet.text.chars().count().max(MIN_SNIPPET_CHARS));
            hit.text = text;
        }
    }
    hits
}
