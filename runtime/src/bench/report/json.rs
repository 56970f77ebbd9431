//! The report for programs: one object.

use crate::bench::context_bench::PointView;
use crate::bench::intervals::Estimate;
use crate::bench::measure::Metric;
use crate::bench::measurements::{Cell, Measurements};
use serde_json::{Map, Value, json};

/// The report as one object; `timing` adds latencies, which are not the same from run to run. Shares are in percent.
#[must_use]
pub fn json(measured: &Measurements, timing: bool) -> Value {
    json!({
        "bench": "context",
        "composed": match measured.view {
            PointView::Call => "call",
            PointView::Request => "request",
        },
        "seed": measured.seed,
        "model": measured.model,
        "sessions": measured.sessions,
        "budgets": measured.budgets,
        "arms": measured.arms,
        "cells": measured.cells.iter().map(|cell| cell_json(cell, timing)).collect::<Vec<_>>(),
        // The format that `--points` reads.
        "points": measured.points,
    })
}

fn cell_json(cell: &Cell, timing: bool) -> Value {
    let sums = &cell.requests;
    let mut value = json!({
        "arm": cell.arm,
        "budget_tokens": cell.budget_tokens,
        "mean_tokens": rounded(cell.mean_tokens),
        "shares": columns(&cell.shares),
        "above_tail": columns(&cell.above_tail),
        "requests": {
            "count": sums.requests,
            "tokens": sums.tokens,
            "mean_tokens": sums.mean_tokens().map(rounded),
            "cache_read_tokens": sums.read_tokens,
            "cache_written_tokens": sums.written_tokens,
            "cache_read_percent": sums.read_share().map(percent),
            "cache_read_percent_while_warm": sums.warm_read_share().map(percent),
            "input_cost_microusd": sums.cost_microusd,
        },
    });
    if let Some((fields, above)) = value.as_object_mut().zip(cell.above_fresh.as_ref()) {
        fields.insert("above_fresh".to_owned(), columns(above));
    }
    if timing && let Some(fields) = value.as_object_mut() {
        let latency = cell.latency.map(|it| json!({ "p50_us": rounded(it.p50_us), "p99_us": rounded(it.p99_us) }));
        fields.insert("latency".to_owned(), latency.unwrap_or_default());
    }
    value
}

fn columns(estimates: &[Option<Estimate>; 6]) -> Value {
    let column = |(metric, estimate): (Metric, &Option<Estimate>)| {
        let value = estimate.map(|it| {
            json!({ "mean": percent(it.mean), "low": percent(it.low), "high": percent(it.high), "points": it.points })
        });
        (metric.name().to_owned(), value.unwrap_or_default())
    };
    Value::Object(Metric::ALL.into_iter().zip(estimates).map(column).collect::<Map<_, _>>())
}

fn percent(share: f64) -> f64 {
    rounded(100.0 * share)
}

/// Three decimals: enough to compare, and no more than is known.
fn rounded(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0 + 0.0
}
