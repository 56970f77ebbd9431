//! The report for people: tables as Markdown writes them, with their columns aligned.

use super::figures::{Rows, above_fresh, above_tail, latencies, points_of, requests, scope, shares};
use crate::bench::measure::Metric;
use crate::bench::measurements::Measurements;

/// The report as text; `timing` adds latencies, which are not the same from run to run.
#[must_use]
pub fn table(measured: &Measurements, timing: bool) -> String {
    let mut text = format!("{}\n", scope(measured));
    let mut section = |title: &str, rows: &Rows| {
        if rows.len() > 1 {
            text.push_str(&format!("\n{title}\n\n{}", aligned(rows)));
        }
    };
    section(
        "evidence of the next action that is in the context, in percent (± half of the 95% interval)",
        &shares(measured),
    );
    section("above the tail window of the same budget, in points of a hundred", &above_tail(measured));
    section("epochs above ours composed afresh, in points of a hundred, and their cost", &above_fresh(measured));
    section("points with such evidence", &points(measured));
    section("requests of the sessions, with the prompt cache simulated", &requests(measured));
    if timing {
        section("time to compose", &latencies(measured));
    }
    text
}

/// Over how many points the columns of each budget are.
fn points(measured: &Measurements) -> Rows {
    let names = Metric::ALL.map(Metric::name);
    let mut rows = vec![std::iter::once("budget").chain(names).map(str::to_owned).collect()];
    for budget in &measured.budgets {
        let Some(cell) = measured.cells.iter().find(|cell| cell.budget_tokens == *budget) else { continue };
        let numbers = points_of(cell).into_iter().map(super::figures::count);
        rows.push(std::iter::once(super::figures::count(*budget)).chain(numbers).collect());
    }
    rows
}

/// A table of which the first row is the head. Names stand left, figures right.
fn aligned(rows: &Rows) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        widths.max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let is_name = |column: usize| rows.first().and_then(|head| head.get(column)).is_some_and(|name| name == "arm");
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let (width, start) = (*width, if column == 0 { "| " } else { " | " });
            let cell = if is_name(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            text.push_str(&format!("{start}{cell}"));
        }
        text.push_str(" |\n");
        if place == 0 {
            for (column, width) in widths.iter().enumerate() {
                let dashes = "-".repeat(width + 1);
                text.push_str(&if is_name(column) { format!("|{dashes}-") } else { format!("|{dashes}:") });
            }
            text.push_str("|\n");
        }
    }
    text
}
