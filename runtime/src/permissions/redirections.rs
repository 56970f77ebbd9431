//! Redirections, as the generous reader ([`super::sightings`]) meets them: where something is redirected to is no word of
//! the command, and the body of a here-document is text in which only substitutions are commands.

use super::sightings::{Kind, Reader};

impl Reader {
    /// `<` or `>`, with all that belongs to the operator.
    pub(super) fn redirection(&mut self) {
        if let Some(frame) = self.frames.last_mut()
            && !frame.quoted
            && frame.word.as_ref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()))
        {
            frame.word = None;
        }
        let in_word = self.in_word();
        self.end_word();
        if self.peek(1) == Some('(') {
            return self.open_substitution(2);
        }
        if self.is(0, "<<") && !self.is(0, "<<<") {
            let arithmetic = self.frames.iter().any(|frame| frame.kind == Kind::Arithmetic);
            // It may be a shift: `((1<<2))`, `a[1<<2]=3`.
            self.seen.unsure |= arithmetic || in_word;
            if !arithmetic {
                return self.heredoc();
            }
        }
        while matches!(self.peek(0), Some('<' | '>')) {
            self.at += 1;
        }
        if matches!(self.peek(0), Some('&' | '|')) {
            self.at += 1;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.target = true;
        }
    }

    fn heredoc(&mut self) {
        self.at += 2;
        let tabs = self.peek(0) == Some('-');
        self.at += usize::from(tabs);
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.at += 1;
        }
        let (mut delimiter, mut quoted) = (String::new(), false);
        while let Some(c) = self.peek(0).filter(|c| !c.is_whitespace() && !";&|<>()".contains(*c)) {
            self.at += 1;
            if matches!(c, '\'' | '"' | '\\') {
                quoted = true;
            } else {
                delimiter.push(c);
            }
        }
        if delimiter.is_empty() {
            self.seen.unsure = true;
        } else {
            self.pending.push_back((delimiter, tabs, quoted));
        }
    }

    /// At the start of a line: goes past the bodies that begin here.
    pub(super) fn skip_bodies(&mut self) {
        while let Some((delimiter, tabs, quoted)) = self.pending.pop_front() {
            let (from, mut to, mut found) = (self.at, self.chars.len(), false);
            while self.at < self.chars.len() && !found {
                let end = self.line_end(self.at);
                let line: String = self.chars[self.at..end].iter().collect();
                if (if tabs { line.trim_start_matches('\t') } else { &line }) == delimiter {
                    (to, found) = (self.at, true);
                }
                self.at = (end + 1).min(self.chars.len());
            }
            self.seen.unsure |= !found;
            if !quoted {
                // Only its substitutions are commands.
                let mut seen = Self::new(self.chars[from..to].to_vec(), Kind::Body).read();
                self.seen.commands.append(&mut seen.commands);
                self.seen.unsure |= seen.unsure;
            }
        }
    }
}
