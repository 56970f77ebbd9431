//! Names of sessions: made for new ones, looked up for old ones.
//!
//! An id is `<8 letters of time>-<8 random letters>` in lower-case Crockford base32, so ids sort by time and have no
//! letters that look alike. People name a session by any unique beginning of the whole id or of its random half.

use super::exit::{CliError, Exit};
use crate::config::similar;
use retrace_events::log::{StreamFilter, StreamInfo};
use retrace_events::{Class, EventId, EventLog, Hash, StreamId, Token};
use std::path::Path;

/// Crockford's base32, in lower case.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The tenant on a person's own machine.
pub(crate) const LOCAL_TENANT: &str = "local";

/// How many candidates an error lists.
const LISTED: usize = 5;

/// The name of a new session in `workspace` (canonical), made from a fresh UUIDv7.
#[must_use]
pub(crate) fn new_session(workspace: &Path, id: EventId) -> StreamId {
    let number = id.0.as_u128();
    // The top 48 bits are milliseconds; leaving out ten of them counts in about seconds, and 38 bits last until 10680.
    let (time, random) = ((number >> 90) & 0xff_ffff_ffff, number & 0xff_ffff_ffff);
    let name = format!("{}-{}", base32(time), base32(random));
    StreamId {
        tenant: Token::slug(LOCAL_TENANT),
        project: project(workspace),
        class: Class::Session,
        id: Token::slug(&name),
    }
}

/// The project that a workspace (canonical) is: its folder's name, and six digits that tell folders of one name apart.
#[must_use]
pub(crate) fn project(workspace: &Path) -> Token {
    let folder = workspace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let hash = Hash::of(workspace.as_os_str().as_encoded_bytes()).to_string();
    let folder: String = Token::slug(&folder).as_str().chars().take(40).collect();
    Token::slug(&format!("{folder}-{}", &hash[..6]))
}

/// The 40 low bits of `number`, as 8 letters.
fn base32(number: u128) -> String {
    (0..8).rev().map(|at| char::from(ALPHABET[usize::try_from((number >> (5 * at)) & 31).unwrap_or(0)])).collect()
}

/// All sessions, the one written last first.
///
/// # Errors
/// When the log cannot be asked.
pub(crate) async fn all(log: &dyn EventLog, project: Option<Token>) -> Result<Vec<StreamInfo>, CliError> {
    let filter = StreamFilter { project, class: Some(Class::Session), ..StreamFilter::default() };
    Ok(log.streams(&filter).await?)
}

/// The session that `name` means: a whole subject, or the beginning of an id.
///
/// # Errors
/// When there is none, or more than one.
pub(crate) async fn find(log: &dyn EventLog, name: &str) -> Result<StreamId, CliError> {
    let sessions: Vec<StreamId> = all(log, None).await?.into_iter().map(|info| info.stream).collect();
    pick(&sessions, name)
}

/// The session that `name` means, or the newest of `workspace` when there is none.
///
/// # Errors
/// As [`find`] and [`last`].
pub(crate) async fn find_or_last(
    log: &dyn EventLog,
    name: Option<&str>,
    workspace: &Path,
) -> Result<StreamId, CliError> {
    match name {
        Some(name) => find(log, name).await,
        None => last(log, Some(project(workspace))).await,
    }
}

/// The newest session of the project, or of all.
///
/// # Errors
/// When there is none.
pub(crate) async fn last(log: &dyn EventLog, project: Option<Token>) -> Result<StreamId, CliError> {
    let none =
        || CliError::new(Exit::NotFound, "there is no session for this workspace").hint("`retrace sessions` lists all");
    all(log, project).await?.into_iter().next().map(|info| info.stream).ok_or_else(none)
}

/// Picks among `sessions`.
fn pick(sessions: &[StreamId], name: &str) -> Result<StreamId, CliError> {
    let name = name.trim().to_lowercase();
    let begins = |stream: &&StreamId| {
        let id = stream.id.as_str();
        id.starts_with(&name) || id.split_once('-').is_some_and(|(_, random)| random.starts_with(&name))
    };
    let exact = |stream: &&StreamId| stream.id.as_str() == name || stream.subject() == name;
    if let Some(found) = sessions.iter().find(exact) {
        return Ok(found.clone());
    }
    let found: Vec<&StreamId> = if name.is_empty() { Vec::new() } else { sessions.iter().filter(begins).collect() };
    match found[..] {
        [only] => Ok(only.clone()),
        [] => Err(unknown(sessions, &name)),
        _ => {
            let ids: Vec<&str> = found.iter().take(LISTED).map(|stream| stream.id.as_str()).collect();
            let more = if found.len() > LISTED { ", …" } else { "" };
            Err(CliError::new(Exit::NotFound, format!("`{name}` means {} sessions", found.len()))
                .hint(format!("write more of it: {}{more}", ids.join(", "))))
        }
    }
}

fn unknown(sessions: &[StreamId], name: &str) -> CliError {
    let error =
        CliError::new(Exit::NotFound, format!("there is no session `{}`", super::render::clean::short(name, 80)));
    let ids: Vec<&str> = sessions.iter().map(|stream| stream.id.as_str()).collect();
    let halves: Vec<&str> = ids.iter().filter_map(|id| id.split_once('-').map(|(_, random)| random)).collect();
    match similar(name, &ids).or_else(|| similar(name, &halves)) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint("`retrace sessions` lists them"),
    }
}
