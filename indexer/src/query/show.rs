//! A query as text that is read as the same query again.

use crate::document::DocumentKind;
use crate::query::Query;
use crate::query::clause::Clause;
use crate::query::filter::{Filter, Within};
use std::fmt;

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clauses: Vec<String> = self.clauses.iter().map(Clause::to_string).chain(filters(&self.filter)).collect();
        f.write_str(&clauses.join(" "))
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negated { "-" } else { "" };
        if self.phrase { write!(f, "{sign}\"{}\"", self.text) } else { write!(f, "{sign}{}", self.text) }
    }
}

/// What of a filter can be said in a query, one clause an entry. Groups of paths from a merge come one after the other, the
/// workspace cannot be said.
fn filters(filter: &Filter) -> Vec<String> {
    let mut lines = Lines(Vec::new());
    lines.add("kind", &filter.kinds, &filter.not_kinds, |kind: &DocumentKind| kind.name().to_owned());
    lines.add("in", &filter.within, &filter.not_within, |part: &Within| part.name().to_owned());
    lines.add("tool", &filter.tools, &filter.not_tools, Clone::clone);
    lines.add("path", &filter.paths, &filter.not_paths, Clone::clone);
    for group in &filter.and_paths {
        lines.add("path", group, &[], Clone::clone);
    }
    lines.add("session", &filter.sessions, &filter.not_sessions, Clone::clone);
    let moment = |at_ms: &i64| {
        jiff::Timestamp::from_millisecond(*at_ms).map_or_else(|_| at_ms.to_string(), |moment| format!("{moment:.3}"))
    };
    lines.add("since", filter.since_ms.as_slice(), &[], moment);
    lines.add("until", filter.until_ms.as_slice(), &[], moment);
    lines.add("exit", &filter.exit, &filter.not_exit, i64::to_string);
    lines.0
}

struct Lines(Vec<String>);

impl Lines {
    fn add<T>(&mut self, field: &str, wanted: &[T], unwanted: &[T], show: impl Fn(&T) -> String) {
        for (sign, value) in wanted.iter().map(|value| ("", value)).chain(unwanted.iter().map(|value| ("-", value))) {
            let value = show(value);
            let quote = if value.contains(char::is_whitespace) { "\"" } else { "" };
            self.0.push(format!("{sign}{field}:{quote}{value}{quote}"));
        }
    }
}
