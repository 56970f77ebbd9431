//! The rule that a call would be remembered by: it covers the call, and as little else as is still of use.
//!
//! A command becomes a pattern only when it is one plain command of a program that does one kind of thing. Programs that
//! run whatever they are told, delete, or talk to others stay as they were written, word for word.

use super::call::Call;
use super::path_pattern::{self, Place};
use super::plain::PlainCommand;
use super::programs::{ASKS_AGAIN, NEVER_WIDER, SUBCOMMANDS};
use super::rule::{BASH, MAX_RULE_BYTES, Rule, parse_rule};
use super::script::Script;

/// The rule for calls like this one; `None` when no rule can cover it.
pub(super) fn rule_like(tool: &str, input: &str) -> Option<Rule> {
    let call = Call::read(tool, input)?;
    let rule = match (tool, call.script(), &call.place) {
        (BASH, Some(script), _) => command(script)?,
        (BASH, None, _) | (_, _, None) => return None,
        (_, _, Some(Place::Inside(path))) if path == "." => Rule::all_of(tool).ok()?,
        (_, _, Some(Place::Inside(path))) => {
            let pattern = match path.rsplit_once('/') {
                Some((folder, _)) => format!("{}/**", path_pattern::escaped(folder)),
                None => format!("/{}", path_pattern::escaped(path)),
            };
            parse_rule(&format!("{tool}({pattern})")).ok()?
        }
        (_, _, Some(Place::Outside(_))) => return None,
    };
    // What would not cover the call, or not be read back, is of no use to anybody.
    let given = super::GivenRule { rule, origin: crate::config::Origin::Session };
    let text = given.rule.to_string();
    let fits = text.len() <= MAX_RULE_BYTES && parse_rule(&text).as_ref() == Ok(&given.rule);
    (fits && call.covered_by(&[&given]).is_some()).then_some(given.rule)
}

fn command(script: &Script) -> Option<Rule> {
    let exact = || Some(Rule::exactly(&script.text));
    match script.plain.as_deref() {
        Some([only]) => match wider(only) {
            Some(pattern) => parse_rule(&format!("{BASH}({pattern})")).ok(),
            None => exact(),
        },
        Some(_) | None => exact(),
    }
}

/// The beginning of the command that stands for what it does, with ` *` behind it.
fn wider(command: &PlainCommand) -> Option<String> {
    let program = command.program().to_ascii_lowercase();
    // `python3.12` is `python`.
    let family = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if [program.as_str(), family].iter().any(|name| NEVER_WIDER.contains(name)) || family.is_empty() {
        return None;
    }
    let first = command.words.first()?.text.as_str();
    let second = command.words.get(1).map(|word| word.text.as_str());
    if let Some((_, known)) = SUBCOMMANDS.iter().find(|(name, _)| *name == program) {
        let second = second.filter(|word| known.contains(word))?;
        return Some(format!("{first} {second} *"));
    }
    match second.filter(|word| is_subcommand(word)) {
        Some(second) if ASKS_AGAIN.contains(&second) => None,
        Some(second) => Some(format!("{first} {second} *")),
        None => Some(format!("{first} *")),
    }
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.len() <= 32
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_' || b == b':')
}
