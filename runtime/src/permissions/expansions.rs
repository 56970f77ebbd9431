//! Quotes and expansions, as the generous reader ([`super::sightings`]) meets them.

use super::sightings::{HOLE, Kind, Reader};

impl Reader {
    /// A string in single quotes; with `escapes`, a backslash in it takes the next character.
    pub(super) fn single_quoted(&mut self, escapes: bool) {
        self.quote();
        self.at += 1;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\'' => return,
                '\\' if escapes => {
                    self.peek(0).into_iter().for_each(|next| self.add(next));
                    self.at += 1;
                }
                other => self.add(other),
            }
        }
        self.seen.unsure = true;
    }

    pub(super) fn skip_name(&mut self) {
        while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
    }

    /// `${x}`, and `${x:-word}`, which may come to the word. Quotes up to its end follow rules of their own.
    pub(super) fn expansion(&mut self) {
        self.add(HOLE);
        self.at += 2;
        self.skip_name();
        let end = self.chars[self.at..].iter().position(|c| *c == '}').map(|length| self.at + length);
        let inner = &self.chars[self.at..end.unwrap_or(self.chars.len())];
        let odd = inner.iter().any(|c| matches!(c, '\'' | '"' | '\\' | '`' | '$'));
        self.seen.unsure |= end.is_none() || odd;
        let word = inner.iter().take_while(|c| matches!(c, ':' | '-' | '=' | '+' | '?')).count();
        match end {
            Some(end) if !odd && word == 0 => self.at = end + 1,
            _ => {
                self.at += word;
                self.frames.last_mut().into_iter().for_each(|frame| frame.braces += 1);
            }
        }
    }

    pub(super) fn open_substitution(&mut self, length: usize) {
        self.add(HOLE);
        let arithmetic = self.peek(length) == Some('(');
        self.push(if arithmetic { Kind::Arithmetic } else { Kind::Paren });
        self.at += length;
    }

    pub(super) fn backtick(&mut self) {
        self.at += 1;
        if self.frames.iter().any(|frame| frame.kind == Kind::Backtick) {
            while let Some(kind) = self.frames.last().map(|frame| frame.kind) {
                self.end_command();
                self.frames.pop();
                if kind == Kind::Backtick {
                    return;
                }
            }
        } else {
            self.add(HOLE);
            self.push(Kind::Backtick);
        }
    }
}
