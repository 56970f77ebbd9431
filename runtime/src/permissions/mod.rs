//! Who may do what: rules about tool calls, and the decision on one call.
//!
//! ```text
//! a rule of `deny`, else of `ask`, else of `allow` (or of this session), else the default of the mode
//! ```
//!
//! A rule is `tool`, `tool(pattern)` or `*`; see [`parse_rule`]. What falls in doubt falls to the strict side: a rule that
//! allows must cover every command of a script that is understood to the last character, one that forbids or asks counts as soon
//! as one command that can be seen anywhere in it fits. That is no wall against a program that means harm, which can
//! always be built at run time from what no rule names; the wall is the sandbox.
//!
//! Deciding does no I/O. Where rules come from is `config`'s business; only [`Permissions::remember`] writes a file.

mod approval_mode;
mod call;
mod command_pattern;
mod denial;
mod expansions;
mod like;
mod path_pattern;
mod permission_file;
mod plain;
mod programs;
mod redirections;
mod remember;
mod rule;
mod rule_error;
mod rule_set;
mod script;
mod sightings;
mod syntax;
mod wrappers;

#[cfg(test)]
mod tests;

pub use approval_mode::{ApprovalMode, UnknownMode};
pub(crate) use permission_file::{read_table, read_user};
pub use remember::RememberError;
pub use rule::{MAX_RULE_BYTES, Rule, parse_rule};
pub use rule_error::RuleError;
pub use rule_set::{GivenRule, RuleList, RuleSet};

use crate::config::Origin;
use call::Call;
use retrace_events::payload::tool::ToolEffect;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

/// A call that is about to be made.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its input: raw JSON text, as the model wrote it.
    pub input: &'a str,
    /// What it may do to the world.
    pub effect: ToolEffect,
    /// Rules that hold for this session. One that is no rule allows nothing.
    pub session_rules: &'a [String],
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is made.
    Allow {
        /// The rules that say so; `None` when it is merely the default, which is not worth a word in the log.
        by: Option<String>,
    },
    /// A person must say.
    Ask {
        /// Why, for that person.
        why: String,
    },
    /// It is not made.
    Deny {
        /// The rule that says so.
        by: String,
        /// What the model is told.
        content: String,
    },
}

/// The rules of one command, and the mode for what no rule is about.
#[derive(Debug)]
pub struct Permissions {
    mode: ApprovalMode,
    sandboxed: bool,
    rules: RuleSet,
    /// Commands whose results depend on the files alone, by the user's word.
    pure: Vec<GivenRule>,
    /// Where rules are remembered.
    user_file: Option<PathBuf>,
    /// Rules that were remembered since the file was read.
    remembered: RwLock<Vec<GivenRule>>,
}

impl Permissions {
    /// Permissions by `rules`, with `mode` for what they do not mention. `sandboxed` says whether calls run in a sandbox
    /// rather than on the host; `user_file` is where [`Self::remember`] writes.
    #[must_use]
    pub const fn new(mode: ApprovalMode, sandboxed: bool, rules: RuleSet, user_file: Option<PathBuf>) -> Self {
        Self { mode, sandboxed, rules, pure: Vec::new(), user_file, remembered: RwLock::new(Vec::new()) }
    }

    /// The same, with patterns of commands whose results depend on the workspace's files alone. What is no pattern is about nothing.
    #[must_use]
    pub fn with_pure(mut self, patterns: &[String]) -> Self {
        let rules = patterns.iter().filter_map(|pattern| pure_rule(pattern).ok());
        self.pure = rules.map(|rule| GivenRule { rule, origin: Origin::Default }).collect();
        self
    }

    /// Whether the user says that the result of this call of `bash` depends on the workspace's files alone: of every command in it,
    /// read as strictly as a rule that allows.
    #[must_use]
    pub fn is_pure(&self, input: &str) -> bool {
        let rules: Vec<&GivenRule> = self.pure.iter().collect();
        !rules.is_empty() && Call::read(rule::BASH, input).is_some_and(|call| call.covered_by(&rules).is_some())
    }

    /// Permissions without any rule and without a file, with the mode `auto`.
    #[must_use]
    pub fn builtin(sandboxed: bool) -> Self {
        Self::new(ApprovalMode::Auto, sandboxed, RuleSet::default(), None)
    }

    /// What becomes of a call.
    #[must_use]
    pub fn decide(&self, asked: &Asked<'_>) -> Verdict {
        let call = Call::read(asked.tool, asked.input);
        let touches = |given: &&GivenRule| match &call {
            Some(call) => call.touched_by(&given.rule),
            None => given.rule.is_about_all() && given.rule.names(asked.tool),
        };
        if let Some(given) = self.rules.deny.iter().find(touches) {
            return Verdict::Deny { by: given.to_string(), content: denial::content(asked, given) };
        }
        if let Some(given) = self.rules.ask.iter().find(touches) {
            return Verdict::Ask { why: format!("{given} is to be asked about each time") };
        }
        let Some(call) = call else {
            return Verdict::Ask { why: "its input is no JSON object, so no rule can be compared with it".to_owned() };
        };
        let remembered = self.remembered.read().unwrap_or_else(PoisonError::into_inner);
        let session = session_rules(asked.session_rules);
        let allow: Vec<&GivenRule> = self.rules.allow.iter().chain(remembered.iter()).chain(&session).collect();
        match call.covered_by(&allow) {
            Some(used) => Verdict::Allow { by: Some(list(&used)) },
            None => self.by_default(asked, &call),
        }
    }

    fn by_default(&self, asked: &Asked<'_>, call: &Call<'_>) -> Verdict {
        let why = match (asked.effect, self.mode, self.sandboxed) {
            (ToolEffect::ReadOnly, _, _)
            | (ToolEffect::Writes, ApprovalMode::Allow, _)
            | (ToolEffect::Writes, ApprovalMode::Auto, true) => return Verdict::Allow { by: None },
            (ToolEffect::Writes, ApprovalMode::Auto, false) => "it runs on this machine without a sandbox",
            (ToolEffect::Writes, ApprovalMode::Ask, _) => "approvals are set to `ask`",
        };
        let unread = call.script().is_some_and(|script| script.plain.is_none());
        let note = if unread { "; the command is more than a list of plain commands" } else { "" };
        Verdict::Ask { why: format!("{why}, and no rule allows it{note}") }
    }

    /// The rule that would be stored when a person allows this call for longer than once: it covers the call and little
    /// else. Empty when no rule can cover it.
    #[must_use]
    pub fn rule_like(&self, tool: &str, input: &str) -> String {
        like::rule_like(tool, input).map(|rule| rule.to_string()).unwrap_or_default()
    }

    /// Adds `rule` to what is allowed in the user's file of rules, unless it stands there already. From now on it counts here
    /// too.
    ///
    /// # Errors
    /// When it is no rule, or the file cannot be read or written; then the file is as it was.
    pub fn remember(&self, rule: &str) -> Result<(), RememberError> {
        let file = self.user_file.as_deref().ok_or(RememberError::NoFile)?;
        let line = remember::add(file, rule)?;
        let given = GivenRule::read(RuleList::Allow, rule, Origin::File { path: file.to_owned(), line })?;
        self.remembered.write().unwrap_or_else(PoisonError::into_inner).push(given);
        Ok(())
    }
}

/// The rule over commands that a pattern is, as it stands between the parentheses of `bash(…)`.
///
/// # Errors
/// When it is none.
pub(crate) fn pure_rule(pattern: &str) -> Result<Rule, RuleError> {
    parse_rule(&format!("{}({pattern})", rule::BASH))
}

fn session_rules(texts: &[String]) -> Vec<GivenRule> {
    let rules = texts.iter().filter_map(|text| parse_rule(text).ok());
    rules.map(|rule| GivenRule { rule, origin: Origin::Session }).collect()
}

/// The rules in one line.
fn list(rules: &[&GivenRule]) -> String {
    const SHOWN: usize = 3;
    let mut texts: Vec<String> = rules.iter().take(SHOWN).map(ToString::to_string).collect();
    if rules.len() > SHOWN {
        texts.push(format!("{} more", rules.len() - SHOWN));
    }
    texts.join(", ")
}
