//! The generous reader of scripts: every command that can be seen anywhere in a text, broken text too.
//!
//! It goes from left to right and never takes back what it has seen, so nothing that comes later can hide an earlier
//! command: rules that forbid rest on this. It looks into substitutions, subshells, strings and what is between keywords;
//! it sees too much rather than too little, and must never be used to allow something.

use std::collections::VecDeque;

/// The deepest nesting that is told apart.
const MAX_FRAMES: usize = 64;

/// Stands in a word for what bash puts there, and which may be nothing: `$x rm` is `rm`.
pub(super) const HOLE: char = '\u{1}';

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    /// The words of each command, quotes removed.
    pub(super) commands: Vec<Vec<String>>,
    /// Whether bash may read it another way: something is left open, nested too deeply, or known to be told apart only by
    /// bash itself. Then [`pieces`] must be looked at too.
    pub(super) unsure: bool,
}

/// The commands in `script`.
pub(super) fn read(script: &str) -> Sightings {
    Reader::new(script.chars().filter(|c| !matches!(*c, '\0' | HOLE)).collect(), Kind::Top).read()
}

/// The crudest look: whatever stands between any two characters that could separate commands, once with quotes for such
/// characters and once without them.
pub(super) fn pieces(script: &str) -> Vec<Vec<String>> {
    let bare = |word: &str| word.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect::<String>();
    let words =
        |piece: &str| -> Vec<String> { piece.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect() };
    let split = |at: &'static str| script.split(move |c: char| at.contains(c)).map(words);
    split("\n;&|(){}<>`$\0").chain(split("\n;&|(){}<>`$\0'\"")).filter(|words| !words.is_empty()).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Top,
    Paren,
    /// Within `((`: perhaps arithmetic, where `<<` shifts.
    Arithmetic,
    Backtick,
    /// The body of a here-document.
    Body,
}

pub(super) struct Frame {
    pub(super) kind: Kind,
    words: Vec<String>,
    pub(super) word: Option<String>,
    /// Whether the word has quotes, and so is no keyword and no number of a stream.
    pub(super) quoted: bool,
    /// Whether the next word is where something is redirected to.
    pub(super) target: bool,
    in_double: bool,
    /// How many `${` are open.
    pub(super) braces: usize,
}

impl Frame {
    fn new(kind: Kind) -> Self {
        let in_double = kind == Kind::Body;
        Self { kind, words: Vec::new(), word: None, quoted: false, target: false, in_double, braces: 0 }
    }
}

pub(super) struct Reader {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) frames: Vec<Frame>,
    /// Here-documents whose body begins at the next line: delimiter, whether tabs before it count, whether it was quoted.
    pub(super) pending: VecDeque<(String, bool, bool)>,
    pub(super) seen: Sightings,
}

impl Reader {
    pub(super) fn new(chars: Vec<char>, kind: Kind) -> Self {
        Self { chars, at: 0, frames: vec![Frame::new(kind)], pending: VecDeque::new(), seen: Sightings::default() }
    }

    /// Reads all of it; what is left open is taken as if it ended there.
    pub(super) fn read(mut self) -> Sightings {
        while self.at < self.chars.len() {
            self.step();
        }
        let open = self.frames.len() > 1 || self.frames.iter().any(|frame| frame.in_double && frame.kind != Kind::Body);
        self.seen.unsure |= open || !self.pending.is_empty();
        while !self.frames.is_empty() {
            self.end_command();
            self.frames.pop();
        }
        self.seen
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub(super) fn is(&self, ahead: usize, text: &str) -> bool {
        text.chars().enumerate().all(|(at, c)| self.peek(ahead + at) == Some(c))
    }

    fn kind(&self) -> Kind {
        self.frames.last().map_or(Kind::Top, |frame| frame.kind)
    }

    pub(super) fn add(&mut self, c: char) {
        if let Some(frame) = self.frames.last_mut() {
            frame.word.get_or_insert_default().push(c);
        }
    }

    pub(super) fn in_word(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.word.is_some())
    }

    fn step(&mut self) {
        let c = self.chars[self.at];
        let in_double = self.frames.last().is_some_and(|frame| frame.in_double);
        match c {
            '$' if self.peek(1) == Some('(') => self.open_substitution(2),
            '`' => self.backtick(),
            '$' if self.peek(1) == Some('{') => self.expansion(),
            '$' if self.peek(1).is_some_and(|c| c.is_ascii_alphanumeric() || "_@*#?$!-".contains(c)) => {
                self.add(HOLE);
                self.at += 2;
                if self.chars[self.at - 1].is_ascii_alphabetic() || self.chars[self.at - 1] == '_' {
                    self.skip_name();
                }
            }
            '}' if self.frames.last().is_some_and(|frame| frame.braces > 0) => {
                self.at += 1;
                self.frames.last_mut().into_iter().for_each(|frame| frame.braces -= 1);
            }
            // Within backticks these are backticks again.
            '\\' if self.peek(1) == Some('`') && self.frames.iter().any(|frame| frame.kind == Kind::Backtick) => {
                self.seen.unsure = true;
                self.end_command();
                self.at += 2;
            }
            _ if in_double => self.in_double(c),
            '\\' => {
                if self.peek(1) != Some('\n') {
                    self.quote();
                    self.peek(1).into_iter().for_each(|next| self.add(next));
                }
                self.at += 2;
            }
            '\'' => self.single_quoted(false),
            '$' if self.peek(1) == Some('\'') => {
                self.at += 1;
                self.single_quoted(true);
            }
            '$' if self.peek(1) == Some('"') => self.at += 1,
            '"' => {
                self.quote();
                self.set_double(true);
                self.at += 1;
            }
            '#' if !self.in_word() => self.at = self.line_end(self.at),
            '<' | '>' => self.redirection(),
            '&' if self.peek(1) == Some('>') => self.at += 1,
            '\n' => {
                self.end_command();
                self.at += 1;
                self.skip_bodies();
            }
            ';' | '&' | '|' => {
                self.end_command();
                self.at += 1;
            }
            '(' => {
                self.end_command();
                let arithmetic = self.peek(1) == Some('(');
                self.push(if arithmetic { Kind::Arithmetic } else { Kind::Paren });
                self.at += 1;
            }
            ')' => self.close_paren(),
            ' ' | '\t' | '\r' => {
                self.end_word();
                self.at += 1;
            }
            other => {
                self.add(other);
                self.at += 1;
            }
        }
    }

    pub(super) fn quote(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.quoted = true;
            frame.word.get_or_insert_default();
        }
    }

    fn set_double(&mut self, in_double: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.in_double = in_double;
        }
    }

    fn in_double(&mut self, c: char) {
        match (c, self.peek(1)) {
            ('"', _) if self.kind() != Kind::Body => self.set_double(false),
            ('\\', Some(next @ ('"' | '\\' | '$' | '`'))) => {
                self.add(next);
                self.at += 1;
            }
            ('\\', Some('\n')) => self.at += 1,
            (other, _) => self.add(other),
        }
        self.at += 1;
    }

    pub(super) fn push(&mut self, kind: Kind) {
        if self.frames.len() < MAX_FRAMES {
            self.frames.push(Frame::new(kind));
        } else {
            self.end_command();
            self.seen.unsure = true;
        }
    }

    fn close_paren(&mut self) {
        self.end_command();
        if matches!(self.kind(), Kind::Paren | Kind::Arithmetic) {
            self.frames.pop();
        }
        self.at += 1;
    }

    pub(super) fn line_end(&self, from: usize) -> usize {
        self.chars[from..].iter().position(|c| *c == '\n').map_or(self.chars.len(), |length| from + length)
    }

    pub(super) fn end_word(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let quoted = std::mem::take(&mut frame.quoted);
        let Some(word) = frame.word.take() else { return };
        if std::mem::take(&mut frame.target) {
            return;
        }
        if !quoted && matches!(word.as_str(), "{" | "}") {
            return self.end_command();
        }
        frame.words.push(word);
    }

    pub(super) fn end_command(&mut self) {
        self.end_word();
        let Some(frame) = self.frames.last_mut() else { return };
        frame.target = false;
        frame.in_double = frame.kind == Kind::Body;
        let words = std::mem::take(&mut frame.words);
        frame.braces = 0;
        if words.is_empty() || frame.kind == Kind::Body {
            return;
        }
        if words.iter().any(|word| word.contains(HOLE)) {
            let filled = words.iter().map(|word| word.replace(HOLE, "")).filter(|word| !word.is_empty());
            self.seen.commands.push(filled.collect());
        }
        self.seen.commands.push(words.iter().map(|word| word.replace(HOLE, "$")).collect());
    }
}
