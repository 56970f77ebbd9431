//! Asking the indexes. Everything here blocks, and leaves out what fails, with a notice.

use crate::keyword::{KeywordError, KeywordHit, KeywordIndex};
use crate::query::{Filter, Within};
use crate::retrieve::candidate::Candidate;
use crate::retrieve::code_words::{CodeFit, CodeWords};
use crate::retrieve::fusion::{Ask, units};
use crate::retrieve::notice::Notice;
use crate::retrieve::ranking_query::RankingQuery;
use crate::retrieve::weights;
use crate::vector::VectorHit;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The place of the source with all sessions; all others are code.
pub(super) const SESSIONS: usize = 0;
/// How many documents are looked at for their words.
const WORD_HITS: usize = 200;
/// How many for the words of their paths and symbols.
const NAME_HITS: usize = 64;
/// How many of those about a file that the query names.
const MENTION_HITS: usize = 64;
/// How many of the session that asks, and of those it was forked from.
const LINEAGE_HITS: usize = 100;
/// The neighbours of how many documents are looked at.
const EXPANDED: usize = 64;
/// The last components of a named path by which its file is looked for.
const MENTION_COMPONENTS: usize = 2;

/// What is asked of each source.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) ranking: RankingQuery,
    pub(super) code: CodeWords,
    pub(super) filter: Filter,
    pub(super) ask: Ask,
}

/// A document that a keyword index has found, with its scores.
#[derive(Debug)]
struct Seen {
    hit: KeywordHit,
    keyword: f32,
    names: f32,
    code: CodeFit,
    nearness: f32,
}

/// What the sources have found; first their words are asked, then vectors are added, then documents are read.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    seen: BTreeMap<(usize, String), Seen>,
    /// What went wrong.
    pub(super) notices: Vec<Notice>,
}

impl Gathered {
    /// Asks one source for words.
    pub(super) fn ask(&mut self, source: usize, keyword: &KeywordIndex, question: &Question) {
        if let Err(error) = self.try_ask(source, keyword, question) {
            self.notices.push(notice_of("one of the keyword indexes", &error));
        }
    }

    fn try_ask(&mut self, source: usize, keyword: &KeywordIndex, question: &Question) -> Result<(), KeywordError> {
        let (query, filter) = (&question.ranking.query, &question.filter);
        // A word that is rare among many documents scores higher than one that is rare among few.
        let scale = 1.0 / ((keyword.count()? as f32) + 2.0).ln();
        for hit in keyword.search(query, filter, WORD_HITS)? {
            self.add(source, hit, |seen, score| seen.keyword = score * scale);
        }
        if !question.ranking.is_strict() {
            for hit in keyword.search_names(query, filter, NAME_HITS)? {
                self.add(source, hit, |seen, score| seen.names = score * scale);
            }
        }
        for (narrower, limit) in narrower_filters(question) {
            for hit in keyword.search(query, &narrower, limit)? {
                self.add(source, hit, |seen, score| seen.keyword = score * scale);
            }
        }
        if source != SESSIONS {
            for (hit, fit) in question.code.fits(keyword, filter)? {
                self.add(source, hit, |seen, _| seen.code = fit);
            }
        }
        Ok(())
    }

    fn add(&mut self, source: usize, hit: KeywordHit, set: impl FnOnce(&mut Seen, f32)) {
        let score = hit.score;
        let seen = self.seen.entry((source, hit.key.clone()));
        set(seen.or_insert(Seen { hit, keyword: 0.0, names: 0.0, code: CodeFit::default(), nearness: 0.0 }), score);
    }

    /// Adds what is near in meaning, with how near it is. What only its vector speaks for must be near indeed.
    pub(super) fn add_near(
        &mut self,
        source: usize,
        keyword: &KeywordIndex,
        near: &[(VectorHit, f32)],
        question: &Question,
    ) {
        for (hit, nearness) in near {
            if let Some(seen) = self.seen.get_mut(&(source, hit.key.clone())) {
                seen.nearness = *nearness;
            } else if hit.similarity >= weights::FOUND_BY_VECTOR && !question.ranking.is_strict() {
                match keyword.hit_by_key(&hit.key) {
                    Ok(Some(hit)) => self.add(source, hit, |seen, _| seen.nearness = *nearness),
                    // The vectors are behind: it was deleted since.
                    Ok(None) => {}
                    Err(error) => return self.notices.push(notice_of("one of the keyword indexes", &error)),
                }
            }
        }
    }

    /// Reads the documents, and those around the best of them.
    pub(super) fn candidates(&mut self, sources: &[(usize, KeywordIndex)], question: &Question) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (source, keyword) in sources {
            let own: Vec<&Seen> = self.seen.iter().filter(|((of, _), _)| of == source).map(|(_, seen)| seen).collect();
            let addresses: Vec<_> = own.iter().map(|seen| seen.hit.address.clone()).collect();
            match keyword.documents(&addresses) {
                Ok(documents) => candidates.extend(own.iter().zip(documents).map(|(seen, document)| Candidate {
                    source: *source,
                    document,
                    keyword: seen.keyword,
                    names: seen.names,
                    code: seen.code,
                    nearness: seen.nearness,
                })),
                Err(error) => self.notices.push(notice_of("one of the keyword indexes", &error)),
            }
        }
        // Vectors may be of what a document said before.
        candidates.retain(|candidate| question.filter.accepts(&candidate.document));
        if !question.ranking.is_strict() {
            for (source, keyword) in sources {
                let result = add_neighbours(&mut candidates, *source, keyword, question);
                self.notices.extend(result.err().map(|error| notice_of("what stands around the hits", &error)));
            }
        }
        candidates
    }
}

/// Searches that find what the best of all documents may leave out: files that are named, and the own past.
fn narrower_filters(question: &Question) -> Vec<(Filter, usize)> {
    let mut narrower = Vec::new();
    let patterns = question.ask.paths.patterns(MENTION_COMPONENTS);
    if !patterns.is_empty() {
        let mut filter = question.filter.clone();
        filter.and_paths.push(patterns);
        narrower.push((filter, MENTION_HITS));
    }
    let lineage: Vec<String> = question.ask.own.iter().chain(&question.ask.lineage).cloned().collect();
    if !lineage.is_empty() && question.filter.sessions.is_empty() {
        narrower.push((Filter { sessions: lineage, ..question.filter.clone() }, LINEAGE_HITS));
    }
    narrower
}

/// Adds the documents on both sides of the best ones: what answers a question need not repeat its words.
fn add_neighbours(
    candidates: &mut Vec<Candidate>,
    source: usize,
    keyword: &KeywordIndex,
    question: &Question,
) -> Result<(), KeywordError> {
    let mut found = Vec::new();
    for (stream, ordinals) in missing_neighbours(candidates, source, question.ask.share_read()) {
        found.extend(keyword.by_ordinals(&stream, &ordinals)?);
    }
    found.retain(|document| question.filter.accepts(document));
    candidates.extend(found.into_iter().map(|document| Candidate { source, document, ..Candidate::default() }));
    Ok(())
}

/// The places beside the best candidates of a source that no candidate has.
fn missing_neighbours(candidates: &[Candidate], source: usize, share_read: f32) -> BTreeMap<String, BTreeSet<u64>> {
    let scored = candidates.iter().zip(units(candidates));
    let own = scored.filter(|(candidate, _)| candidate.source == source && candidate.is_said());
    let mut best: Vec<(f32, &Candidate)> =
        own.map(|(candidate, unit)| (unit + weights::VECTOR * share_read * candidate.nearness, candidate)).collect();
    best.sort_by(order);
    let mut missing: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for (_, candidate) in best.iter().take(EXPANDED).filter(|(score, _)| *score > 0.0) {
        let ordinal = candidate.document.ordinal;
        let reach = weights::WINDOW.len() as u64;
        let places = missing.entry(candidate.document.stream.clone()).or_default();
        places.extend(ordinal.saturating_sub(reach)..=ordinal.saturating_add(reach));
    }
    let mut known: HashMap<&str, Vec<u64>> = HashMap::new();
    for candidate in candidates.iter().filter(|candidate| candidate.source == source && candidate.has_neighbours()) {
        known.entry(&candidate.document.stream).or_default().push(candidate.document.ordinal);
    }
    for (stream, places) in &mut missing {
        for ordinal in known.get(stream.as_str()).into_iter().flatten() {
            places.remove(ordinal);
        }
    }
    missing.retain(|_, places| !places.is_empty());
    missing
}

fn order(one: &(f32, &Candidate), other: &(f32, &Candidate)) -> Ordering {
    other.0.total_cmp(&one.0).then_with(|| one.1.document.key.cmp(&other.1.document.key))
}

/// Whether a source of sessions, or of code, can have anything that the filter lets through.
pub(super) fn can_have(filter: &Filter, code: bool) -> bool {
    let parts: &[Within] = if code { &[Within::Code] } else { &[Within::Events, Within::Summaries] };
    parts.iter().any(|part| filter.accepts_within(*part))
}

/// What a failure of a keyword index means for the answer.
pub(super) fn notice_of(part: &'static str, error: &KeywordError) -> Notice {
    match error {
        KeywordError::Damaged { folder, .. } | KeywordError::OtherVersion { folder, .. } => {
            Notice::Rebuild { folder: folder.clone(), problem: error.to_string() }
        }
        KeywordError::Locked { .. } | KeywordError::Io { .. } | KeywordError::Engine { .. } => {
            Notice::Failed { part, problem: error.to_string() }
        }
    }
}
