//! Code in colours. Definitions of languages are read when the first block of code comes, which takes a moment.
//!
//! Bounded: a line that is too long, or code that takes too long altogether, is shown without colours. The colours are
//! the terminal's own, so they go with a dark background and with a light one.

use super::spans::{Look, Spans};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use syntect::easy::HighlightLines;
use syntect::highlighting::{Color, FontStyle, StyleModifier, Theme, ThemeItem};
use syntect::parsing::{SyntaxReference, SyntaxSet};

/// A longer line is no code that somebody reads.
const MAX_LINE_BYTES: usize = 500;

/// How long the code of one answer may take altogether.
const MAX_TIME: Duration = Duration::from_secs(1);

/// The most of a language's name.
const MAX_NAME_BYTES: usize = 40;

/// What the usual names of languages are called in the definitions; those that have none borrow a relative's.
const ALIASES: &[(&str, &str)] = &[
    ("console", "sh"),
    ("csharp", "cs"),
    ("golang", "go"),
    ("javascriptreact", "js"),
    ("json5", "js"),
    ("jsonc", "js"),
    ("jsx", "js"),
    ("mts", "js"),
    ("python3", "py"),
    ("shell", "sh"),
    ("shell-session", "sh"),
    ("ts", "js"),
    ("tsx", "js"),
    ("typescript", "js"),
    ("udiff", "diff"),
    ("zsh", "sh"),
];

/// What is said in which colour: the beginnings of scopes, a number of the terminal's colours, and the font. What has
/// no colour of its own is bold.
const LOOKS: &[(&str, Option<u8>, FontStyle)] = &[
    ("comment, punctuation.definition.comment", None, FontStyle::ITALIC),
    ("string, constant.character, markup.inserted", Some(2), FontStyle::empty()),
    ("constant.numeric, constant.language, support.constant, variable.parameter", Some(6), FontStyle::empty()),
    ("keyword, storage, entity.name.tag", Some(5), FontStyle::empty()),
    ("keyword.operator", None, FontStyle::empty()),
    ("entity.name.function, support.function, entity.name.type, entity.name.class", None, FontStyle::BOLD),
    ("entity.name.struct, entity.name.enum, support.type, support.class", None, FontStyle::BOLD),
    ("markup.deleted, invalid", Some(1), FontStyle::empty()),
    ("meta.diff.range, meta.separator.diff", Some(6), FontStyle::empty()),
    ("markup.heading, meta.diff.header", None, FontStyle::BOLD),
];

struct Definitions {
    languages: SyntaxSet,
    theme: Theme,
}

/// What the colours of one answer may still cost.
#[derive(Debug)]
pub(super) struct CodeBudget(Duration);

impl Default for CodeBudget {
    fn default() -> Self {
        Self(MAX_TIME)
    }
}

/// A block of code, line by line.
pub(super) struct Code(Option<HighlightLines<'static>>);

impl Code {
    /// A block whose fence says `info` of it.
    pub(super) fn new(info: &str) -> Self {
        let language = language(info).and_then(|name| definitions().find(name));
        Self(language.map(|language| HighlightLines::new(language, &definitions().theme)))
    }

    /// The next line, without its line end.
    pub(super) fn line(&mut self, line: &str, budget: &mut CodeBudget) -> Spans {
        let mut spans = Spans::default();
        match self.coloured(line, budget) {
            Some(runs) => runs.iter().for_each(|(look, text)| spans.push(*look, text)),
            None => {
                // The state of a block that has a hole means nothing.
                self.0 = None;
                spans.push(Look::PLAIN, line);
            }
        }
        spans
    }

    fn coloured(&mut self, line: &str, budget: &mut CodeBudget) -> Option<Vec<(Look, String)>> {
        let block = self.0.as_mut().filter(|_| line.len() <= MAX_LINE_BYTES && !budget.0.is_zero())?;
        let (begun, whole) = (Instant::now(), format!("{line}\n"));
        // Other people's patterns on other people's text: a mistake in them must not end the session.
        let runs = catch_unwind(AssertUnwindSafe(|| block.highlight_line(&whole, &definitions().languages)));
        budget.0 = budget.0.saturating_sub(begun.elapsed());
        let runs = runs.ok()?.ok()?;
        Some(runs.into_iter().map(|(style, text)| (look(style), text.trim_end_matches('\n').to_owned())).collect())
    }
}

/// The language that a fence names: the first word, in small letters and without signs around it.
fn language(info: &str) -> Option<String> {
    let word = info.split([' ', ',', ':', '{', '}']).find(|word| !word.is_empty())?;
    let name = word.trim_start_matches('.').to_lowercase();
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, known)| (*known).to_owned());
    (name.len() <= MAX_NAME_BYTES).then_some(name)
}

impl Definitions {
    fn find(&'static self, name: String) -> Option<&'static SyntaxReference> {
        self.languages.find_syntax_by_token(&name)
    }
}

/// All definitions, read once.
fn definitions() -> &'static Definitions {
    static DEFINITIONS: OnceLock<Definitions> = OnceLock::new();
    DEFINITIONS.get_or_init(|| Definitions { languages: SyntaxSet::load_defaults_newlines(), theme: theme() })
}

/// A colour whose alpha is zero stands for one of the terminal's own.
fn theme() -> Theme {
    let item = |(scope, colour, font): &(&str, Option<u8>, FontStyle)| {
        let foreground = Some(Color { r: colour.unwrap_or(0), g: 0, b: 0, a: 0 });
        let style = StyleModifier { foreground, background: None, font_style: Some(*font) };
        Some(ThemeItem { scope: scope.parse().ok()?, style })
    };
    Theme { scopes: LOOKS.iter().filter_map(item).collect(), ..Theme::default() }
}

fn look(style: syntect::highlighting::Style) -> Look {
    let Color { r, a, .. } = style.foreground;
    let comment = style.font_style.contains(FontStyle::ITALIC);
    Look {
        bold: style.font_style.contains(FontStyle::BOLD),
        dim: comment,
        colour: (a == 0 && r != 0).then_some(r),
        ..Look::PLAIN
    }
}
