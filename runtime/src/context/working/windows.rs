//! Windows of a file: cells of ten lines, cut where nothing is known, with what a ranking looks at.

use super::known_file::{KnownFile, Line, Moment};
use super::line_text::LineText;
use super::words::{Bag, Word, set, words};
use std::sync::Arc;

/// Lines of a window.
pub(super) const GRID: u32 = 10;

/// Where the lines of a window are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Among the lines of the file: from one to before another.
    Lines(usize, usize),
    /// In a piece whose place is not known: which piece, from line to before line.
    Loose(usize, usize, usize),
}

/// A window.
#[derive(Debug)]
pub(super) struct Window {
    /// Where its lines are.
    pub(super) place: Place,
    /// The numbers of its first and its last line; 0 when nobody knows.
    pub(super) numbers: (u32, u32),
    /// When a line of it was last shown.
    pub(super) read: Moment,
    /// When a line of it was last written.
    pub(super) wrote: Moment,
    /// The names defined in it.
    pub(super) defines: Vec<Word>,
    /// The name of the definition that it begins in.
    pub(super) inside: Option<Word>,
    /// The words of its path and its text.
    pub(super) words: Bag,
    /// The identifiers in it, each once.
    pub(super) ids: Box<[Word]>,
}

/// The windows of a file.
#[derive(Debug, Default)]
pub(super) struct FileWindows {
    /// In order of lines.
    pub(super) all: Vec<Window>,
    /// The numbers of the lines that were written last, in order.
    pub(super) newest_written: Vec<u32>,
}

impl FileWindows {
    /// Cuts the file at `path`.
    pub(super) fn of(path: &str, file: &KnownFile) -> Self {
        let (mut path_words, mut windows) = (Vec::new(), Self::default());
        words(path, |word| path_words.push(word));
        let lines = file.lines();
        let (mut start, mut inside) = (0, None);
        for end in 1..=lines.len() {
            let is_whole = lines.get(end).is_none_or(|next| {
                let last = &lines[end - 1];
                next.number != last.number + 1 || next.number / GRID != last.number / GRID
            });
            if is_whole {
                let window = cell(&lines[start..end], (start, end), inside, &path_words);
                inside = window.defines.last().copied().or(inside);
                windows.all.push(window);
                start = end;
            }
        }
        for (piece, loose) in file.loose().iter().enumerate() {
            for start in (0..loose.lines.len()).step_by(GRID as usize) {
                let end = loose.lines.len().min(start + GRID as usize + 1);
                let texts = loose.lines[start..end].iter();
                let window = window(Place::Loose(piece, start, end), texts, &path_words);
                windows.all.push(Window { wrote: loose.wrote, ..window });
            }
        }
        let newest = lines.iter().map(|line| line.wrote).max().filter(|wrote| *wrote > 0);
        let written = lines.iter().filter(|line| Some(line.wrote) == newest);
        windows.newest_written = written.map(|line| line.number).collect();
        windows
    }
}

impl Window {
    /// Its lines in `file`, with their numbers where these are known.
    pub(super) fn lines<'f>(&self, file: &'f KnownFile) -> Vec<(Option<u32>, &'f LineText)> {
        match self.place {
            Place::Lines(start, end) => {
                let lines = file.lines().get(start..end).unwrap_or_default();
                lines.iter().map(|line| (Some(line.number), line.text.as_ref())).collect()
            }
            Place::Loose(piece, start, end) => {
                let lines = file.loose().get(piece).and_then(|loose| loose.lines.get(start..end));
                lines.unwrap_or_default().iter().map(|text| (None, text.as_ref())).collect()
            }
        }
    }

    /// Its text.
    pub(super) fn text(&self, file: &KnownFile) -> String {
        self.lines(file).iter().map(|(_, text)| text.shown()).collect::<Vec<_>>().join("\n")
    }

    /// Whether its lines have numbers.
    pub(super) const fn is_placed(&self) -> bool {
        matches!(self.place, Place::Lines(..))
    }

    /// When a line of it was last shown or written.
    pub(super) fn seen(&self) -> Moment {
        self.read.max(self.wrote)
    }
}

fn cell(lines: &[Line], (start, end): (usize, usize), inside: Option<Word>, path_words: &[Word]) -> Window {
    let window = window(Place::Lines(start, end), lines.iter().map(|line| &line.text), path_words);
    let number = |line: Option<&Line>| line.map_or(0, |line| line.number);
    Window {
        numbers: (number(lines.first()), number(lines.last())),
        read: lines.iter().map(|line| line.read).max().unwrap_or_default(),
        wrote: lines.iter().map(|line| line.wrote).max().unwrap_or_default(),
        inside,
        ..window
    }
}

fn window<'l>(place: Place, texts: impl Iterator<Item = &'l Arc<LineText>>, path_words: &[Word]) -> Window {
    let (mut words, mut ids, mut defines) = (path_words.to_vec(), Vec::new(), Vec::new());
    for text in texts {
        let facts = text.facts();
        words.extend(&facts.words);
        ids.extend(&facts.ids);
        defines.extend(facts.defines);
    }
    Window {
        place,
        numbers: (0, 0),
        read: 0,
        wrote: 0,
        defines,
        inside: None,
        words: Bag::of(words),
        ids: set(ids.into_iter()),
    }
}
