//! `retrace summary`: what happened in a session, in few words: its summary tree, from the log itself.

use super::events;
use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::clean;
use super::session_name;
use super::setup::Setup;
use crate::summarizer::KnownSummaries;
use clap::Args;
use retrace_events::{EventLog, StreamId};
use retrace_indexer::{SummaryCover, SummaryCursor, SummaryNode};
use serde_json::Value;

/// The longest text of one node, in characters; a node with a model's words and its whole digest is shorter.
const MAX_NODE_CHARS: usize = 16_000;

/// Show what happened in a session, in few words: the older, the coarser
#[derive(Debug, Args)]
pub(super) struct SummaryCommand {
    /// The session: any unique beginning of its id [default: the newest of this workspace]
    session: Option<String>,
    /// Only the nodes of this level: 0 is one step each, and each level above stands for eight nodes of the one below
    #[arg(long, value_name = "N")]
    level: Option<u32>,
}

impl SummaryCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let stream = session_name::find_or_last(log.as_ref(), self.session.as_deref(), &setup.config.workspace).await?;
        let mut known = KnownSummaries::of(&stream);
        known.refresh(log.as_ref()).await?;
        match self.level {
            None => cover(&setup, log.as_ref(), stream, &known).await?,
            Some(level) => one_level(&setup, log.as_ref(), stream, &known, level).await?,
        }
        Ok(Exit::Done)
    }
}

/// Prints the nodes that cover the session.
async fn cover(setup: &Setup, log: &dyn EventLog, stream: StreamId, known: &KnownSummaries) -> Result<(), CliError> {
    let (mut cursor, mut cover) = (SummaryCursor::new(stream.clone()), SummaryCover::default());
    let take = |event: &_| {
        cursor.apply(event, &setup.redactor).into_iter().for_each(|node| cover.add(node));
        Ok(())
    };
    events::for_each(log, &stream, 0, take).await?;
    cover.nodes(cursor.open()).into_iter().try_for_each(|node| print(setup, known.applied(node)))
}

/// Prints all nodes of a level, as they come.
async fn one_level(
    setup: &Setup,
    log: &dyn EventLog,
    stream: StreamId,
    known: &KnownSummaries,
    level: u32,
) -> Result<(), CliError> {
    let (mut cursor, mut printed, mut top) = (SummaryCursor::new(stream.clone()), 0_u64, 0);
    let take = |event: &_| {
        for node in cursor.apply(event, &setup.redactor) {
            top = top.max(node.level);
            if node.level == level {
                printed += 1;
                print(setup, known.applied(node))?;
            }
        }
        Ok(())
    };
    events::for_each(log, &stream, 0, take).await?;
    if let Some(open) = cursor.open().filter(|_| level == 0) {
        return print(setup, open);
    }
    if printed == 0 {
        return Err(CliError::new(
            Exit::NotFound,
            format!("the summary of session {} has no level {level}", stream.id),
        )
        .hint(format!("its highest level is {top}; without --level the nodes that cover it all are shown")));
    }
    Ok(())
}

fn print(setup: &Setup, node: SummaryNode) -> Result<(), CliError> {
    let output = &setup.output;
    // The digest was redacted when it was made; a model's words were, too, but perhaps by somebody with other secrets.
    let text = setup.redactor.redact(&node.text(MAX_NODE_CHARS)).into_owned();
    if output.json {
        return output.json_line(&json(&node, text, setup)?);
    }
    let text = clean::text(&text);
    let (heading, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let by = node.words.as_ref().map(|_| format!(", by {}", clean::short(&node.by, 60))).unwrap_or_default();
    let level = if node.level == 0 { String::new() } else { format!("[level {}] ", node.level) };
    let heading = output.data_style().bold(&format!("{level}{heading}{by}"));
    output.data(&format!("{heading}\n{}\n\n", rest.trim_end()))
}

/// The node as programs get it.
fn json(node: &SummaryNode, text: String, setup: &Setup) -> Result<Value, CliError> {
    let failed = |error| CliError::new(Exit::Failed, format!("cannot write the summary as JSON: {error}"));
    let mut value = serde_json::to_value(node).map_err(failed)?;
    let (first, count) = node.steps();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("stream".to_owned(), node.stream.to_string().into());
        fields.insert("first_step".to_owned(), first.into());
        fields.insert("steps".to_owned(), count.into());
        if let Some(words) = &node.words {
            fields.insert("words".to_owned(), setup.redactor.redact(words).into_owned().into());
        }
        fields.insert("text".to_owned(), text.into());
    }
    Ok(value)
}
