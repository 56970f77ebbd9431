//! Where the sessions come from: a file of recordings, or the log.

use crate::bench::{BenchSession, LoggedSession, RecordedError, recorded_sessions};
use crate::cli::events;
use crate::cli::exit::{CliError, Exit};
use crate::cli::render::clean;
use crate::cli::session_name;
use crate::cli::setup::Setup;
use retrace_events::{EventLog, StreamId};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// So many tokens of sessions are held at a time: what is read from a log may be more than fits into memory.
const HELD_TOKENS: u64 = 20_000_000;

/// Sessions, some at a time.
pub(super) enum Source {
    /// All at once: their lines stand mixed in a file.
    File(Vec<BenchSession>),
    /// One after the other.
    Log(Arc<dyn EventLog>, VecDeque<StreamId>),
}

impl Source {
    /// The recordings in a file; of these only those whose ids begin with one of `names`, if there are any.
    ///
    /// # Errors
    /// When the file cannot be read, a line is damaged, or a name means none or several of its sessions.
    pub(super) fn file(path: &Path, names: &[String]) -> Result<Self, CliError> {
        let sessions = recorded_sessions(path).map_err(|error| match error {
            RecordedError::Io(error) => unreadable(path, &error),
            RecordedError::Line { line, what } => CliError::new(
                Exit::Failed,
                format!("{}:{line}: {what}", path.display()),
            )
            .hint(
                "each line is an object with session, ts, kind, tool, path and text; sessions of the log are measured \
                     without a file",
            ),
            RecordedError::TooLarge => CliError::new(Exit::Failed, format!("{}: {error}", path.display())),
        })?;
        if names.is_empty() {
            return Ok(Self::File(sessions));
        }
        let mut chosen = vec![false; sessions.len()];
        for name in names {
            let begins = |session: &BenchSession| session.id.starts_with(name.as_str());
            let found: Vec<usize> = (0..).zip(&sessions).filter(|(_, it)| begins(it)).map(|(place, _)| place).collect();
            let place = match (sessions.iter().position(|session| session.id == *name), found.as_slice()) {
                (Some(place), _) => place,
                (None, [place]) => *place,
                (None, []) => return Err(no_session(path, name, "there is no session")),
                (None, _) => return Err(no_session(path, name, "more than one session is meant by")),
            };
            if let Some(chosen) = chosen.get_mut(place) {
                *chosen = true;
            }
        }
        let chosen = sessions.into_iter().zip(chosen).filter_map(|(session, chosen)| chosen.then_some(session));
        Ok(Self::File(chosen.collect()))
    }

    /// Sessions of the log: those that `names` mean, or all.
    ///
    /// # Errors
    /// When the log cannot be read, or a name means none or several.
    pub(super) async fn log(setup: &Setup, names: &[String]) -> Result<Self, CliError> {
        let log = setup.open_log().await?;
        let mut streams = VecDeque::new();
        for name in names {
            let stream = session_name::find(log.as_ref(), name).await?;
            if !streams.contains(&stream) {
                streams.push_back(stream);
            }
        }
        if names.is_empty() {
            streams = session_name::all(log.as_ref(), None).await?.into_iter().map(|info| info.stream).collect();
            // In an order that does not change when a session goes on.
            streams.make_contiguous().sort_by_key(StreamId::subject);
        }
        Ok(Self::Log(log, streams))
    }

    /// How many sessions there are still.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::File(sessions) => sessions.len(),
            Self::Log(_, streams) => streams.len(),
        }
    }

    /// Their ids.
    pub(super) fn ids(&self) -> Vec<&str> {
        match self {
            Self::File(sessions) => sessions.iter().map(|session| session.id.as_str()).collect(),
            Self::Log(_, streams) => streams.iter().map(|stream| stream.id.as_str()).collect(),
        }
    }

    /// The next sessions that are wanted; `None` when there are no more.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(super) async fn next(&mut self, wanted: &dyn Fn(&str) -> bool) -> Result<Option<Vec<BenchSession>>, CliError> {
        match self {
            Self::File(sessions) => {
                let mut sessions = std::mem::take(sessions);
                sessions.retain(|session| wanted(&session.id));
                Ok(Some(sessions).filter(|sessions| !sessions.is_empty()))
            }
            Self::Log(log, streams) => {
                let (mut held, mut sessions) = (0, Vec::new());
                while held < HELD_TOKENS
                    && let Some(stream) = streams.pop_front()
                {
                    if wanted(stream.id.as_str()) {
                        let session = read(log.as_ref(), &stream).await?;
                        held += session.tokens();
                        sessions.push(session);
                    }
                }
                Ok(Some(sessions).filter(|sessions| !sessions.is_empty()))
            }
        }
    }
}

async fn read(log: &dyn EventLog, stream: &StreamId) -> Result<BenchSession, CliError> {
    let mut session = LoggedSession::default();
    let take = |event: &_| {
        session.apply(event);
        Ok(())
    };
    events::for_each(log, stream, 0, take).await?;
    Ok(session.finish(stream.id.as_str()))
}

/// A file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> CliError {
    let what = match error.kind() {
        std::io::ErrorKind::NotFound => format!("there is no {}", path.display()),
        _ => format!("cannot read {}: {error}", path.display()),
    };
    CliError::new(Exit::Usage, what)
        .hint("name a file of recorded sessions; without one, sessions of the log are measured")
}

fn no_session(path: &Path, name: &str, what: &str) -> CliError {
    CliError::new(Exit::NotFound, format!("{what} `{}` in {}", clean::short(name, 80), path.display()))
        .hint("a session is named by any unique beginning of its id")
}
