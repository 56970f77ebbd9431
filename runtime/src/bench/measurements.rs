//! What a run of the benchmark has measured, put together over all sessions.

use super::context_bench::{BenchPlan, PointView};
use super::intervals::{Estimate, quantile};
use super::requests::RequestSums;

/// The arms that are compared with each other: the same choice, composed anew each time and appended little by little.
const FRESH: &str = "ours";
const EPOCHS: &str = "epochs";

/// Sums of one column over the points of one session.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct MetricSums {
    /// Of the arm.
    arm: f64,
    /// Of the arm, less that of the tail window.
    above_tail: f64,
    /// Over how many points.
    points: u64,
}

impl MetricSums {
    /// Adds a point at which the arm and the tail window have such shares; nothing when nothing was needed there.
    pub(super) fn add(&mut self, arm: Option<f64>, tail: Option<f64>) {
        if let (Some(arm), Some(tail)) = (arm, tail) {
            self.arm += arm;
            self.above_tail += arm - tail;
            self.points += 1;
        }
    }
}

/// One arm under one budget in one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CellSums {
    pub(super) metrics: [MetricSums; 6],
    /// Tokens at all points together.
    pub(super) tokens: u64,
    pub(super) requests: RequestSums,
    pub(super) latencies_ns: Vec<u64>,
}

/// One session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SessionSums {
    pub(super) session: String,
    /// The points that were measured.
    pub(super) points: Vec<usize>,
    /// By arm, and by budget within an arm.
    pub(super) cells: Vec<CellSums>,
}

/// How long it took to compose, in microseconds. Not the same from run to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// Half were quicker.
    pub p50_us: f64,
    /// All but one of a hundred were quicker.
    pub p99_us: f64,
}

/// One arm under one budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The arm.
    pub arm: &'static str,
    /// The budget.
    pub budget_tokens: u64,
    /// Tokens of a context at the points, on average.
    pub mean_tokens: f64,
    /// Shares of evidence, in the order of [`super::measure::Metric::ALL`]; `None` where nothing was needed.
    pub shares: [Option<Estimate>; 6],
    /// The same, less what the tail window has.
    pub above_tail: [Option<Estimate>; 6],
    /// Of epochs: the same, less what contexts composed afresh have.
    pub above_fresh: Option<[Option<Estimate>; 6]>,
    /// All requests of the sessions.
    pub requests: RequestSums,
    /// How long composing took; `None` when nothing was composed.
    pub latency: Option<Latency>,
}

/// A whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurements {
    /// Where was measured: session and index of the call.
    pub points: Vec<(String, usize)>,
    /// How many sessions have points.
    pub sessions: usize,
    /// The seed.
    pub seed: u64,
    /// The model whose cache and prices count.
    pub model: String,
    /// Where contexts were composed.
    pub view: PointView,
    /// The budgets, in tokens.
    pub budgets: Vec<u64>,
    /// The arms.
    pub arms: Vec<&'static str>,
    /// By budget, and by arm within a budget.
    pub cells: Vec<Cell>,
}

impl Measurements {
    /// Puts sessions together.
    pub(super) fn of(results: Vec<SessionSums>, arms: &[&'static str], plan: &BenchPlan) -> Self {
        let BenchPlan { budgets, seed, row, view, .. } = plan;
        let mut cells = Vec::new();
        for (budget, budget_tokens) in budgets.iter().enumerate() {
            for (arm, name) in arms.iter().enumerate() {
                let place = arm * budgets.len() + budget;
                let sums = sums_of(&results, place);
                let points = results.iter().map(|session| session.points.len()).sum();
                let mut cell = cell(name, *budget_tokens, &sums, points, *seed);
                let fresh = arms.iter().position(|arm| *arm == FRESH).filter(|_| *name == EPOCHS);
                cell.above_fresh =
                    fresh.map(|fresh| above(&sums, &sums_of(&results, fresh * budgets.len() + budget), *seed));
                cells.push(cell);
            }
        }
        let sessions = results.len();
        let of_session = |session: SessionSums| {
            let id = session.session;
            session.points.into_iter().map(move |at| (id.clone(), at))
        };
        Self {
            points: results.into_iter().flat_map(of_session).collect(),
            sessions,
            seed: *seed,
            model: row.id.clone(),
            view: *view,
            budgets: budgets.clone(),
            arms: arms.to_vec(),
            cells,
        }
    }

    /// The cell of an arm under a budget.
    #[must_use]
    pub fn cell(&self, arm: &str, budget_tokens: u64) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.arm == arm && cell.budget_tokens == budget_tokens)
    }
}

/// What each session has at one place of arms and budgets.
fn sums_of(results: &[SessionSums], place: usize) -> Vec<&CellSums> {
    results.iter().filter_map(|session| session.cells.get(place)).collect()
}

/// One arm less another, session by session: both were measured at the same points.
fn above(arm: &[&CellSums], other: &[&CellSums], seed: u64) -> [Option<Estimate>; 6] {
    [0, 1, 2, 3, 4, 5].map(|column: usize| {
        let pairs = arm.iter().zip(other).filter_map(|(arm, other)| {
            let (arm, other) = (arm.metrics.get(column)?, other.metrics.get(column)?);
            Some((arm.arm - other.arm, arm.points))
        });
        Estimate::of(&pairs.collect::<Vec<_>>(), seed)
    })
}

fn cell(arm: &'static str, budget_tokens: u64, sums: &[&CellSums], points: usize, seed: u64) -> Cell {
    let estimate = |column: usize, part: fn(&MetricSums) -> f64| {
        let sessions: Vec<(f64, u64)> =
            sums.iter().filter_map(|sums| sums.metrics.get(column)).map(|sums| (part(sums), sums.points)).collect();
        Estimate::of(&sessions, seed)
    };
    let mut requests = RequestSums::default();
    sums.iter().for_each(|sums| requests.add(&sums.requests));
    let mut latencies: Vec<f64> =
        sums.iter().flat_map(|sums| &sums.latencies_ns).map(|ns| *ns as f64 / 1_000.0).collect();
    latencies.sort_by(f64::total_cmp);
    let latency = quantile(&latencies, 0.5).zip(quantile(&latencies, 0.99));
    let columns = [0, 1, 2, 3, 4, 5];
    Cell {
        arm,
        budget_tokens,
        mean_tokens: sums.iter().map(|sums| sums.tokens).sum::<u64>() as f64 / points.max(1) as f64,
        shares: columns.map(|column| estimate(column, |sums| sums.arm)),
        above_tail: columns.map(|column| estimate(column, |sums| sums.above_tail)),
        above_fresh: None,
        requests,
        latency: latency.map(|(p50_us, p99_us)| Latency { p50_us, p99_us }),
    }
}
