//! Two outcomes of one call side by side, for people.

use super::comparison::CallOutcome;
use super::normaliser::{Normaliser, Places, normalised};
use similar::TextDiff;
use std::time::Duration;

/// Of longer texts only the beginning is compared line by line, in bytes.
const MAX_BYTES: usize = 512 * 1024;
/// How long the comparison may take; what is not done by then is shown more coarsely.
const MAX_TIME: Duration = Duration::from_secs(2);
/// A longer diff is cut, in bytes.
const MAX_DIFF_BYTES: usize = 64 * 1024;
/// Lines around each change.
const CONTEXT_LINES: usize = 2;

/// A unified diff from what the log has to what came now, after normalising, so that only what matters is in it.
pub(super) fn difference(logged: &CallOutcome, now: &CallOutcome, places: &Places) -> String {
    let plain = |text: &str| {
        let head = &text[..text.floor_char_boundary(MAX_BYTES)];
        // A line end behind the last line is no difference between outputs.
        format!("{}\n", normalised(head, &Normaliser::ALL, places).trim_end_matches('\n'))
    };
    let (logged, now) = (plain(&logged.text), plain(&now.text));
    let diff = TextDiff::configure().timeout(MAX_TIME).diff_lines(&logged, &now);
    let mut shown = diff.unified_diff().context_radius(CONTEXT_LINES).header("then", "now").to_string();
    if shown.len() > MAX_DIFF_BYTES {
        shown.truncate(shown.floor_char_boundary(MAX_DIFF_BYTES));
        shown.push_str("\n[the rest of the diff is cut]\n");
    }
    shown
}
