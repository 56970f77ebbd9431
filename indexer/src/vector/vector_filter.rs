//! A filter as an expression that the store applies before it compares vectors.
//!
//! Values stand in the expression as typed literals: nothing is ever put together as a text of SQL, so a hostile path or
//! tool name is only ever compared. What the store cannot say, patterns with wildcards, is narrowed down there and decided
//! here, row by row; the outcome is exactly that of [`Filter::accepts`].

use super::vector_row::{kind_code, stored_path};
use crate::document::DocumentKind;
use crate::query::{Filter, PathPattern};
use lancedb::expr::{DfExpr, col, contains, is_in, lit, lower};

/// More patterns than this are not put into an expression, whose depth is limited: they are decided row by row.
const MAX_PATTERNS: usize = 24;

/// A filter, ready for the store.
#[derive(Debug, Clone, Default)]
pub(super) struct StoreFilter {
    /// What the store decides; `None` when everything passes.
    pub(super) expression: Option<DfExpr>,
    /// What is left to decide for each row.
    pub(super) rest: PathRest,
}

/// What a row's paths still have to meet.
#[derive(Debug, Clone, Default)]
pub(super) struct PathRest {
    groups: Vec<Vec<PathPattern>>,
    not: Vec<PathPattern>,
}

impl PathRest {
    /// Whether nothing is left to decide.
    pub(super) const fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.not.is_empty()
    }

    /// Whether a row with these paths, as they are stored, passes.
    pub(super) fn accepts(&self, stored: &str) -> bool {
        let fits = |pattern: &PathPattern| stored.lines().any(|path| pattern.fits(path.trim_matches('/')));
        self.groups.iter().all(|group| group.iter().any(fits)) && !self.not.iter().any(fits)
    }
}

/// The filter as the store takes it; `None` when nothing can pass.
pub(super) fn store_filter(filter: &Filter) -> Option<StoreFilter> {
    let kinds: Vec<DocumentKind> = DocumentKind::ALL.into_iter().filter(|kind| filter.accepts_kind(*kind)).collect();
    if kinds.is_empty() {
        return None;
    }
    let mut all = Vec::new();
    if kinds.len() < DocumentKind::ALL.len() {
        all.push(is_in(col("kind"), kinds.into_iter().map(|kind| lit(kind_code(kind))).collect()));
    }
    let tools = |tools: &[String]| tools.iter().map(|tool| lit(tool.to_ascii_lowercase())).collect();
    if !filter.tools.is_empty() {
        all.push(is_in(col("tool"), tools(&filter.tools)));
    }
    if !filter.not_tools.is_empty() {
        // No tool is not that tool; compared, it would be neither this nor that.
        all.push(col("tool").is_null().or(!is_in(col("tool"), tools(&filter.not_tools))));
    }
    if !filter.sessions.is_empty() {
        all.push(in_session(&filter.sessions).unwrap_or_else(|| lit(false)));
    }
    all.extend(in_session(&filter.not_sessions).map(std::ops::Not::not));
    all.extend(filter.workspace.as_ref().map(|workspace| col("workspace").eq(lit(workspace.clone()))));
    all.extend(filter.since_ms.map(|since| col("at_ms").gt_eq(lit(since))));
    all.extend(filter.until_ms.map(|until| col("at_ms").lt(lit(until))));
    let exits = |codes: &[i64]| codes.iter().map(|code| lit(*code)).collect();
    if !filter.exit.is_empty() {
        all.push(is_in(col("exit"), exits(&filter.exit)));
    }
    if !filter.not_exit.is_empty() {
        all.push(col("exit").is_not_null().and(!is_in(col("exit"), exits(&filter.not_exit))));
    }
    let mut rest = PathRest::default();
    for group in filter.path_groups() {
        let (expression, is_exact) = about(group);
        all.extend(expression);
        if !is_exact {
            rest.groups.push(group.iter().map(|pattern| PathPattern::new(pattern)).collect());
        }
    }
    let (runs, globs): (Vec<_>, Vec<_>) = filter.not_paths.iter().cloned().partition(|pattern| !has_wildcard(pattern));
    if runs.len() <= MAX_PATTERNS {
        all.extend(runs.iter().filter_map(|run| has_run(run)).map(std::ops::Not::not));
    } else {
        rest.not.extend(runs.iter().map(|pattern| PathPattern::new(pattern)));
    }
    rest.not.extend(globs.iter().map(|pattern| PathPattern::new(pattern)));
    Some(StoreFilter { expression: all.into_iter().reduce(DfExpr::and), rest })
}

/// Rows of the events from `first` to `last`.
pub(super) fn between(first: u64, last: u64) -> DfExpr {
    col("position").gt_eq(lit(first)).and(col("position").lt_eq(lit(last)))
}

/// Rows that have one of these texts in a column.
pub(super) fn having(column: &str, values: &[String]) -> DfExpr {
    is_in(col(column), values.iter().map(|value| lit(value.clone())).collect())
}

/// Rows of sessions that are meant by one of these names: a stream, or how a session's id begins.
fn in_session(names: &[String]) -> Option<DfExpr> {
    let names: Vec<String> =
        names.iter().filter(|name| !name.is_empty()).map(|name| name.to_ascii_lowercase()).collect();
    let streams =
        (!names.is_empty()).then(|| is_in(lower(col("stream")), names.iter().map(|name| lit(name.clone())).collect()));
    let begins = |name: &String| contains(col("session"), lit(format!("\n{name}")));
    streams.into_iter().chain(names.iter().map(begins)).reduce(DfExpr::or)
}

/// Rows about a path that meets one of these patterns, and whether the expression says exactly that.
fn about(patterns: &[String]) -> (Option<DfExpr>, bool) {
    if patterns.len() > MAX_PATTERNS {
        return (None, false);
    }
    let mut any = Vec::new();
    for pattern in patterns {
        if has_wildcard(pattern) {
            let literals = PathPattern::literal_components(pattern).filter_map(has_run);
            // Without a part that every such path has, every row is a candidate.
            let Some(all) = literals.reduce(DfExpr::and) else { return (None, false) };
            any.push(all);
        } else {
            any.extend(has_run(pattern));
        }
    }
    let is_exact = !patterns.iter().any(|pattern| has_wildcard(pattern));
    (Some(any.into_iter().reduce(DfExpr::or).unwrap_or_else(|| lit(false))), is_exact)
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Rows with a path that has these components one after the other; `None` when there are none, which no path has.
fn has_run(run: &str) -> Option<DfExpr> {
    let stored = stored_path(run);
    (stored != "//" && stored != "/").then(|| contains(col("paths"), lit(stored)))
}
