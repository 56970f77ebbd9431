//! The benchmark itself: plays sessions again under each arm and budget, and measures.
//!
//! Sessions are independent, so they are played side by side; what comes of them is put together in their order, so that the
//! figures do not depend on who was faster. Only latencies do.

use super::arms::{Arm, Ask, baseline};
use super::cache::CacheSegment;
use super::composed::{Composed, Piece};
use super::item::ItemKind;
use super::lexicon::Lexicon;
use super::measure::{Measure, Metric};
use super::measurements::{CellSums, Measurements, SessionSums};
use super::need::{Found, Need};
use super::points::{PointList, PointsError, choose};
use super::requests::{RequestRun, item_segments};
use super::session::BenchSession;
use crate::claude::ModelRow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// A call that needs less than this of identifiers is no point.
const MIN_NEED: usize = 2;

/// What is to be measured.
pub struct BenchPlan {
    /// The arms, in the order of tables.
    pub arms: Vec<Box<dyn Arm>>,
    /// The budgets, in tokens.
    pub budgets: Vec<u64>,
    /// Where; `None` chooses points.
    pub points: Option<PointList>,
    /// Decides which points are chosen and which sessions are drawn for intervals.
    pub seed: u64,
    /// The model whose cache and prices count.
    pub row: ModelRow,
    /// Where a context is composed that is measured at a call.
    pub view: PointView,
}

/// Where a context is composed that is measured at a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PointView {
    /// Directly before the call, as if a request stood there: what the model thought and said before it is known.
    #[default]
    Call,
    /// Where the request was sent whose answer has the call. What the answer says before it is added, word for word and beyond the
    /// budget.
    Request,
}

/// A run of the benchmark.
pub struct ContextBench {
    plan: BenchPlan,
    baseline: Box<dyn Arm>,
    seen: BTreeSet<String>,
    results: Vec<SessionSums>,
}

/// A moment at which something is composed: where, whether a request was sent, and which needs are measured.
struct Moment {
    at: usize,
    sent_ms: Option<u64>,
    needs: Vec<usize>,
}

/// A session with all that is known of it before any arm begins.
struct Stage<'s> {
    session: &'s BenchSession,
    lexicon: Lexicon<'s>,
    needs: Vec<(usize, Need<'s>)>,
    moments: Vec<Moment>,
    segments: Vec<CacheSegment>,
}

impl ContextBench {
    /// Nothing measured yet.
    #[must_use]
    pub fn new(plan: BenchPlan) -> Self {
        Self { plan, baseline: baseline(), seen: BTreeSet::new(), results: Vec::new() }
    }

    /// Whether the session can have points.
    #[must_use]
    pub fn wants(&self, session: &str) -> bool {
        self.plan.points.as_ref().is_none_or(|points| points.names(session))
    }

    /// Measures more sessions. `done` is told whenever one is finished.
    ///
    /// # Errors
    /// When the list of points names something in them that is no call.
    pub fn measure(&mut self, sessions: &[BenchSession], done: &mut dyn FnMut()) -> Result<(), PointsError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(sessions.len());
        let next = AtomicUsize::new(0);
        let mut played: Vec<(usize, Result<Option<SessionSums>, PointsError>)> = Vec::with_capacity(sessions.len());
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..threads {
                let (sender, next, bench) = (sender.clone(), &next, &*self);
                scope.spawn(move || {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(session) = sessions.get(place) else { return };
                        if sender.send((place, bench.play(session))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for result in receiver {
                played.push(result);
                done();
            }
        });
        played.sort_by_key(|(place, _)| *place);
        self.seen.extend(sessions.iter().map(|session| session.id.clone()));
        for (_, result) in played {
            self.results.extend(result?);
        }
        Ok(())
    }

    /// What was measured altogether.
    ///
    /// # Errors
    /// When the list of points names a session that was not measured.
    pub fn finish(self) -> Result<Measurements, PointsError> {
        let missing = |session: &&str| !self.seen.contains(*session);
        if let Some(session) = self.plan.points.as_ref().and_then(|points| points.sessions().find(missing)) {
            return Err(PointsError::NoSession { session: session.to_owned() });
        }
        let arms: Vec<&'static str> = self.plan.arms.iter().map(|arm| arm.name()).collect();
        Ok(Measurements::of(self.results, &arms, &self.plan))
    }

    /// Plays one session under all arms; `None` when it has no points.
    fn play(&self, session: &BenchSession) -> Result<Option<SessionSums>, PointsError> {
        let points = match &self.plan.points {
            Some(points) => points.of(session)?,
            None => choose(session, self.plan.seed),
        };
        if points.is_empty() {
            return Ok(None);
        }
        let stage = Stage::of(session, &points, self.plan.points.is_none(), self.plan.view);
        if stage.needs.is_empty() {
            return Ok(None);
        }
        let near = self.near(&stage);
        let cells = self.plan.arms.iter().flat_map(|arm| self.cells(arm.as_ref(), &stage, &near)).collect();
        let points = stage.needs.iter().map(|(at, _)| *at).collect();
        Ok(Some(SessionSums { session: session.id.clone(), points, cells }))
    }

    /// What the tail window has of each need, by need and budget.
    fn near(&self, stage: &Stage<'_>) -> Vec<Vec<Found>> {
        let mut composer = self.baseline.open(stage.session);
        let mut near = Vec::with_capacity(stage.needs.len());
        for (at, need) in &stage.needs {
            let found = self.plan.budgets.iter().map(|budget_tokens| {
                let ask = Ask { at: *at, budget_tokens: *budget_tokens, sends: false };
                need.find(&composer.compose(ask), &stage.lexicon)
            });
            near.push(found.collect());
        }
        near
    }

    /// What one arm comes to in one session, by budget.
    fn cells(&self, arm: &dyn Arm, stage: &Stage<'_>, near: &[Vec<Found>]) -> Vec<CellSums> {
        let budgets = &self.plan.budgets;
        let mut composer = arm.open(stage.session);
        let mut runs: Vec<RequestRun<'_>> = budgets.iter().map(|_| RequestRun::new(&self.plan.row)).collect();
        let mut cells = vec![CellSums::default(); budgets.len()];
        for moment in &stage.moments {
            for (place, budget_tokens) in budgets.iter().enumerate() {
                let (Some(cell), Some(run)) = (cells.get_mut(place), runs.get_mut(place)) else { continue };
                let ask = Ask { at: moment.at, budget_tokens: *budget_tokens, sends: moment.sent_ms.is_some() };
                let begun = Instant::now();
                let composed = composer.compose(ask);
                cell.latencies_ns.push(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
                if let Some(sent_ms) = moment.sent_ms {
                    run.send(&composed, &stage.segments, sent_ms);
                }
                for need in &moment.needs {
                    let (Some((at, need)), Some(near)) = (stage.needs.get(*need), near.get(*need)) else { continue };
                    let Some(near) = near.get(place) else { continue };
                    let composed = stage.with_answer(&composed, moment.at..*at);
                    cell.tokens += composed.tokens();
                    let found = need.find(&composed, &stage.lexicon);
                    for (sums, metric) in cell.metrics.iter_mut().zip(Metric::ALL) {
                        sums.add(found.share(metric, near), near.share(metric, near));
                    }
                }
            }
        }
        for (cell, run) in cells.iter_mut().zip(runs) {
            cell.requests = run.sums();
        }
        cells
    }
}

impl<'s> Stage<'s> {
    /// `sift` leaves out points that need next to nothing.
    fn of(session: &'s BenchSession, points: &[usize], sift: bool, view: PointView) -> Self {
        let lexicon = Lexicon::of(&session.items);
        let needs = points.iter().map(|at| (*at, Need::of(&session.items, &lexicon, *at)));
        let needs: Vec<(usize, Need<'s>)> =
            needs.filter(|(_, need)| !sift || need.size(Measure::Id) >= MIN_NEED).collect();
        let mut moments: Vec<Moment> = Vec::new();
        for request in session.requests() {
            moments.push(Moment { at: request.at, sent_ms: Some(request.sent_ms), needs: Vec::new() });
        }
        for (place, (at, _)) in needs.iter().enumerate() {
            let found = moments.binary_search_by_key(at, |moment| moment.at);
            let found = match (found, view) {
                (Ok(found), _) => Some(found),
                (Err(between), PointView::Request) => between.checked_sub(1),
                (Err(_), PointView::Call) => None,
            };
            match found.and_then(|found| moments.get_mut(found)) {
                Some(moment) => moment.needs.push(place),
                None => {
                    let between = moments.partition_point(|moment| moment.at < *at);
                    moments.insert(between, Moment { at: *at, sent_ms: None, needs: vec![place] });
                }
            }
        }
        debug_assert!(
            needs.iter().all(|(at, _)| session.items.get(*at).is_some_and(|item| item.kind == ItemKind::ToolCall))
        );
        Self { session, lexicon, needs, moments, segments: item_segments(session) }
    }

    /// A context with what an answer has said since, word for word.
    fn with_answer<'c>(&self, composed: &Composed<'c>, answer: Range<usize>) -> Composed<'c> {
        let mut composed = composed.clone();
        let said = answer.filter_map(|at| Some(Piece::item(at, self.session.items.get(at)?.tokens)));
        composed.pieces.extend(said);
        composed
    }
}
