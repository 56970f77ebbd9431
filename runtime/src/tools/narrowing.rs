//! Fields that were given apart from a query, such as `--since 2d`: read just as `since:2d` in a query would be, but what a
//! query forgives is an error here.

use retrace_events::Timestamp;
use retrace_indexer::{Filter, Query};

/// The longest value, in bytes; a query would read only the beginning of a longer one.
const MAX_BYTES: usize = 500;

/// The filter that `fields` (name and value) make together at `now`. Values of one name are alternatives.
///
/// # Errors
/// In words, with a hint behind a line break, when a value cannot be read.
pub(crate) fn filter<'a>(
    fields: impl IntoIterator<Item = (&'a str, &'a str)>,
    now: Timestamp,
) -> Result<Filter, String> {
    let mut together = String::new();
    for (name, value) in fields {
        let clause = clause(name, value)?;
        let read = Query::parse(&clause, now);
        if let Some(note) = read.notes.first() {
            return Err(refused(note));
        }
        if !read.clauses.is_empty() || read.filter == Filter::default() {
            return Err(format!("invalid filter: {name} `{}`", shown(value)));
        }
        together.push_str(&clause);
        together.push(' ');
    }
    Ok(Query::parse(&together, now).filter)
}

/// The field as it is written in a query.
fn clause(name: &str, value: &str) -> Result<String, String> {
    if value.trim().is_empty() {
        return Err(format!("invalid filter: {name} has no value"));
    }
    if value.len() > MAX_BYTES {
        return Err(format!("invalid filter: {name} has {} bytes, at most {MAX_BYTES}", value.len()));
    }
    if value.contains('"') {
        return Err(format!("invalid filter: {name} `{}` has a quotation mark in it", shown(value)));
    }
    Ok(format!("{name}:\"{value}\""))
}

/// What a query says of a value that it leaves out, for somebody who must give another one.
fn refused(note: &str) -> String {
    format!("invalid filter: {}", note.replace(" is left out", "").replacen("; hint: ", "\nhint: ", 1))
}

fn shown(value: &str) -> String {
    super::output::one_line(value, 80)
}
