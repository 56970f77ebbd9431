//! Where a text stands among the lines of a file, found without putting the lines together.

use super::known_file::Line;

/// A place: from a byte of one line to a byte of the same or another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextPlace {
    /// Which of the lines, and where in it.
    pub(super) from: (usize, usize),
    /// Where it ends.
    pub(super) to: (usize, usize),
}

/// Where `text` stands, the first place or `every` one. A text of several lines is not found across a gap.
pub(super) fn places(lines: &[Line], text: &str, every: bool) -> Vec<TextPlace> {
    let mut places = Vec::new();
    if text.is_empty() {
        return places;
    }
    let parts: Vec<&str> = text.split('\n').collect();
    let mut from = (0, 0);
    while let Some(place) = next_place(lines, &parts, from) {
        from = place.to;
        places.push(place);
        if !every {
            break;
        }
    }
    places
}

/// The first place at or behind `from` where lines have `parts`: the first at its end, the last at its beginning.
fn next_place(lines: &[Line], parts: &[&str], from: (usize, usize)) -> Option<TextPlace> {
    let start = |line: usize| if line == from.0 { from.1 } else { 0 };
    let [head, middle @ .., tail] = parts else {
        // A text within one line.
        let text = parts.first()?;
        return lines.iter().enumerate().skip(from.0).find_map(|(line, known)| {
            let start = start(line);
            let at = start + known.text.text().get(start..)?.find(text)?;
            Some(TextPlace { from: (line, at), to: (line, at + text.len()) })
        });
    };
    lines.iter().enumerate().skip(from.0).find_map(|(line, known)| {
        let at = known.text.text().strip_suffix(head)?.len();
        let last = line + middle.len() + 1;
        let end = lines.get(last)?;
        let is_joined = u64::from(end.number) == u64::from(known.number) + middle.len() as u64 + 1;
        let is_here = at >= start(line)
            && is_joined
            && end.text.text().starts_with(tail)
            && lines[line + 1..last].iter().zip(middle).all(|(known, part)| known.text.text() == *part);
        is_here.then_some(TextPlace { from: (line, at), to: (last, tail.len()) })
    })
}
