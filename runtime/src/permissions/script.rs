//! A script as rules see it: the plain commands it is made of, and every command that can be seen in it at all.
//!
//! To allow, two readers that share no code must find the same words at the same places ([`super::plain`] and
//! [`super::syntax`]); where they differ, one of them is wrong about what bash would do, and nothing is covered. To forbid,
//! the generous reader of [`super::sightings`] is heard, and where even that is not sure, every piece of the text.

use super::command_pattern::GAP;
use super::plain::{self, PlainCommand};
use super::{sightings, syntax, wrappers};
use std::collections::BTreeSet;

/// How deep scripts within scripts are looked into (`bash -c "bash -c …"`).
const MAX_NESTING: usize = 4;
/// The most text of scripts within scripts that is looked into, in bytes.
const MAX_INNER_BYTES: usize = 1024 * 1024;

/// A script.
#[derive(Debug)]
pub(super) struct Script {
    /// As it was written.
    pub(super) text: String,
    /// Its commands, when it is nothing but a list of plain ones.
    pub(super) plain: Option<Vec<PlainCommand>>,
    /// Each command that was seen in it, as words with gaps, in no order.
    pub(super) seen: BTreeSet<String>,
}

impl Script {
    /// Reads `text`.
    pub(super) fn read(text: &str) -> Self {
        let plain = plain::read(text).filter(|commands| agreed(text, commands));
        let mut search = Search { inner_bytes: 0, seen: BTreeSet::new() };
        search.script(text, 0);
        Self { text: text.to_owned(), plain, seen: search.seen }
    }

    /// Whether `text` is this script or a command that was seen in it, white space at the ends aside.
    pub(super) fn holds(&self, text: &str) -> bool {
        let text = text.trim();
        self.text.trim() == text || self.seen.iter().any(|command| command.split(GAP).eq(text.split_whitespace()))
    }
}

fn agreed(text: &str, commands: &[PlainCommand]) -> bool {
    let Some(found) = syntax::plain_commands(text) else { return false };
    commands.len() == found.len()
        && commands.iter().zip(&found).all(|(command, ranges)| command.words.iter().map(|word| &word.range).eq(ranges))
}

struct Search {
    inner_bytes: usize,
    seen: BTreeSet<String>,
}

impl Search {
    fn script(&mut self, text: &str, nesting: usize) {
        let found = sightings::read(text);
        // A shell that reads its commands from somewhere may read any part of the text.
        let fed = found.commands.iter().any(|words| wrappers::reads_commands(words));
        for words in &found.commands {
            self.command(words, nesting);
        }
        if found.unsure || fed {
            for words in sightings::pieces(text) {
                self.command(&words, nesting);
                if fed {
                    self.seen.extend(wrappers::tails(&words).map(subject));
                }
            }
        }
    }

    fn command(&mut self, words: &[String], nesting: usize) {
        let unwrapped = wrappers::unwrap(words);
        for script in unwrapped.scripts {
            self.inner_bytes += script.len();
            if nesting < MAX_NESTING && self.inner_bytes <= MAX_INNER_BYTES {
                self.script(&script, nesting + 1);
            } else {
                self.seen.extend(sightings::pieces(&script).iter().map(|words| subject(words)));
            }
        }
        for words in unwrapped.commands {
            self.seen.insert(subject(&words));
            // By its full path, or another one, it is the same program.
            if let Some((name, rest)) = words.split_first()
                && let Some((_, name)) = name.rsplit_once('/')
            {
                self.seen.insert(subject(&[&[name.to_owned()], rest].concat()));
            }
        }
    }
}

fn subject(words: &[String]) -> String {
    words.join(&GAP.to_string())
}
