//! Fitting a text into what the model is shown: head and tail of what is too long, cut at line ends where there are
//! any.
//!
//! Pure functions over text. What is left out is not lost: the caller keeps it elsewhere and says in the note how to
//! get it.

/// How much of a command's output the model is shown at once, in bytes.
pub(super) const INLINE_BYTES: usize = 16_000;

/// The longest line that is shown whole, in characters.
pub(super) const LINE_CHARS: usize = 2_000;

/// What [`cap`] left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Omitted {
    /// Line ends that are not shown.
    pub(super) lines: usize,
    /// Bytes that are not shown.
    pub(super) bytes: usize,
    /// The first line (from 1) of which something is missing.
    pub(super) first_line: usize,
}

/// `text` as it is when it has at most `limit` bytes; otherwise 40% from its head and 60% from its tail with a line
/// from `note` between them, together at most `limit` bytes (when `note` has fewer than that).
pub(super) fn cap(text: &str, limit: usize, note: impl Fn(Omitted) -> String) -> (String, Option<Omitted>) {
    if text.len() <= limit {
        return (text.to_owned(), None);
    }
    // The note is made twice: once with the greatest numbers it can have, to know its room, once with the true ones.
    let room = note(Omitted { lines: text.len(), bytes: text.len(), first_line: text.len() }).len() + 2;
    let budget = limit.saturating_sub(room);
    let head = head_of(text, budget * 2 / 5);
    let tail = tail_of(&text[head.len()..], budget - budget * 2 / 5);
    let middle = &text[head.len()..text.len() - tail.len()];
    let omitted = Omitted { lines: count_lines(middle), bytes: middle.len(), first_line: line_ends(head) + 1 };
    let separator = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    (format!("{head}{separator}{}\n{tail}", note(omitted)), Some(omitted))
}

/// The longest beginning of `text` with at most `limit` bytes, up to a line end if one is in its second half.
pub(super) fn head_of(text: &str, limit: usize) -> &str {
    let head = &text[..floor_boundary(text, limit)];
    match head.rfind('\n') {
        Some(end) if head.len() < text.len() && end + 1 >= head.len() / 2 => &head[..=end],
        Some(_) | None => head,
    }
}

/// The longest end of `text` with at most `limit` bytes, from a line's beginning if one is in its first half.
pub(super) fn tail_of(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = &text[start..];
    if start == 0 || text[..start].ends_with('\n') {
        return tail;
    }
    match tail.find('\n') {
        Some(end) if end < tail.len() / 2 => &tail[end + 1..],
        Some(_) | None => tail,
    }
}

/// How many lines `text` has; a last line without a line end counts too.
pub(super) fn count_lines(text: &str) -> usize {
    line_ends(text) + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The first `limit` characters of `line`, with a note when that is not all.
pub(super) fn cut_line(line: &str, limit: usize) -> String {
    match line.char_indices().nth(limit) {
        None => line.to_owned(),
        Some((end, _)) => format!("{} [line cut: {} more characters]", &line[..end], line[end..].chars().count()),
    }
}

/// A file's name with its control characters escaped: a name with a line end in it must not look like two.
pub(super) fn visible(name: &str) -> String {
    name.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// `1 line`, `2 lines`.
pub(super) fn plural(count: u64, noun: &str) -> String {
    let number = thousands(count);
    if count == 1 { format!("{number} {noun}") } else { format!("{number} {noun}s") }
}

/// `1234567` as `1,234,567`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A text made one line for people, at most `limit` characters.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let mut words = text.split_whitespace();
    let mut line = String::new();
    let mut left = limit;
    for word in words.by_ref() {
        let gap = usize::from(!line.is_empty());
        let length = word.chars().count() + gap;
        if length > left {
            line.push_str(&" ".repeat(gap.min(left)));
            line.extend(word.chars().take(left.saturating_sub(gap)));
            line.push('…');
            break;
        }
        line.push_str(&" ".repeat(gap));
        line.push_str(word);
        left -= length;
    }
    line
}

fn line_ends(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn floor_boundary(text: &str, limit: usize) -> usize {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}
