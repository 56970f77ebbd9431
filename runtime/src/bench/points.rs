//! The points at which contexts are measured: recorded calls with much history behind them.
//!
//! A list of points makes two runs comparable; it is a JSON list of `[session, index of the item]`. Without one, points are
//! chosen: of each session up to 40 edits and 10 other calls, by a seed, the same ones every time.

use super::item::{Item, ItemKind};
use super::session::BenchSession;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::index;
use std::collections::BTreeMap;

/// A call is a point only with more history than this, in tokens.
pub const HISTORY_TOKENS: u64 = 32_000;

/// The most edits and the most other calls of one session.
const EDITS: usize = 40;
const OTHERS: usize = 10;

/// The longest list that is read.
const MAX_POINTS: usize = 1_000_000;

/// Why a list of points cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PointsError {
    /// It is not a list of points.
    #[error("it is no list of [session, index]: {0}")]
    Format(#[from] serde_json::Error),
    /// It is too long.
    #[error("it has more than {MAX_POINTS} points")]
    TooMany,
    /// It holds nothing.
    #[error("it has no points")]
    Empty,
    /// It names a session that is not there.
    #[error("session {session} is not among those that are measured")]
    NoSession {
        /// Its id.
        session: String,
    },
    /// It names something that is no call.
    #[error("session {session} has no call at {at}")]
    NoCall {
        /// The session.
        session: String,
        /// The index.
        at: usize,
    },
}

/// Points by session, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointList(BTreeMap<String, Vec<usize>>);

impl PointList {
    /// Reads a list.
    ///
    /// # Errors
    /// When it is none, is empty, or is too long.
    pub fn parse(json: &str) -> Result<Self, PointsError> {
        let rows: Vec<(String, usize)> = serde_json::from_str(json)?;
        if rows.len() > MAX_POINTS {
            return Err(PointsError::TooMany);
        }
        if rows.is_empty() {
            return Err(PointsError::Empty);
        }
        let mut points: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (session, at) in rows {
            points.entry(session).or_default().push(at);
        }
        for places in points.values_mut() {
            places.sort_unstable();
            places.dedup();
        }
        Ok(Self(points))
    }

    /// The points in `session`.
    ///
    /// # Errors
    /// When one of them is no call of it.
    pub fn of(&self, session: &BenchSession) -> Result<Vec<usize>, PointsError> {
        let points = self.0.get(&session.id).cloned().unwrap_or_default();
        let is_call = |at: &usize| session.items.get(*at).is_some_and(|item| item.kind == ItemKind::ToolCall);
        match points.iter().find(|at| !is_call(at)) {
            Some(at) => Err(PointsError::NoCall { session: session.id.clone(), at: *at }),
            None => Ok(points),
        }
    }

    /// Leaves out the points of all sessions but these.
    pub fn keep<'a>(&mut self, sessions: impl Iterator<Item = &'a str>) {
        let kept: std::collections::BTreeSet<&str> = sessions.collect();
        self.0.retain(|session, _| kept.contains(session.as_str()));
    }

    /// Whether it has points in the session.
    #[must_use]
    pub fn names(&self, session: &str) -> bool {
        self.0.contains_key(session)
    }

    /// The sessions it names.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Chooses points in a session. Whether a call needs anything that is to be found is for the caller to say.
#[must_use]
pub fn choose(session: &BenchSession, seed: u64) -> Vec<usize> {
    let (mut edits, mut others, mut history) = (Vec::new(), Vec::new(), 0);
    for (at, item) in session.items.iter().enumerate() {
        if item.kind == ItemKind::ToolCall && history > HISTORY_TOKENS {
            if is_edit(item) { edits.push(at) } else { others.push(at) }
        }
        history += item.tokens;
    }
    let mut random = StdRng::from_seed(*blake3::hash(format!("{seed} {}", session.id).as_bytes()).as_bytes());
    let mut chosen = sample(&mut random, &edits, EDITS);
    chosen.extend(sample(&mut random, &others, OTHERS));
    chosen.sort_unstable();
    chosen
}

fn is_edit(item: &Item) -> bool {
    !item.replaced().is_empty()
}

fn sample(random: &mut StdRng, of: &[usize], most: usize) -> Vec<usize> {
    let places = index::sample(random, of.len(), most.min(of.len()));
    places.into_iter().filter_map(|place| of.get(place).copied()).collect()
}
