//! One line of Markdown as a line of a terminal: what it begins with (bullet, number, bar of a quote) and its words.
//!
//! Invariant: what the model wrote stays readable. Markup may go, words may not: addresses stand behind their links,
//! entities stay as they are written.

use super::spans::{Look, Spans};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// The most that may be inside one another on a line; no person writes more, and colours would not tell them apart.
const MAX_DEPTH: usize = 24;

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// How wide a rule is drawn.
const RULE_CHARS: usize = 40;

/// A line that has been read.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Its words.
    pub(super) spans: Spans,
    /// Whether it is an item of a list.
    pub(super) item: bool,
    /// The block of code it opens: the place of its fence in the line, and what is said of the language.
    pub(super) fence: Option<(usize, String)>,
    /// The quotes it stands in.
    pub(super) quotes: usize,
}

/// Reads a line without its line end. `None` when it is nested too deeply.
pub(super) fn read(source: &str) -> Option<Line> {
    let mut reader = Reader::new(source);
    let mut line = Line::default();
    for (event, range) in Parser::new_ext(source, OPTIONS).into_offset_iter() {
        match &event {
            Event::Start(Tag::BlockQuote(_)) => {
                line.quotes += 1;
                reader.spans.push(Look::DIM, "│ ");
            }
            Event::Start(Tag::Item) => {
                line.item = true;
                reader.spans.push(Look::PLAIN, &marker(&source[range.clone()]));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                line.fence = Some((range.start, info.to_string()));
                // A fence is shown as it is written: it says where code begins and ends, also without colours.
                reader.spans.push(Look::DIM, source[range.clone()].trim_end());
            }
            Event::Rule => reader.spans.push(Look::DIM, &"─".repeat(RULE_CHARS)),
            _ => {}
        }
        reader.take(event, range)?;
    }
    line.spans = reader.spans;
    Some(line)
}

/// What of a line without an end can be shown already, because nothing that follows can change it.
pub(super) fn begun(source: &str) -> Option<Spans> {
    let mut reader = Reader::new(source);
    // How far it can be shown, and what comes behind that.
    let (mut safe, mut rest) = (None, "");
    for (event, range) in Parser::new_ext(source, OPTIONS).into_offset_iter() {
        match &event {
            Event::Start(Tag::BlockQuote(_)) => reader.spans.push(Look::DIM, "│ "),
            Event::Start(Tag::Item) => reader.spans.push(Look::PLAIN, &marker(&source[range.clone()])),
            Event::Start(
                Tag::List(_)
                | Tag::Paragraph
                | Tag::Emphasis
                | Tag::Strong
                | Tag::Strikethrough
                | Tag::Link { .. }
                | Tag::Image { .. },
            )
            | Event::Code(_)
            | Event::End(_) => {}
            Event::Text(_) => {
                if let Some(open) = undecided(source, range.clone()) {
                    rest = if reader.open.is_empty() { &source[range.start..open] } else { "" };
                    if !rest.is_empty() {
                        safe = Some(reader.spans.mark());
                    }
                    break;
                }
            }
            // Headings, code, HTML and rules are short, or may become something else.
            _ => break,
        }
        reader.take(event, range)?;
        if reader.words && reader.open.is_empty() {
            safe = Some(reader.spans.mark());
        }
    }
    let mut spans = reader.spans;
    spans.cut(safe?);
    spans.push(Look::PLAIN, rest);
    Some(spans)
}

/// The first place in a run of plain text where markup may begin that has not ended yet.
fn undecided(source: &str, range: Range<usize>) -> Option<usize> {
    let text = &source[range.clone()];
    let mut before = source[..range.start].chars().next_back();
    for (at, c) in text.char_indices() {
        let after = source[range.start + at + c.len_utf8()..].chars().next();
        let space = |beside: Option<char>| beside.is_none_or(char::is_whitespace);
        let inside = |beside: Option<char>| beside.is_some_and(char::is_alphanumeric);
        let open = match c {
            '`' | '[' => true,
            '*' | '~' => !(space(before) && space(after)),
            '_' => !(inside(before) && inside(after) || space(before) && space(after)),
            '<' => !space(after),
            _ => false,
        };
        if open {
            // An image begins with the sign before the bracket.
            let sign = usize::from(c == '[' && at > 0 && before == Some('!'));
            return Some(range.start + at - sign);
        }
        before = Some(c);
    }
    None
}

/// What an item begins with, from its source: a bullet, or its number as it is written.
fn marker(item: &str) -> String {
    let item = item.trim_start();
    let number: String = item.chars().take_while(char::is_ascii_digit).collect();
    match item.chars().nth(number.len()) {
        Some(point @ ('.' | ')')) if !number.is_empty() => format!("{number}{point} "),
        Some(_) | None => "• ".to_owned(),
    }
}

/// Makes runs of what stands inside a line, or a cell of a table.
pub(super) struct Reader<'a> {
    source: &'a str,
    pub(super) spans: Spans,
    /// What is open, with the look there, and where its content has come to.
    open: Vec<Look>,
    depth: usize,
    /// Where the last piece of a link's text ended.
    inner_end: usize,
    /// Whether anything but bullets and bars has come.
    words: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, spans: Spans::default(), open: Vec::new(), depth: 0, inner_end: 0, words: false }
    }

    /// Takes the next event. `None` when too much is inside one another.
    pub(super) fn take(&mut self, event: Event<'_>, range: Range<usize>) -> Option<()> {
        let look = self.open.last().copied().unwrap_or_default();
        match event {
            Event::Start(tag) => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return None;
                }
                if let Some(more) = look_of(&tag) {
                    self.open.push(look.and(more));
                    let sign = if matches!(tag, Tag::Image { .. }) { 2 } else { 1 };
                    self.inner_end = range.start + sign;
                }
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                self.end(tag, range);
            }
            Event::Text(text) => {
                // A decoded entity is no longer what stands in the source; it is shown as it was written.
                let written = self.source.get(range.clone()).filter(|written| *written != &*text);
                self.put(look, written.unwrap_or(&text), range);
            }
            Event::Code(code) => self.put(look.and(Look { colour: Some(6), ..Look::PLAIN }), &code, range),
            Event::Html(html) | Event::InlineHtml(html) => self.put(look, html.trim_end_matches('\n'), range),
            Event::SoftBreak | Event::HardBreak => self.put(look, " ", range),
            Event::TaskListMarker(done) => self.put(look, if done { "[x] " } else { "[ ] " }, range),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.put(look, &text, range);
            }
            Event::Rule => {}
        }
        Some(())
    }

    fn put(&mut self, look: Look, text: &str, range: Range<usize>) {
        self.words = true;
        self.inner_end = range.end;
        self.spans.push(look, text);
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Link | TagEnd::Image => {
                self.open.pop();
                self.address(range.clone());
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Heading(_) => {
                self.open.pop();
            }
            _ => return,
        }
        self.inner_end = range.end;
        if self.open.is_empty() {
            self.spans.close();
        }
    }

    /// Where a link goes, as it is written behind its text.
    fn address(&mut self, range: Range<usize>) {
        let look = self.open.last().copied().unwrap_or_default().and(Look::DIM);
        let tail = self.source.get(self.inner_end..range.end).unwrap_or_default();
        match tail.find("](") {
            Some(at) => self.spans.push(look, &format!(" {}", &tail[at + 1..])),
            // `<https://…>` says it all in its text.
            None => self.spans.push(look, tail.trim_start_matches(['>', ']'])),
        }
    }
}

/// What a tag adds to the look of what is in it; `None` for one that has no end of its own in [`Reader::end`].
fn look_of(tag: &Tag<'_>) -> Option<Look> {
    match tag {
        Tag::Emphasis => Some(Look { italic: true, ..Look::PLAIN }),
        Tag::Strong => Some(Look { bold: true, ..Look::PLAIN }),
        Tag::Strikethrough => Some(Look { struck: true, ..Look::PLAIN }),
        Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. } => Some(Look::PLAIN),
        Tag::Link { .. } | Tag::Image { .. } => Some(Look { underline: true, ..Look::PLAIN }),
        Tag::Heading { level, .. } => Some(Look { bold: true, underline: *level == HeadingLevel::H1, ..Look::PLAIN }),
        _ => None,
    }
}
