//! The strict reader of scripts: lists of simple commands made of plain words, or nothing.
//!
//! It knows `&& || ; |` and line breaks between commands, words, quoted strings without expansions, comments, `2>&1` and
//! redirections to and from `/dev/null`. At the first thing it does not know it gives up: what it does not understand is
//! never allowed by a rule. It is the first of two readers that must agree (see [`super::script`]).

use super::command_pattern::GAP;
use std::ops::Range;

/// The longest script that is read, in bytes. A longer one is nothing that a person would sum up in a rule.
const MAX_BYTES: usize = 16 * 1024;

/// Words that mean something else than a command where a command's name is expected.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
    "function", "time", "coproc",
];

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it stands in the script.
    pub(super) range: Range<usize>,
    /// The word without its quotes.
    pub(super) text: String,
}

/// A simple command: at least one word, the first of which names a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainCommand {
    /// The words.
    pub(super) words: Vec<Word>,
}

impl PlainCommand {
    /// The words with gaps between them, as patterns want them.
    pub(super) fn subject(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        words.join(&GAP.to_string())
    }

    /// The name of the program, without folders.
    pub(super) fn program(&self) -> &str {
        let name = self.words.first().map_or("", |word| word.text.as_str());
        name.rsplit('/').next().unwrap_or(name)
    }
}

/// The commands of `script`, all of them; `None` when there is anything else in it, or nothing at all.
pub(super) fn read(script: &str) -> Option<Vec<PlainCommand>> {
    if script.len() > MAX_BYTES {
        return None;
    }
    let mut reader = Reader { bytes: script.as_bytes(), at: 0, commands: Vec::new(), words: Vec::new(), needed: false };
    while reader.at < reader.bytes.len() {
        reader.step(script)?;
    }
    reader.end_command(false)?;
    (!reader.needed && !reader.commands.is_empty()).then_some(reader.commands)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    commands: Vec<PlainCommand>,
    words: Vec<Word>,
    /// Whether an operator waits for a command.
    needed: bool,
}

impl Reader<'_> {
    /// Reads one thing that stands between words, or one word.
    fn step(&mut self, script: &str) -> Option<()> {
        match (self.bytes[self.at], self.peek(1)) {
            (b' ' | b'\t', _) => self.at += 1,
            (b'\\', Some(b'\n')) => self.at += 2,
            (b'#', _) => {
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            }
            (b'\n', _) => {
                self.end_command(false)?;
                self.at += 1;
            }
            (b';', _) => {
                self.end_command(true)?;
                self.at += 1;
            }
            (b'&', Some(b'&')) | (b'|', Some(b'|')) => self.operator(2)?,
            (b'|', Some(b'&')) => return None,
            (b'|', _) => self.operator(1)?,
            (b'&', Some(b'>')) => {
                self.at += 1;
                self.redirection()?;
            }
            (b'&', _) => return None,
            (b'>' | b'<', _) => self.redirection()?,
            _ => self.word(script)?,
        }
        Some(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn operator(&mut self, length: usize) -> Option<()> {
        self.end_command(true)?;
        self.needed = true;
        self.at += length;
        Some(())
    }

    /// Ends the command that is being read. Without one: fine unless `must` there be one.
    fn end_command(&mut self, must: bool) -> Option<()> {
        if self.words.is_empty() {
            return (!must).then_some(());
        }
        self.needed = false;
        self.commands.push(PlainCommand { words: std::mem::take(&mut self.words) });
        Some(())
    }

    /// `>`, `<` and what follows, at the operator: only what cannot touch a file.
    fn redirection(&mut self) -> Option<()> {
        if self.words.is_empty() {
            return None;
        }
        let rest = &self.bytes[self.at + 1..];
        let length = if self.bytes[self.at] == b'>' && (rest.starts_with(b"&1") || rest.starts_with(b"&2")) {
            2
        } else {
            let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
            rest[blanks..].starts_with(b"/dev/null").then_some(blanks + b"/dev/null".len())?
        };
        let ends = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&');
        if !rest.get(length).is_none_or(ends) {
            return None;
        }
        self.at += 1 + length;
        Some(())
    }

    fn word(&mut self, script: &str) -> Option<()> {
        let (from, first) = (self.at, self.words.is_empty());
        let mut text = String::new();
        let mut quoted = false;
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'>' | b'<' => break,
                b'\'' => {
                    let length = self.bytes[self.at + 1..].iter().position(|b| *b == b'\'')?;
                    text.push_str(script.get(self.at + 1..self.at + 1 + length)?);
                    self.at += length + 2;
                    quoted = true;
                }
                b'"' => {
                    self.double_quoted(script, &mut text)?;
                    quoted = true;
                }
                b'\\' if !first => {
                    let next = self.peek(1).filter(u8::is_ascii_graphic)?;
                    text.push(char::from(next));
                    self.at += 2;
                    quoted = true;
                }
                plain if is_plain(plain, first) => {
                    text.push(char::from(plain));
                    self.at += 1;
                }
                _ => return None,
            }
        }
        // Digits before an arrow are no word but say which stream is meant.
        if !quoted && matches!(self.peek(0), Some(b'>' | b'<')) && text.bytes().all(|b| b.is_ascii_digit()) {
            return (matches!(text.as_str(), "1" | "2") && self.peek(0) == Some(b'>')).then_some(());
        }
        if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
            return None;
        }
        if first && !names_a_program(&text) {
            return None;
        }
        self.words.push(Word { range: from..self.at, text });
        Some(())
    }

    /// A string in double quotes, without anything that the shell would put in its place.
    fn double_quoted(&mut self, script: &str, text: &mut String) -> Option<()> {
        self.at += 1;
        loop {
            let from = self.at;
            self.at += self.bytes[from..].iter().position(|b| matches!(b, b'"' | b'\\' | b'$' | b'`'))?;
            text.push_str(script.get(from..self.at)?);
            match (self.bytes[self.at], self.peek(1)) {
                (b'"', _) => {
                    self.at += 1;
                    return Some(());
                }
                (b'\\', Some(next @ (b'"' | b'\\' | b'$' | b'`'))) => {
                    text.push(char::from(next));
                    self.at += 2;
                }
                (b'\\', Some(next)) if next != b'\n' => {
                    text.push('\\');
                    self.at += 1;
                }
                _ => return None,
            }
        }
    }
}

/// Characters that stand for themselves. `*`, `?` and `[` may stand for names of files, but never for a command of their
/// own; the pattern sees them as they are written.
fn is_plain(byte: u8, first: bool) -> bool {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/' | b'+' => true,
        b':' | b'=' | b',' | b'@' | b'%' | b'^' | b'#' | b'~' | b'*' | b'?' | b'[' | b']' => !first,
        _ => false,
    }
}

fn names_a_program(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| is_plain(byte, true)) && !RESERVED.contains(&text)
}
