//! A filter, made ready for one segment: every question is answered from columns.

use crate::document::DocumentKind;
use crate::keyword::choices::{PathChoice, ValueChoice};
use crate::keyword::schema::column;
use crate::query::Filter;
use tantivy::columnar::Column;
use tantivy::{DocId, SegmentReader, TantivyError};

/// Which documents of a segment get through.
pub(super) struct SegmentFilter {
    kind: Column<u64>,
    kinds: u64,
    pub(super) time: Option<TimeRange>,
    exit: Option<ExitChoice>,
    pub(super) streams: Option<ValueChoice>,
    pub(super) tools: Option<ValueChoice>,
    workspace: Option<ValueChoice>,
    paths: Option<PathChoice>,
}

/// The wanted stretch of time, both ends inclusive.
pub(super) struct TimeRange {
    pub(super) column: Column<i64>,
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
}

impl SegmentFilter {
    /// The filter for a segment; `None` if nothing in it gets through.
    pub(super) fn new(filter: &Filter, segment: &SegmentReader) -> Result<Option<Self>, TantivyError> {
        let Some(kind) = segment.fast_fields().column_opt::<u64>(column::KIND)? else { return Ok(None) };
        let wanted = DocumentKind::ALL.into_iter().filter(|kind| filter.accepts_kind(*kind));
        let kinds = wanted.fold(0, |kinds, kind| kinds | 1 << kind.code());
        let time = TimeRange::new(filter, segment)?;
        let any_session = filter.sessions.is_empty() && filter.not_sessions.is_empty();
        let streams = choice(any_session, segment, column::STREAM, |name| filter.accepts_session(name.unwrap_or("")))?;
        let any_tool = filter.tools.is_empty() && filter.not_tools.is_empty();
        let tools = choice(any_tool, segment, column::TOOL, |name| filter.accepts_tool(name))?;
        let workspace = choice(filter.workspace.is_none(), segment, column::WORKSPACE, |name| {
            filter.workspace.as_deref() == Some(name.unwrap_or(""))
        })?;
        let hopeless = [&streams, &tools, &workspace].into_iter().flatten().any(ValueChoice::is_hopeless);
        if kinds == 0 || hopeless || time.as_ref().is_some_and(TimeRange::is_hopeless) {
            return Ok(None);
        }
        let exit = ExitChoice::new(filter, segment)?;
        let paths = PathChoice::new(filter, segment)?;
        Ok(Some(Self { kind, kinds, time, exit, streams, tools, workspace, paths }))
    }

    /// Whether a document gets through.
    pub(super) fn accepts(&mut self, doc: DocId) -> bool {
        self.kind.first(doc).is_some_and(|kind| kind < 64 && self.kinds >> kind & 1 == 1)
            && self.time.as_ref().is_none_or(|time| time.accepts(doc))
            && [&self.streams, &self.tools, &self.workspace].into_iter().flatten().all(|choice| choice.accepts(doc))
            && self.exit.as_ref().is_none_or(|choice| choice.accepts(doc))
            && self.paths.as_mut().is_none_or(|choice| choice.accepts(doc))
    }

    /// The kinds that get through, if not all do.
    pub(super) fn kinds(&self) -> Option<Vec<DocumentKind>> {
        let kinds = DocumentKind::ALL.into_iter().filter(|kind| self.kinds >> kind.code() & 1 == 1);
        let kinds: Vec<DocumentKind> = kinds.collect();
        (kinds.len() < DocumentKind::ALL.len()).then_some(kinds)
    }
}

impl TimeRange {
    fn new(filter: &Filter, segment: &SegmentReader) -> Result<Option<Self>, TantivyError> {
        if filter.since_ms.is_none() && filter.until_ms.is_none() {
            return Ok(None);
        }
        let from_ms = filter.since_ms.unwrap_or(i64::MIN);
        // Nothing is before the first moment there is: then the range is empty.
        let to_ms = filter.until_ms.map_or(Some(i64::MAX), |until_ms| until_ms.checked_sub(1));
        let column = segment.fast_fields().column_opt::<i64>(column::AT_MS)?;
        let column = column.unwrap_or_else(|| Column::build_empty_column(segment.max_doc()));
        Ok(Some(to_ms.map_or_else(
            || Self { column: column.clone(), from_ms: 1, to_ms: 0 },
            |to_ms| Self { column: column.clone(), from_ms, to_ms },
        )))
    }

    fn is_hopeless(&self) -> bool {
        self.from_ms > self.to_ms || self.from_ms > self.column.max_value() || self.to_ms < self.column.min_value()
    }

    fn accepts(&self, doc: DocId) -> bool {
        self.column.first(doc).is_some_and(|at_ms| (self.from_ms..=self.to_ms).contains(&at_ms))
    }
}

/// Which exit codes get through.
struct ExitChoice {
    column: Option<Column<i64>>,
    filter: Filter,
}

impl ExitChoice {
    fn new(filter: &Filter, segment: &SegmentReader) -> Result<Option<Self>, TantivyError> {
        if filter.exit.is_empty() && filter.not_exit.is_empty() {
            return Ok(None);
        }
        let column = segment.fast_fields().column_opt::<i64>(column::EXIT)?;
        let filter = Filter { exit: filter.exit.clone(), not_exit: filter.not_exit.clone(), ..Filter::default() };
        Ok(Some(Self { column, filter }))
    }

    fn accepts(&self, doc: DocId) -> bool {
        self.filter.accepts_exit(self.column.as_ref().and_then(|column| column.first(doc)))
    }
}

fn choice(
    any: bool,
    segment: &SegmentReader,
    name: &str,
    wanted: impl Fn(Option<&str>) -> bool,
) -> Result<Option<ValueChoice>, TantivyError> {
    if any { Ok(None) } else { ValueChoice::new(segment, name, wanted).map(Some) }
}
