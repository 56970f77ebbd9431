//! Plots as SVG, without scripts: a line for each arm over the budgets, or a bar for each arm.

use super::html::escaped;
use std::fmt::Write as _;

/// The size of a plot and of its frame, in user units.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 448.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 262.0;

/// Colours that people who see colours differently can tell apart, by the arm's place.
const COLOURS: [&str; 10] =
    ["#0072b2", "#555555", "#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#d55e00", "#8f6bb3", "#7f7f00", "#a0522d"];

/// The colour of the arm at `place`.
pub(super) fn colour(place: usize) -> &'static str {
    COLOURS.get(place % COLOURS.len()).copied().unwrap_or("#000000")
}

/// A value over a budget: middle, low and high end.
pub(super) type Whisker = (f64, f64, f64);

/// What one arm has, by budget.
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    pub(super) colour: &'static str,
    pub(super) values: Vec<Option<Whisker>>,
}

/// Lines over budgets, each value with its interval; the scale is `low` to `high`.
pub(super) fn lines(title: &str, budgets: &[String], unit: &str, low: f64, high: f64, series: &[Series<'_>]) -> String {
    let mut svg = frame(title, unit, low, high);
    let x = |place: usize| LEFT + (RIGHT - LEFT) * (place as f64 + 0.5) / budgets.len().max(1) as f64;
    for (place, budget) in budgets.iter().enumerate() {
        let _ = write!(
            svg,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
            x(place),
            BOTTOM + 16.0,
            escaped(budget)
        );
    }
    for (number, arm) in series.iter().enumerate() {
        // Side by side, so that intervals do not hide each other.
        let aside = (number as f64 - (series.len() as f64 - 1.0) / 2.0) * 3.0;
        let mut path = String::new();
        let mut marks = String::new();
        for (place, value) in arm.values.iter().enumerate() {
            let Some((middle, from, to)) = value else { continue };
            let at = x(place) + aside;
            let _ = write!(path, "{}{at:.1} {:.1}", if path.is_empty() { "M" } else { " L" }, y(*middle, low, high));
            let _ = write!(
                marks,
                r#"<path d="M{at:.1} {:.1}V{:.1}" stroke-width="1"/><circle cx="{at:.1}" cy="{:.1}" r="2.5" fill="{}"><title>{} {}: {middle:.1}</title></circle>"#,
                y(*from, low, high),
                y(*to, low, high),
                y(*middle, low, high),
                arm.colour,
                escaped(arm.name),
                budgets.get(place).map(|budget| escaped(budget)).unwrap_or_default(),
            );
        }
        let _ =
            write!(svg, r#"<g stroke="{}" fill="none"><path d="{path}" stroke-width="1.6"/>{marks}</g>"#, arm.colour);
    }
    svg.push_str("</svg>");
    svg
}

fn y(value: f64, low: f64, high: f64) -> f64 {
    let part = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
    BOTTOM - (BOTTOM - TOP) * part
}

/// Axes with five steps.
fn frame(title: &str, unit: &str, low: f64, high: f64) -> String {
    let mut svg = format!(
        r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{0}"><text x="{LEFT}" y="16" class="title">{0}</text>"#,
        escaped(title)
    );
    for step in 0..=5_u8 {
        let value = low + (high - low) * f64::from(step) / 5.0;
        let at = y(value, low, high);
        let decimals = if high - low < 5.0 { 1 } else { 0 };
        let _ = write!(
            svg,
            r##"<path d="M{LEFT} {at:.1}H{RIGHT}" stroke="#ddd"/><text x="{:.1}" y="{:.1}" text-anchor="end">{value:.decimals$}{}</text>"##,
            LEFT - 6.0,
            at + 4.0,
            escaped(unit)
        );
    }
    svg
}
