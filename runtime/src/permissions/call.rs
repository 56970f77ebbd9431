//! A call as rules see it, and what it means that a rule is about it.

use super::command_pattern::Reading;
use super::path_pattern::Place;
use super::plain::PlainCommand;
use super::rule::{BASH, Pattern, Rule};
use super::rule_set::GivenRule;
use super::script::Script;
use serde_json::Value;

/// A call whose input was understood.
#[derive(Debug)]
pub(super) struct Call<'a> {
    tool: &'a str,
    /// The script, of `bash`.
    script: Option<Script>,
    /// Where the script runs: whether in another folder than the workspace itself.
    elsewhere: bool,
    /// The path, of any other tool that has one.
    pub(super) place: Option<Place>,
}

impl<'a> Call<'a> {
    /// Reads the input of a call; `None` when it is no JSON object.
    pub(super) fn read(tool: &'a str, input: &str) -> Option<Self> {
        let Value::Object(input) = serde_json::from_str(input).ok()? else { return None };
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        if tool == BASH {
            let elsewhere = text("cwd").is_some_and(|cwd| Place::of(cwd) != Place::Inside(".".to_owned()));
            return Some(Self { tool, script: text("command").map(Script::read), elsewhere, place: None });
        }
        let place = match input.get("path") {
            Some(Value::String(path)) => Some(Place::of(path)),
            Some(Value::Null) | None => Some(Place::Inside(".".to_owned())),
            // No path at all, so nothing a rule may allow.
            Some(_) => None,
        };
        Some(Self { tool, script: None, elsewhere: false, place })
    }

    /// The script of a call of `bash`.
    pub(super) fn script(&self) -> Option<&Script> {
        self.script.as_ref()
    }

    /// Whether a rule that forbids or asks is about this call.
    pub(super) fn touched_by(&self, rule: &Rule) -> bool {
        rule.names(self.tool)
            && match &rule.pattern {
                Pattern::Any => true,
                Pattern::Path(pattern) => self.place.as_ref().is_some_and(|place| pattern.touches(place)),
                Pattern::Command(pattern) => self
                    .script
                    .as_ref()
                    .is_some_and(|script| script.seen.iter().any(|command| pattern.matches(command, Reading::Wide))),
                Pattern::Exact(text) => self.script.as_ref().is_some_and(|script| script.holds(text)),
            }
    }

    /// The rules out of `rules` that together allow this call; `None` when they do not.
    pub(super) fn covered_by<'r>(&self, rules: &[&'r GivenRule]) -> Option<Vec<&'r GivenRule>> {
        let rules: Vec<&'r GivenRule> = rules.iter().copied().filter(|given| given.rule.names(self.tool)).collect();
        let alone = |given: &&&GivenRule| match &given.rule.pattern {
            Pattern::Any => true,
            Pattern::Path(pattern) => self.place.as_ref().is_some_and(|place| pattern.covers(place)),
            Pattern::Exact(text) => !self.elsewhere && self.script.as_ref().is_some_and(|script| script.text == *text),
            Pattern::Command(_) => false,
        };
        if let Some(given) = rules.iter().find(alone) {
            return Some(vec![given]);
        }
        let commands = self.script.as_ref()?.plain.as_ref()?;
        let mut used: Vec<&'r GivenRule> = Vec::new();
        let mut moved = self.elsewhere;
        for command in commands {
            // What `./run` is depends on the folder, and rules are made for the workspace itself.
            if moved && command.words.first().is_some_and(|word| word.text.contains('/') && !word.text.starts_with('/'))
            {
                return None;
            }
            moved |= matches!(command.program(), "cd" | "pushd" | "popd");
            let given = rules.iter().find(|given| covers(&given.rule, command))?;
            if !used.iter().any(|known| std::ptr::eq(*known, *given)) {
                used.push(given);
            }
        }
        Some(used)
    }
}

fn covers(rule: &Rule, command: &PlainCommand) -> bool {
    match &rule.pattern {
        Pattern::Command(pattern) => pattern.matches(&command.subject(), Reading::Narrow),
        Pattern::Any | Pattern::Exact(_) | Pattern::Path(_) => false,
    }
}
