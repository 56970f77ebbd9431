//! Rules with their origins, in three lists: what is forbidden, what is asked about, what is allowed.

use super::rule::{Pattern, Rule, ToolName, parse_rule};
use super::rule_error::RuleError;
use crate::config::{ConfigError, Origin, similar};
use crate::tools;
use std::fmt;

/// The most rules of one list of one source.
const MAX_RULES: usize = 2_000;

/// The lists, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleList {
    /// What is never done.
    Deny,
    /// What a person is asked about each time.
    Ask,
    /// What is done without asking.
    Allow,
}

impl RuleList {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Deny, Self::Ask, Self::Allow];

    /// Its name in a file of rules.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }

    /// Its name in the project's file and in `retrace config show`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Deny => "permissions.deny",
            Self::Ask => "permissions.ask",
            Self::Allow => "permissions.allow",
        }
    }
}

/// A rule and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenRule {
    /// The rule.
    pub rule: Rule,
    /// Its origin.
    pub origin: Origin,
}

impl GivenRule {
    /// Reads a rule for tools that exist.
    ///
    /// # Errors
    /// When it is none, with its origin and why.
    pub fn read(list: RuleList, text: &str, origin: Origin) -> Result<Self, ConfigError> {
        match parse_rule(text).and_then(|rule| check_tool(&rule).map(|()| rule)) {
            Ok(rule) => Ok(Self { rule, origin }),
            Err(why) => {
                // Cut: a hostile rule may be as long as its file.
                let shown: String = text.chars().filter(|c| !c.is_control()).take(80).collect();
                Err(ConfigError::InvalidValue {
                    origin,
                    key: list.key(),
                    why: format!("has a rule `{shown}` that {why}"),
                })
            }
        }
    }
}

/// The rule and its place in few words: "permissions.toml:3 `bash(cargo test *)`". Of a path only the file's name, since
/// this gets into the log.
impl fmt::Display for GivenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::File { path, line } => {
                write!(f, "{}:{line} ", path.file_name().unwrap_or(path.as_os_str()).display())?;
            }
            Origin::Flag(name) => write!(f, "{name} ")?,
            Origin::Session => f.write_str("this session's rule ")?,
            Origin::Default | Origin::Env(_) => {}
        }
        write!(f, "`{}`", self.rule)
    }
}

/// A rule about a tool that does not exist would silently be about nothing.
fn check_tool(rule: &Rule) -> Result<(), RuleError> {
    let ToolName::One(name) = &rule.tool else { return Ok(()) };
    let all = tools::all();
    let Some(tool) = all.iter().find(|tool| tool.name() == name) else {
        let names: Vec<&'static str> = all.iter().map(|tool| tool.name()).collect();
        return Err(RuleError::UnknownTool { similar: similar(&name.to_ascii_lowercase(), &names) });
    };
    match rule.pattern {
        Pattern::Any | Pattern::Command(_) | Pattern::Exact(_) => Ok(()),
        Pattern::Path(_) if tool.schema().input_schema["properties"].get("path").is_some() => Ok(()),
        Pattern::Path(_) => Err(RuleError::NoPattern),
    }
}

/// Rules in three lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// What is never done.
    pub deny: Vec<GivenRule>,
    /// What a person is asked about each time.
    pub ask: Vec<GivenRule>,
    /// What is done without asking.
    pub allow: Vec<GivenRule>,
}

impl RuleSet {
    /// The rules of a list.
    #[must_use]
    pub fn list(&self, list: RuleList) -> &[GivenRule] {
        match list {
            RuleList::Deny => &self.deny,
            RuleList::Ask => &self.ask,
            RuleList::Allow => &self.allow,
        }
    }

    /// Reads a rule and puts it at the end of a list.
    ///
    /// # Errors
    /// When it is none, or the list is full.
    pub fn read(&mut self, list: RuleList, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let rules = match list {
            RuleList::Deny => &mut self.deny,
            RuleList::Ask => &mut self.ask,
            RuleList::Allow => &mut self.allow,
        };
        if rules.len() >= MAX_RULES {
            return Err(ConfigError::InvalidValue {
                origin,
                key: list.key(),
                why: format!("has more than {MAX_RULES} rules"),
            });
        }
        rules.push(GivenRule::read(list, text, origin)?);
        Ok(())
    }

    /// Puts the rules of `other` behind these.
    pub fn extend(&mut self, other: Self) {
        self.deny.extend(other.deny);
        self.ask.extend(other.ask);
        self.allow.extend(other.allow);
    }
}
