//! Unified diffs in colour: green for what comes, red for what goes, cyan for where.
//!
//! Only colours are added, and only to lines that have been cleaned; what is not a diff stays as it is.

use super::Style;

/// `lines`, each behind `indent`; those of a unified diff in colour, all others as `rest` makes them.
pub(super) fn paint(lines: &[&str], indent: &str, style: Style, rest: impl Fn(&str) -> String) -> Vec<String> {
    let begin = beginning(lines).unwrap_or(lines.len());
    let painted = |(at, line): (usize, &&str)| {
        let (mark, line) = (line.chars().next(), format!("{indent}{line}"));
        match mark {
            _ if at < begin => rest(&line),
            _ if at < begin + 2 => style.bold(&line),
            Some('@') => style.cyan(&line),
            Some('+') => style.green(&line),
            Some('-') => style.red(&line),
            Some(_) | None => rest(&line),
        }
    };
    lines.iter().enumerate().map(painted).collect()
}

/// A whole unified diff, cleaned already, in colour.
pub(crate) fn painted(text: &str, style: Style) -> String {
    let lines: Vec<&str> = text.lines().collect();
    paint(&lines, "", style, str::to_owned).into_iter().map(|line| line + "\n").collect()
}

/// Where a diff begins: `---`, `+++` and `@@`, one after the other.
fn beginning(lines: &[&str]) -> Option<usize> {
    lines
        .windows(3)
        .position(|three| three[0].starts_with("--- ") && three[1].starts_with("+++ ") && three[2].starts_with("@@ "))
}
