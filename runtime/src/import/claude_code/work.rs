//! A conversation that is being taken in: how it begins, and where its lines and events go.

use super::blocks::Content;
use super::converter::{Beginning, Converter};
use super::importer::Shop;
use super::record::Record;
use super::survey::Survey;
use super::tracks::{Track, last_words};
use super::words::Said;
use crate::import::{ImportError, Intake};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

/// The most of a subagent's name that is a part of its session's, in characters.
const AGENT_CHARS: usize = 20;

/// A conversation that is being taken in.
pub(super) struct Work {
    pub(super) converter: Converter,
    pub(super) intake: Intake,
    /// The lines that were taken.
    pub(super) seen: HashSet<String>,
    /// When its newest line was written, in milliseconds since 1970.
    pub(super) last_ms: u64,
    pub(super) title: String,
    pub(super) workspace: String,
}

impl Work {
    /// Begins the session of `track` with its first line; `files` are all files of the session.
    pub(super) async fn begin(
        shop: &Shop,
        track: &Track,
        first: &Record<'_>,
        files: &[Survey],
    ) -> Result<Self, ImportError> {
        let own: Vec<&Survey> = files.iter().filter(|survey| survey.agent.is_none()).collect();
        let known = |pick: fn(&Survey) -> String| {
            let found = own.iter().copied().chain(files).map(pick);
            found.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
        };
        let session = known(|survey| survey.session.clone());
        let cwd = known(|survey| survey.cwd.clone());
        let is_usable = Path::new(&cwd).is_absolute() && !cwd.contains('\0');
        let workspace = if is_usable { cwd } else { shop.workspace.display().to_string() };
        let begun_ms = own.iter().chain(&files.iter().collect::<Vec<_>>()).map(|survey| survey.first_ms).next();
        let (id, source_session, title, at_ms) = match track {
            Track::Main => (session.clone(), session, known(Survey::title), begun_ms.unwrap_or_default()),
            Track::Agent(agent) => {
                let short: String = agent.chars().take(AGENT_CHARS).collect();
                let title = format!("subagent: {}", first_words(first));
                (
                    format!("agent-{short}-{session}"),
                    format!("{session}/{agent}"),
                    title,
                    first.at_ms.or(begun_ms).unwrap_or_default(),
                )
            }
        };
        let stream = (shop.stream)(Path::new(&workspace), &id);
        let beginning = Beginning {
            stream: stream.clone(),
            source_session,
            source_version: known(|survey| survey.version.clone()),
            title: title.clone(),
            workspace: workspace.clone(),
            settings: shop.settings.clone(),
            at_ms,
        };
        let converter = Converter::new(beginning, Arc::clone(&shop.redactor), shop.models.clone());
        let intake =
            Intake::begin(Arc::clone(&shop.log), stream, shop.holder.clone(), shop.imported_list.clone()).await?;
        Ok(Self { converter, intake, seen: HashSet::new(), last_ms: 0, title, workspace })
    }

    /// Puts what was read into the log.
    pub(super) async fn drain(&mut self) -> Result<(), ImportError> {
        for draft in self.converter.take() {
            self.intake.take(draft).await?;
        }
        Ok(())
    }
}

/// The result of a call that sent a subagent is what that subagent said last.
pub(super) fn end_of_subagent(
    name: &str,
    record: &Record<'_>,
    with_files: &BTreeSet<String>,
    works: &mut BTreeMap<Track, Work>,
) {
    let Some((track, message)) = last_words(record) else { return };
    let has_file = matches!(&track, Track::Agent(agent) if with_files.contains(agent));
    let Some(work) = works.get_mut(&track).filter(|_| !has_file) else { return };
    let message = RawValue::from_string(message).ok();
    let last = Record {
        kind: Some("assistant".to_owned()),
        at_ms: record.at_ms,
        message: message.as_deref(),
        ..Record::default()
    };
    work.last_ms = work.last_ms.max(record.at_ms.unwrap_or_default());
    work.converter.line(name, &last);
}

/// The beginning of a subagent's task.
fn first_words(record: &Record<'_>) -> String {
    let message = record.message().unwrap_or_default();
    match Said::of(&Content::of(message.content).text(), false) {
        Said::Prompt(text) => text.chars().take(400).collect(),
        _ => String::new(),
    }
}
