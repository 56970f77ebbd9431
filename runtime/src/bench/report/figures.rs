//! Figures as they are written in tables and pages.

use crate::bench::context_bench::PointView;
use crate::bench::intervals::Estimate;
use crate::bench::measure::Metric;
use crate::bench::measurements::{Cell, Measurements};

/// Rows of a table; the first one is its head.
pub(super) type Rows = Vec<Vec<String>>;

/// What stands where nothing was measured.
const NOTHING: &str = "-";

/// A number with separators: `12,345`.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How much was measured, in a line.
pub(super) fn scope(measured: &Measurements) -> String {
    let points = measured.points.len() as u64;
    let word = |number: u64, noun: &str| format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" });
    format!(
        "{} in {}, composed {}, seed {}, prices of {}",
        word(points, "point"),
        word(measured.sessions as u64, "session"),
        match measured.view {
            PointView::Call => "directly before the calls",
            PointView::Request => "when their requests were sent",
        },
        measured.seed,
        measured.model
    )
}

/// The share of evidence in the context, in percent, with half the width of the interval.
pub(super) fn shares(measured: &Measurements) -> Rows {
    let mut rows = vec![head(&["budget", "arm", "tokens"])];
    for cell in &measured.cells {
        let mut row = vec![count(cell.budget_tokens), cell.arm.to_owned(), count(cell.mean_tokens.round() as u64)];
        row.extend(cell.shares.iter().map(|share| percent(share.as_ref(), false)));
        rows.push(row);
    }
    rows
}

/// How far each arm is above the tail window of the same budget, in points of a hundred.
pub(super) fn above_tail(measured: &Measurements) -> Rows {
    let mut rows = vec![head(&["budget", "arm"])];
    for cell in measured.cells.iter().filter(|cell| cell.arm != "tail") {
        let mut row = vec![count(cell.budget_tokens), cell.arm.to_owned()];
        row.extend(cell.above_tail.iter().map(|above| percent(above.as_ref(), true)));
        rows.push(row);
    }
    rows
}

/// What epochs lose against contexts that are composed afresh for each request, in points of a hundred, and what they cost
/// of their price, in percent.
pub(super) fn above_fresh(measured: &Measurements) -> Rows {
    let mut first = head(&["budget", "arm"]);
    first.push("cost".to_owned());
    let mut rows = vec![first];
    for cell in &measured.cells {
        let (Some(above), Some(fresh)) = (&cell.above_fresh, measured.cell("ours", cell.budget_tokens)) else {
            continue;
        };
        let mut row = vec![count(cell.budget_tokens), cell.arm.to_owned()];
        row.extend(above.iter().map(|above| percent(above.as_ref(), true)));
        let cost = cell.requests.cost_microusd as f64 / fresh.requests.cost_microusd.max(1) as f64;
        row.push(format!("{:.1}%", 100.0 * cost));
        rows.push(row);
    }
    rows
}

/// What all requests of the sessions cost.
pub(super) fn requests(measured: &Measurements) -> Rows {
    let names =
        ["budget", "arm", "requests", "tokens a request", "tokens in all", "read", "read while warm", "input cost"];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    let share = |share: Option<f64>| share.map_or_else(|| NOTHING.to_owned(), |share| format!("{:.1}%", 100.0 * share));
    for cell in &measured.cells {
        let sums = &cell.requests;
        rows.push(vec![
            count(cell.budget_tokens),
            cell.arm.to_owned(),
            count(sums.requests),
            sums.mean_tokens().map_or_else(|| NOTHING.to_owned(), |mean| count(mean.round() as u64)),
            count(sums.tokens),
            share(sums.read_share()),
            share(sums.warm_read_share()),
            format!("${:.2}", sums.cost_microusd as f64 / 1e6),
        ]);
    }
    rows
}

/// How long composing took.
pub(super) fn latencies(measured: &Measurements) -> Rows {
    let mut rows = vec![["budget", "arm", "p50", "p99"].map(str::to_owned).to_vec()];
    let ms = |us: f64| format!("{:.2} ms", us / 1_000.0);
    for cell in &measured.cells {
        let latency = cell.latency.map_or_else(|| [NOTHING; 2].map(str::to_owned), |it| [ms(it.p50_us), ms(it.p99_us)]);
        rows.push([count(cell.budget_tokens), cell.arm.to_owned()].into_iter().chain(latency).collect());
    }
    rows
}

/// Over how many points each column of a budget is, the tail's first.
pub(super) fn points_of(cell: &Cell) -> [u64; 6] {
    cell.shares.map(|share| share.map_or(0, |share| share.points))
}

fn head(first: &[&str]) -> Vec<String> {
    first.iter().copied().chain(Metric::ALL.map(Metric::name)).map(str::to_owned).collect()
}

fn percent(estimate: Option<&Estimate>, signed: bool) -> String {
    let Some(estimate) = estimate else { return NOTHING.to_owned() };
    // A difference of nothing has no sign.
    let mean = (1_000.0 * estimate.mean).round() / 10.0 + 0.0;
    let mean = if signed { format!("{mean:+.1}") } else { format!("{mean:.1}") };
    format!("{mean} ±{:.1}", 100.0 * estimate.half_width())
}
