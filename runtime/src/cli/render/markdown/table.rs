//! A table with its columns under one another. It is shown when it is whole, or when it gets too long to wait for.

use super::line::Reader;
use super::spans::{Look, Spans};
use pulldown_cmark::{Alignment, Event, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

/// The most lines, and bytes, that are held back for the columns' sake.
pub(super) const MAX_LINES: usize = 200;
pub(super) const MAX_BYTES: usize = 32 * 1024;

/// The most a column is widened to, in cells of the terminal: one long text must not push all others aside.
const MAX_COLUMN: usize = 48;

/// Whether `line` may belong to a table.
pub(super) fn may_be_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// Whether `lines`, a head and what follows it, begin a table.
pub(super) fn is_table(head: &str, rule: &str) -> bool {
    let both = format!("{}\n{}", head.trim(), rule.trim());
    matches!(Parser::new_ext(&both, Options::ENABLE_TABLES).next(), Some(Event::Start(Tag::Table(_))))
}

/// The rows of a table, each as a line; `None` when it is none, or nested too deeply.
pub(super) fn read(lines: &[String]) -> Option<Vec<Spans>> {
    let source = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let (mut rows, mut row, mut head): (Vec<Vec<Spans>>, Vec<Spans>, usize) = (Vec::new(), Vec::new(), 0);
    let (mut aligned, mut reader) = (Vec::new(), Reader::new(&source));
    for (event, range) in Parser::new_ext(&source, options).into_offset_iter() {
        match &event {
            Event::Start(Tag::Table(columns)) => aligned.clone_from(columns),
            Event::End(TagEnd::TableCell) => row.push(std::mem::take(&mut reader.spans)),
            Event::End(TagEnd::TableHead) => {
                rows.push(std::mem::take(&mut row));
                head = rows.len();
            }
            Event::End(TagEnd::TableRow) => rows.push(std::mem::take(&mut row)),
            _ => {}
        }
        reader.take(event, range)?;
    }
    if head == 0 {
        return None;
    }
    Some(lay_out(rows, &aligned))
}

fn lay_out(rows: Vec<Vec<Spans>>, aligned: &[Alignment]) -> Vec<Spans> {
    let width = |cell: &Spans| cell.visible().trim().width();
    let column = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(width).max().unwrap_or(0).min(MAX_COLUMN);
    let widths: Vec<usize> = (0..aligned.len()).map(column).collect();
    let mut lines = Vec::new();
    for (number, row) in rows.into_iter().enumerate() {
        let mut line = Spans::default();
        let last = row.len().saturating_sub(1);
        for (at, cell) in row.into_iter().enumerate() {
            if at > 0 {
                line.push(Look::DIM, " │ ");
            }
            let blank = widths.get(at).copied().unwrap_or(0).saturating_sub(width(&cell));
            let before = match aligned.get(at) {
                Some(Alignment::Right) => blank,
                Some(Alignment::Center) => blank / 2,
                Some(Alignment::Left | Alignment::None) | None => 0,
            };
            line.push(Look::PLAIN, &" ".repeat(before));
            line.append(if number == 0 { cell.bold() } else { cell });
            if at < last {
                line.push(Look::PLAIN, &" ".repeat(blank - before));
            }
        }
        lines.push(line);
        if number == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            let mut line = Spans::default();
            line.push(Look::DIM, &rule.join("─┼─"));
            lines.push(line);
        }
    }
    lines
}
