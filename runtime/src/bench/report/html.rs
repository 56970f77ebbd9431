//! The report as one page that needs nothing else: tables and plots, no scripts, nothing loaded from anywhere.

use super::figures::{Rows, above_fresh, above_tail, count, requests, scope, shares};
use super::plot::{Series, Whisker, colour, lines};
use crate::bench::arms::all_arms;
use crate::bench::measure::Metric;
use crate::bench::measurements::{Cell, Measurements};

/// How the page looks, on light and on dark screens alike.
const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;color:#222;background:#fff}\
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}\
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:1em}\
svg{width:100%;height:auto;font:11px system-ui,sans-serif}svg .title{font-size:13px;font-weight:600}\
.legend span{display:inline-block;margin-right:1.2em}.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px;display:block;overflow-x:auto}\
th,td{padding:.2em .6em;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}\
th:nth-child(2),td:nth-child(2){text-align:left}dt{font-weight:600}dd{margin:0 0 .3em 1.5em}";

/// The page. It holds no latencies: it is the same from run to run.
#[must_use]
pub fn html(measured: &Measurements) -> String {
    let title = "retrace bench context";
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style></head>\n\
         <body><h1>{title}</h1>\n<p>{}</p>\n",
        escaped(&scope(measured))
    );
    page.push_str("<p>Recorded sessions, played again: the share of what the next recorded action needs that stands in the context \
                   each policy composes. <b>id</b>: identifiers, paths and numbers; <b>line</b>: lines; <b>pair</b>: two adjacent \
                   lines, word for word; <b>-old</b>: only what the tail window of the same budget misses. Whiskers and ± are 95% \
                   intervals, bootstrapped over sessions.</p>\n");
    page.push_str(&legend(measured));
    page.push_str("<h2>Evidence in the context, in percent</h2>\n<div class=\"plots\">\n");
    for (column, metric) in Metric::ALL.into_iter().enumerate() {
        let whisker = |cell: &Cell| cell.shares.get(column).copied().flatten().map(|it| (it.mean, it.low, it.high));
        let values =
            series(measured, |cell| whisker(cell).map(|(mean, low, high)| (100.0 * mean, 100.0 * low, 100.0 * high)));
        let low = if metric.old { 0.0 } else { floor_of(&values) };
        page.push_str(&lines(metric.name(), &budgets(measured), "%", low, 100.0, &values));
        page.push('\n');
    }
    page.push_str(&format!("</div>\n{}", table(&shares(measured))));
    page.push_str("<h2>Above the tail window of the same budget, in points of a hundred</h2>\n");
    page.push_str(&table(&above_tail(measured)));
    let fresh = above_fresh(measured);
    if fresh.len() > 1 {
        page.push_str("<h2>Epochs above ours composed afresh, in points of a hundred, and their cost</h2>\n");
        page.push_str(&table(&fresh));
    }
    page.push_str("<h2>Requests, with the prompt cache simulated</h2>\n<div class=\"plots\">\n");
    let read = series(measured, |cell| cell.requests.warm_read_share().map(|share| same(100.0 * share)));
    page.push_str(&lines("input read from the cache while it was warm", &budgets(measured), "%", 0.0, 100.0, &read));
    let cost = series(measured, |cell| Some(same(cell.requests.cost_microusd as f64 / 1e6)));
    page.push_str(&lines("cost of all input, in US dollars", &budgets(measured), "", 0.0, ceiling_of(&cost), &cost));
    page.push_str(&format!("\n</div>\n{}</body></html>\n", table(&requests(measured))));
    page
}

/// `text` as it may stand in a page and in the values of its attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(c),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

fn budgets(measured: &Measurements) -> Vec<String> {
    measured.budgets.iter().map(|budget| count(*budget)).collect()
}

fn series(measured: &Measurements, value: impl Fn(&Cell) -> Option<Whisker>) -> Vec<Series<'static>> {
    let of_arm = |(place, arm): (usize, &&'static str)| {
        let values = measured.budgets.iter().map(|budget| measured.cell(arm, *budget).and_then(&value)).collect();
        Series { name: arm, colour: colour(place), values }
    };
    measured.arms.iter().enumerate().map(of_arm).collect()
}

const fn same(value: f64) -> Whisker {
    (value, value, value)
}

/// Where a scale may begin so that all values are on it: a multiple of ten.
fn floor_of(series: &[Series<'_>]) -> f64 {
    let lowest =
        series.iter().flat_map(|arm| arm.values.iter().flatten()).map(|(_, low, _)| *low).fold(100.0, f64::min);
    (lowest / 10.0).floor().clamp(0.0, 9.0) * 10.0
}

/// Where a scale may end so that all values are on it.
fn ceiling_of(series: &[Series<'_>]) -> f64 {
    let highest =
        series.iter().flat_map(|arm| arm.values.iter().flatten()).map(|(_, _, high)| *high).fold(0.0, f64::max);
    if highest > 0.0 { highest * 1.05 } else { 1.0 }
}

fn legend(measured: &Measurements) -> String {
    let known = all_arms();
    let mut list = String::from("<p class=\"legend\">");
    let mut about = String::from("<dl>");
    for (place, arm) in measured.arms.iter().enumerate() {
        list.push_str(&format!("<span><i style=\"background:{}\"></i>{}</span>", colour(place), escaped(arm)));
        if let Some(known) = known.iter().find(|known| known.name() == *arm) {
            about.push_str(&format!("<dt>{}</dt><dd>{}</dd>", escaped(arm), escaped(known.about())));
        }
    }
    format!("{list}</p>\n{about}</dl>\n")
}

fn table(rows: &Rows) -> String {
    let mut text = String::from("<table>\n");
    for (place, row) in rows.iter().enumerate() {
        let tag = if place == 0 { "th" } else { "td" };
        let cells: String = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        text.push_str(&format!("<tr>{cells}</tr>\n"));
    }
    text + "</table>\n"
}
