//! A query in the words of the index.

use crate::keyword::analyzer::analyze;
use crate::keyword::schema::Fields;
use crate::query::{Clause, Query};
use std::collections::HashMap;
use tantivy::query::{BoostQuery, Occur, PhraseQuery, Query as EngineQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, TantivyError, Term};

/// The most words that rank; the rarest are taken. Of a long prompt the others tell hardly anything apart: with 64, recorded
/// sessions find no more, and a search of a million documents takes three times as long.
const RANKING_TERMS: usize = 24;
/// What a part of a name counts beside the whole name.
const PART_WEIGHT: f32 = 0.6;
/// How much a word that is repeated can count at most.
const REPEATED: f32 = 3.0;
/// What a match in a symbol counts beside one in a path.
const SYMBOL_WEIGHT: f32 = 1.5;

/// Where words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In what the document says.
    Text,
    /// In its paths and its symbol.
    Names,
}

/// One clause for the engine, and whether it is required or ranks.
pub(super) type EngineClause = (Occur, Box<dyn EngineQuery>);

/// The words of a query.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// Words that rank, with what they count, in the order in which they were written.
    ranking: Vec<(String, f32)>,
    required: Vec<Vec<(usize, String)>>,
    excluded: Vec<Vec<(usize, String)>>,
}

impl Terms {
    pub(super) fn of(query: &Query) -> Self {
        let mut terms = Self::default();
        let mut places = HashMap::new();
        for clause in &query.clauses {
            match (clause.negated, clause.phrase) {
                (true, _) => terms.excluded.extend(phrase(clause)),
                (false, true) => terms.required.extend(phrase(clause)),
                (false, false) => terms.rank(clause, &mut places),
            }
        }
        terms
    }

    /// Whether nothing ranks and nothing is required.
    pub(super) const fn is_filter_only(&self) -> bool {
        self.ranking.is_empty() && self.required.is_empty()
    }

    fn rank(&mut self, clause: &Clause, places: &mut HashMap<String, usize>) {
        let mut tokens = Vec::new();
        analyze(&clause.text, |token| {
            tokens.push(token);
            true
        });
        let compound = tokens.iter().any(|token| token.whole);
        for token in tokens {
            let weight = if compound && !token.whole { PART_WEIGHT } else { 1.0 };
            match places.get(&token.text) {
                Some(place) => {
                    if let Some((_, known)) = self.ranking.get_mut(*place) {
                        *known = (*known + weight).min(REPEATED);
                    }
                }
                None => {
                    places.insert(token.text.clone(), self.ranking.len());
                    self.ranking.push((token.text, weight));
                }
            }
        }
    }

    /// The clauses for the engine; empty if nothing can be found.
    pub(super) fn clauses(
        &self,
        place: Place,
        fields: &Fields,
        searcher: &Searcher,
    ) -> Result<Vec<EngineClause>, TantivyError> {
        let mut clauses: Vec<EngineClause> = Vec::new();
        match place {
            Place::Text => {
                for (term, weight, _) in self.rarest(fields.text, searcher)? {
                    clauses.push((Occur::Should, boosted(term, weight)));
                }
                clauses.extend(self.required.iter().map(|words| (Occur::Must, sequence(words, fields.text))));
            }
            Place::Names => {
                for (field, factor) in [(fields.path_words, 1.0), (fields.symbol, SYMBOL_WEIGHT)] {
                    for (term, weight, _) in self.rarest(field, searcher)? {
                        clauses.push((Occur::Should, boosted(term, weight * factor)));
                    }
                }
            }
        }
        Ok(clauses)
    }

    /// What must not be in the text.
    pub(super) fn exclusions(&self, fields: &Fields) -> Vec<Box<dyn EngineQuery>> {
        self.excluded.iter().map(|words| sequence(words, fields.text)).collect()
    }

    /// The ranking terms that occur at all, at most [`RANKING_TERMS`].
    fn rarest(&self, field: Field, searcher: &Searcher) -> Result<Vec<(Term, f32, u64)>, TantivyError> {
        let mut found = Vec::new();
        for (word, weight) in &self.ranking {
            let term = Term::from_field_text(field, word);
            let documents = searcher.doc_freq(&term)?;
            if documents > 0 {
                found.push((term, *weight, documents));
            }
        }
        if found.len() > RANKING_TERMS {
            found.sort_by_key(|(_, _, documents)| *documents);
            found.truncate(RANKING_TERMS);
        }
        Ok(found)
    }
}

/// The parts of a clause, with their distances.
fn phrase(clause: &Clause) -> Option<Vec<(usize, String)>> {
    let mut words = Vec::new();
    analyze(&clause.text, |token| {
        if !token.whole {
            words.push((token.position, token.text));
        }
        true
    });
    (!words.is_empty()).then_some(words)
}

fn sequence(words: &[(usize, String)], field: Field) -> Box<dyn EngineQuery> {
    match words {
        [(_, word)] => Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs)),
        words => {
            let terms = words.iter().map(|(place, word)| (*place, Term::from_field_text(field, word)));
            Box::new(PhraseQuery::new_with_offset(terms.collect()))
        }
    }
}

fn boosted(term: Term, weight: f32) -> Box<dyn EngineQuery> {
    let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
    if (weight - 1.0).abs() < f32::EPSILON {
        Box::new(query)
    } else {
        Box::new(BoostQuery::new(Box::new(query), weight))
    }
}
