//! Which values of a column of names get through, for one segment.

use crate::keyword::schema::column;
use crate::query::{Filter, PathPattern};
use std::collections::HashMap;
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, SegmentReader, TantivyError};

/// The most values that can drive a search one by one.
const DRIVING_VALUES: usize = 64;

/// Which values of a column get through, found out once for each value.
pub(super) struct ValueChoice {
    ords: Option<Column<u64>>,
    allowed: Vec<bool>,
    /// Whether documents without a value get through.
    absent: bool,
    /// The allowed values, if they are few and a value is needed.
    pub(super) driving: Option<Vec<String>>,
}

impl ValueChoice {
    pub(super) fn new(
        segment: &SegmentReader,
        name: &str,
        wanted: impl Fn(Option<&str>) -> bool,
    ) -> Result<Self, TantivyError> {
        let absent = wanted(None);
        let (mut allowed, mut driving) = (Vec::new(), Vec::new());
        let column = segment.fast_fields().str(name)?;
        if let Some(column) = &column {
            let mut values = column.dictionary().stream()?;
            while values.advance() {
                let value = std::str::from_utf8(values.key()).unwrap_or_default();
                let accepted = wanted(Some(value));
                allowed.push(accepted);
                if accepted && driving.len() <= DRIVING_VALUES {
                    driving.push(value.to_owned());
                }
            }
        }
        let driving = (!absent && driving.len() <= DRIVING_VALUES).then_some(driving);
        Ok(Self { ords: column.map(|column| column.ords().clone()), allowed, absent, driving })
    }

    /// Whether nothing gets through.
    pub(super) fn is_hopeless(&self) -> bool {
        !self.absent && !self.allowed.contains(&true)
    }

    pub(super) fn accepts(&self, doc: DocId) -> bool {
        let ord = self.ords.as_ref().and_then(|ords| ords.first(doc));
        ord.map_or(self.absent, |ord| {
            usize::try_from(ord).ok().and_then(|ord| self.allowed.get(ord)).is_some_and(|allowed| *allowed)
        })
    }
}

/// Which paths get through. A path is looked at only when a document has it, and then once.
pub(super) struct PathChoice {
    column: Option<StrColumn>,
    groups: Vec<Vec<PathPattern>>,
    unwanted: Vec<PathPattern>,
    known: HashMap<u64, PathVerdict>,
}

/// Which groups of patterns a path meets, and whether it is excluded.
#[derive(Clone, Default)]
struct PathVerdict {
    met: Vec<bool>,
    excluded: bool,
}

impl PathChoice {
    pub(super) fn new(filter: &Filter, segment: &SegmentReader) -> Result<Option<Self>, TantivyError> {
        let patterns = |group: &[String]| group.iter().map(|pattern| PathPattern::new(pattern)).collect::<Vec<_>>();
        let groups: Vec<Vec<PathPattern>> = filter.path_groups().map(patterns).collect();
        let unwanted = patterns(&filter.not_paths);
        if groups.is_empty() && unwanted.is_empty() {
            return Ok(None);
        }
        let column = segment.fast_fields().str(column::PATH)?;
        Ok(Some(Self { column, groups, unwanted, known: HashMap::new() }))
    }

    pub(super) fn accepts(&mut self, doc: DocId) -> bool {
        let mut met = vec![false; self.groups.len()];
        let ords: Vec<u64> = self.column.iter().flat_map(|column| column.term_ords(doc)).collect();
        for ord in ords {
            let verdict = self.verdict(ord);
            if verdict.excluded {
                return false;
            }
            met.iter_mut().zip(&verdict.met).for_each(|(met, now)| *met |= now);
        }
        !met.contains(&false)
    }

    fn verdict(&mut self, ord: u64) -> PathVerdict {
        if let Some(verdict) = self.known.get(&ord) {
            return verdict.clone();
        }
        let mut path = String::new();
        let readable = self.column.as_ref().is_some_and(|column| column.ord_to_str(ord, &mut path).unwrap_or(false));
        let fits = |patterns: &[PathPattern]| readable && patterns.iter().any(|pattern| pattern.fits(&path));
        let met = self.groups.iter().map(|group| fits(group)).collect();
        let verdict = PathVerdict { met, excluded: fits(&self.unwanted) };
        self.known.insert(ord, verdict.clone());
        verdict
    }
}
