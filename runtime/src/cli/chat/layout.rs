//! Where the line editor would begin to write above the line that is being written, and whether that place is right.
//!
//! The editor goes up by as many rows as it takes the line to have, counted in bytes and from its end. With wide characters,
//! or the cursor further up, that is too far, and what stands there would be overwritten; with an empty last line it is not
//! far enough, and a part of the line would stay behind.

use unicode_width::UnicodeWidthStr;

/// What the editor adds to the first line, and what our prompt adds to the others, in columns.
const FIRST: usize = 3;
const PROMPT: usize = 2;

/// Whether the editor would write in the wrong place. `prompt` is what stands before the first line, in columns.
pub(super) fn misplaced(line: &str, cursor: usize, prompt: usize, width: usize) -> bool {
    let width = width.max(1);
    let claimed: usize = line
        .lines()
        .enumerate()
        .map(|(at, line)| if at == 0 { (line.len() + FIRST) / width + 1 } else { line.len() / width + 1 })
        .sum();
    let before = line.get(..cursor).unwrap_or(line);
    let rows = before.split('\n').enumerate().map(|(at, line)| {
        let columns = line.width() + if at == 0 { prompt } else { PROMPT };
        columns / width + 1
    });
    claimed.max(1) != rows.sum::<usize>()
}
