//! Patterns over paths of the workspace, as in a `.gitignore`: a pattern with a slash starts at the workspace, one
//! without is found at any depth, and a folder stands for all that is in it.
//!
//! Paths are compared as they are written, after `.`, `..` and doubled slashes are taken out; no link is followed, since
//! deciding does no I/O. That a path does not lead out of the workspace is the guest's business.

use super::rule_error::RuleError;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::fmt;

/// The longest path any system call takes, in bytes.
const MAX_PATH_BYTES: usize = 4_096;

/// The most parts of a path outside the workspace that are compared.
const MAX_TAILS: usize = 64;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Into the workspace: its parts with `/` between, `.` for the workspace itself.
    Inside(String),
    /// Absolute, climbing out, or nothing a path could be: the parts that are left.
    Outside(Vec<String>),
}

impl Place {
    /// Where `path` leads, by its text alone.
    pub(super) fn of(path: &str) -> Self {
        let mut parts: Vec<String> = Vec::new();
        let odd = path.len() > MAX_PATH_BYTES || path.chars().any(char::is_control);
        let mut outside = odd || path.starts_with('/') || path.starts_with('~');
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => outside |= parts.pop().is_none(),
                name => parts.push(name.to_owned()),
            }
        }
        match (outside, parts.is_empty()) {
            (true, _) => Self::Outside(parts),
            (false, true) => Self::Inside(".".to_owned()),
            (false, false) => Self::Inside(parts.join("/")),
        }
    }
}

/// A pattern over paths.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    text: String,
    globs: GlobSet,
}

impl PathPattern {
    /// Reads a pattern as it stands between the parentheses of a rule.
    pub(super) fn parse(text: &str) -> Result<Self, RuleError> {
        let text = tidy(text.trim());
        let inner = text.trim_matches('/');
        if inner.is_empty() || inner == "." {
            return Err(RuleError::EmptyPattern);
        }
        if text.starts_with('!') {
            return Err(RuleError::Negated);
        }
        if inner.starts_with('~') || inner.split('/').any(|part| part == "..") {
            return Err(RuleError::NotRelative);
        }
        let anchored = text.starts_with('/') || inner.contains('/');
        let base = if anchored { inner.to_owned() } else { format!("**/{inner}") };
        let mut globs = GlobSetBuilder::new();
        for glob in [base.clone(), format!("{base}/**")] {
            let built = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
            globs.add(built.map_err(|error| RuleError::Glob(error.kind().to_string()))?);
        }
        let globs = globs.build().map_err(|error| RuleError::Glob(error.kind().to_string()))?;
        Ok(Self { text, globs })
    }

    /// Whether a rule that allows is about `place`: never about one outside.
    pub(super) fn covers(&self, place: &Place) -> bool {
        match place {
            Place::Inside(path) => self.globs.is_match(path),
            Place::Outside(_) => false,
        }
    }

    /// Whether a rule that forbids or asks is about `place`. Where the workspace lies is not known here, so of a path
    /// outside any tail may be the part within it.
    pub(super) fn touches(&self, place: &Place) -> bool {
        match place {
            Place::Inside(path) => self.globs.is_match(path),
            Place::Outside(parts) => {
                let first = parts.len().saturating_sub(MAX_TAILS);
                (first..parts.len()).any(|from| self.globs.is_match(parts[from..].join("/")))
            }
        }
    }
}

/// Takes `./` off the front and doubled slashes out; `./x` is x at the root and nowhere else.
fn tidy(text: &str) -> String {
    let text = if text.starts_with("./") { &text[1..] } else { text };
    let mut tidy = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '/' || !tidy.ends_with('/') {
            tidy.push(c);
        }
    }
    tidy
}

/// `path` (of [`Place::Inside`]) as a pattern that means only itself, anchored at the workspace.
pub(super) fn escaped(path: &str) -> String {
    let mut text = String::with_capacity(path.len() + 1);
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | ',') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
