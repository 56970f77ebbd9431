//! What `when` captured, and filling it into the texts of a step.

use regex::{Captures, Regex};
use serde_json::Value;

/// The groups of `when` that took part in its match, by number and by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Captured(Vec<(String, String)>);

impl Captured {
    pub(super) fn of(when: &Regex, captures: &Captures<'_>) -> Self {
        let text = |group: Option<regex::Match<'_>>| group.map(|group| group.as_str().to_owned());
        let numbered = (1..captures.len()).filter_map(|n| Some((n.to_string(), text(captures.get(n))?)));
        let named = when.capture_names().flatten().filter_map(|n| Some((n.to_owned(), text(captures.name(n))?)));
        Self(numbered.chain(named).collect())
    }

    /// `template` with `$1`, `${1}` and `${name}` replaced by what was captured. A `$` that names no captured group
    /// stays (so that shell commands survive), and `$$` before a group's name stands for one `$`.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some((_, length)) = rest.strip_prefix('$').and_then(|rest| self.group(rest)) {
                out.push_str(&rest[1..=length]);
                rest = &rest[1 + length..];
            } else if let Some((value, length)) = self.group(rest) {
                out.push_str(value);
                rest = &rest[length..];
            } else {
                out.push('$');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        out
    }

    /// The captured text that the reference at the start of `text` names, and the reference's length in bytes.
    fn group(&self, text: &str) -> Option<(&str, usize)> {
        let after = text.strip_prefix('$')?;
        let (name, length) = match after.strip_prefix('{') {
            Some(braced) => braced.find('}').map(|end| (&braced[..end], end + 3))?,
            None => {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                (&after[..digits], digits + 1)
            }
        };
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some((value, length))
    }

    /// [`fill`](Self::fill) for every string in `value`, keys excepted.
    pub(super) fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_json(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), self.fill_json(value))).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}
