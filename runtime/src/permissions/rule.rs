//! A rule: `tool`, `tool(pattern)`, `bash(=exact text)` or `*`, as text and back.
//!
//! The text between the first `(` and the last `)` is the pattern, so parentheses in it need no escape. What it means
//! depends on the tool: a pattern over commands for `bash`, over paths for all others. After `bash(=` stands one whole
//! script word for word; in it only `\\`, `\n`, `\t` and `\u{…}` are escapes.

use super::command_pattern::CommandPattern;
use super::path_pattern::PathPattern;
use super::rule_error::RuleError;
use std::fmt;
use std::str::FromStr;

/// The longest rule, in bytes.
pub const MAX_RULE_BYTES: usize = 8 * 1024;

/// The tool whose patterns are about commands.
pub(super) const BASH: &str = "bash";

/// A permission rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub(super) tool: ToolName,
    pub(super) pattern: Pattern,
}

/// Which tools a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolName {
    All,
    One(String),
}

/// Which calls of the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    /// All.
    Any,
    /// Commands like this.
    Command(CommandPattern),
    /// This script and no other.
    Exact(String),
    /// Paths like this.
    Path(PathPattern),
}

/// Reads a rule.
///
/// # Errors
/// When the text is no rule, with the reason. Whether the tool exists is not looked at.
pub fn parse_rule(text: &str) -> Result<Rule, RuleError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(RuleError::Empty);
    }
    if text.len() > MAX_RULE_BYTES {
        return Err(RuleError::TooLong { max_bytes: MAX_RULE_BYTES });
    }
    if text.chars().any(char::is_control) {
        return Err(RuleError::Control);
    }
    let Some((name, rest)) = text.split_once('(') else {
        return Ok(Rule { tool: tool_name(text)?, pattern: Pattern::Any });
    };
    let tool = tool_name(name.trim_end())?;
    let inner = rest.strip_suffix(')').ok_or(RuleError::Unclosed)?;
    let pattern = match &tool {
        ToolName::All => return Err(RuleError::PatternForAll),
        ToolName::One(name) if name == BASH => match inner.strip_prefix('=') {
            Some("") => return Err(RuleError::EmptyPattern),
            Some(exact) => Pattern::Exact(unescape(exact)?),
            None => Pattern::Command(CommandPattern::parse(inner)?),
        },
        ToolName::One(_) => Pattern::Path(PathPattern::parse(inner)?),
    };
    Ok(Rule { tool, pattern })
}

fn tool_name(name: &str) -> Result<ToolName, RuleError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    match name {
        "*" => Ok(ToolName::All),
        _ if !name.is_empty() && name.len() <= 128 && name.bytes().all(fits) => Ok(ToolName::One(name.to_owned())),
        _ => Err(RuleError::ToolName),
    }
}

impl Rule {
    /// All calls of `tool`.
    pub(super) fn all_of(tool: &str) -> Result<Self, RuleError> {
        Ok(Self { tool: tool_name(tool)?, pattern: Pattern::Any })
    }

    /// This script and no other.
    pub(super) fn exactly(script: &str) -> Self {
        Self { tool: ToolName::One(BASH.to_owned()), pattern: Pattern::Exact(script.to_owned()) }
    }

    /// Whether it is about all calls of its tools.
    pub(super) fn is_about_all(&self) -> bool {
        self.pattern == Pattern::Any
    }

    /// Whether it is about calls of `tool` at all.
    pub(super) fn names(&self, tool: &str) -> bool {
        match &self.tool {
            ToolName::All => true,
            ToolName::One(name) => name == tool,
        }
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        parse_rule(text)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            ToolName::All => f.write_str("*")?,
            ToolName::One(name) => f.write_str(name)?,
        }
        match &self.pattern {
            Pattern::Any => Ok(()),
            Pattern::Command(pattern) => write!(f, "({pattern})"),
            Pattern::Exact(script) => write!(f, "(={})", escape(script)),
            Pattern::Path(pattern) => write!(f, "({pattern})"),
        }
    }
}

fn escape(script: &str) -> String {
    let mut text = String::with_capacity(script.len());
    for c in script.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
    }
    text
}

fn unescape(text: &str) -> Result<String, RuleError> {
    let mut script = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        script.push_str(&rest[..at]);
        let (c, after) = one_escape(&rest[at + 1..]).ok_or(RuleError::LoneBackslash)?;
        script.push(c);
        rest = after;
    }
    script.push_str(rest);
    Ok(script)
}

/// The character that the escape at the start of `text` (behind its backslash) stands for, and what follows.
fn one_escape(text: &str) -> Option<(char, &str)> {
    let rest = text.get(1..)?;
    match text.as_bytes().first()? {
        b'\\' => Some(('\\', rest)),
        b'n' => Some(('\n', rest)),
        b't' => Some(('\t', rest)),
        b'u' => {
            let (digits, after) = rest.strip_prefix('{')?.split_once('}')?;
            Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, after))
        }
        _ => None,
    }
}
