//! The one function: asks, scores, selects.

use crate::document::Document;
use crate::query::{Filter, Snippet};
use crate::retrieve::candidate::Candidate;
use crate::retrieve::code_files::weigh_code;
use crate::retrieve::code_words::CodeWords;
use crate::retrieve::dates::Dates;
use crate::retrieve::fusion::{Ask, scores};
use crate::retrieve::gather::{Gathered, Question, SESSIONS, can_have, notice_of};
use crate::retrieve::hit::{Found, Hit, HitSource};
use crate::retrieve::named_paths::NamedPaths;
use crate::retrieve::near::{Near, near};
use crate::retrieve::notice::Notice;
use crate::retrieve::passage::{passage, tokens};
use crate::retrieve::ranking_query::RankingQuery;
use crate::retrieve::request::SearchRequest;
use crate::retrieve::score_parts::ScoreParts;
use crate::retrieve::selection::{Choice, Verdict, select};
use crate::retrieve::source::{Source, Sources};
use std::time::Instant;

/// The most characters of a snippet.
const SNIPPET_CHARS: usize = 240;
/// With fewer tokens left than this, a budget is used up.
const CRUMB_TOKENS: usize = 20;

/// Finds what fits a request best. Blocks nothing: what blocks is done on threads that are made for it. Never fails: what is
/// missing or broken is said in the notices, and the rest answers.
pub async fn retrieve(sources: &Sources, request: &SearchRequest) -> Found {
    let mut found = Found::default();
    found.notices.extend(request.query.notes.iter().cloned().map(Notice::Query));
    let filter = request.filter.clone().merge(&request.query.filter);
    let says_nothing = request.query.clauses.is_empty() && filter == Filter::default();
    if request.limit == 0 || filter.nothing || says_nothing {
        return found;
    }
    let asked = asked(sources, &filter, &mut found.notices);
    if asked.is_empty() {
        return found;
    }
    let code = CodeWords::of(&request.query);
    let question = Question { ranking: RankingQuery::of(&request.query), code, ask: ask(request), filter };
    let question = Question { ask: Ask { words: question.ranking.words, ..question.ask }, ..question };
    if request.query.is_filter_only() {
        return blocking(request.clone(), found, move |request, found| newest(&asked, &question, request, found)).await;
    }
    let begun = Instant::now();
    let words = {
        let (asked, question) = (asked.clone(), question.clone());
        tokio::task::spawn_blocking(move || {
            let mut gathered = Gathered::default();
            asked.iter().for_each(|(place, source)| gathered.ask(*place, &source.keyword, &question));
            (gathered, begun.elapsed())
        })
    };
    let meaning = near(&asked, sources.embedder.clone(), request.query.wanted_text(), &question.filter);
    let (words, meaning) = tokio::join!(words, meaning);
    let asked_for = begun.elapsed();
    let (gathered, words_for) = match words {
        Ok(gathered) => gathered,
        Err(error) => {
            found.notices.push(Notice::Failed { part: "words", problem: error.to_string() });
            (Gathered::default(), asked_for)
        }
    };
    found.notices.extend(meaning.notices.iter().cloned());
    if request.explain {
        let (words, all) = (words_for.as_micros(), asked_for.as_micros());
        found.notices.push(Notice::Trace(format!("asked for words in {words} µs, for words and meaning in {all} µs")));
    }
    blocking(request.clone(), found, move |request, found| best(&asked, gathered, &meaning, &question, request, found))
        .await
}

/// The sources that can have something, each with its place. What is missing is said where it was wanted.
fn asked(sources: &Sources, filter: &Filter, notices: &mut Vec<Notice>) -> Vec<(usize, Source)> {
    let mut asked = Vec::new();
    if can_have(filter, false) {
        match &sources.sessions {
            Some(sessions) => asked.push((SESSIONS, sessions.clone())),
            None => notices.push(Notice::NoSessions),
        }
    }
    if can_have(filter, true) {
        if sources.code.is_empty() && !can_have(filter, false) {
            notices.push(Notice::NoCode);
        }
        asked.extend((SESSIONS + 1..).zip(sources.code.iter().cloned()));
    }
    asked
}

fn ask(request: &SearchRequest) -> Ask {
    let text = request.query.wanted_text();
    Ask {
        words: 0,
        dates: Dates::in_text(&text),
        paths: NamedPaths::in_text(&text),
        own: request.own.clone(),
        lineage: request.lineage.clone(),
        now_ms: request.now_ms,
    }
}

async fn blocking(
    request: SearchRequest,
    found: Found,
    work: impl FnOnce(&SearchRequest, Found) -> Found + Send + 'static,
) -> Found {
    let notices = found.notices.clone();
    match tokio::task::spawn_blocking(move || work(&request, found)).await {
        Ok(found) => found,
        Err(error) => {
            let mut failed = Found { notices, ..Found::default() };
            failed.notices.push(Notice::Failed { part: "all of the indexes", problem: error.to_string() });
            failed
        }
    }
}

/// Without words: what the filter lets through, newest first.
fn newest(asked: &[(usize, Source)], question: &Question, request: &SearchRequest, mut found: Found) -> Found {
    let mut candidates = Vec::new();
    for (place, source) in asked {
        let limit = request.limit.min(SearchRequest::MAX_HITS);
        let hits = source.keyword.search(&request.query, &question.filter, limit);
        let documents = hits
            .and_then(|hits| source.keyword.documents(&hits.into_iter().map(|hit| hit.address).collect::<Vec<_>>()));
        match documents {
            Ok(documents) => candidates.extend(documents.into_iter().map(|document| (*place, document))),
            Err(error) => found.notices.push(notice_of("one of the keyword indexes", &error)),
        }
    }
    candidates.sort_by(|(_, one), (_, other)| {
        let newest =
            other.at_ms.cmp(&one.at_ms).then(other.position.cmp(&one.position)).then(other.part.cmp(&one.part));
        newest.then_with(|| one.key.cmp(&other.key))
    });
    let candidates: Vec<Candidate> = candidates
        .into_iter()
        .map(|(source, document)| Candidate { source, document, ..Candidate::default() })
        .collect();
    let parts: Vec<ScoreParts> = scores(&candidates, &question.ask)
        .into_iter()
        .map(|parts| ScoreParts { recency: parts.recency, ..ScoreParts::default() })
        .collect();
    let mut budget = Budget::of(request);
    let fits = |place: &usize| {
        candidates.get(*place).is_some_and(|candidate| budget.take(&candidate.document) == Verdict::Take)
    };
    let places: Vec<usize> =
        (0..candidates.len()).filter(fits).take(request.limit.min(SearchRequest::MAX_HITS)).collect();
    found.hits = hits(candidates, &parts, &places, question, request);
    found
}

/// Scores everything that was found and takes the best.
fn best(
    asked: &[(usize, Source)],
    mut gathered: Gathered,
    meaning: &Near,
    question: &Question,
    request: &SearchRequest,
    mut found: Found,
) -> Found {
    let begun = Instant::now();
    for (place, hits) in &meaning.hits {
        if let Some((_, source)) = asked.iter().find(|(asked, _)| asked == place) {
            gathered.add_near(*place, &source.keyword, hits, question);
        }
    }
    let sources: Vec<_> = asked.iter().map(|(place, source)| (*place, source.keyword.clone())).collect();
    let candidates = gathered.candidates(&sources, question);
    let read_for = begun.elapsed();
    let mut parts = scores(&candidates, &question.ask);
    weigh_code(&candidates, &mut parts, &question.code, &question.ask);
    let choices: Vec<Choice<'_>> = candidates
        .iter()
        .zip(&parts)
        .map(|(candidate, parts)| Choice {
            source: candidate.source,
            document: &candidate.document,
            score: parts.total(),
        })
        .collect();
    let mut budget = Budget::of(request);
    let limit = request.limit.min(SearchRequest::MAX_HITS);
    let places = select(&choices, limit, |place| {
        choices.get(place).map_or(Verdict::Skip, |choice| budget.take(choice.document))
    });
    let count = candidates.len();
    found.hits = hits(candidates, &parts, &places, question, request);
    found.notices.append(&mut gathered.notices);
    if request.explain {
        let (read, all) = (read_for.as_micros(), begun.elapsed().as_micros());
        found.notices.push(Notice::Trace(format!(
            "{count} candidates, read in {read} µs, scored and picked in {} µs",
            all - read
        )));
    }
    found
}

/// The tokens that are left.
struct Budget {
    left: Option<usize>,
}

impl Budget {
    const fn of(request: &SearchRequest) -> Self {
        Self { left: request.budget_tokens }
    }

    fn take(&mut self, document: &Document) -> Verdict {
        let Some(left) = &mut self.left else { return Verdict::Take };
        let cost = tokens(&document.text).min(SearchRequest::MAX_PASSAGE_TOKENS);
        if *left < CRUMB_TOKENS && cost > *left {
            return Verdict::Stop;
        }
        if cost > *left {
            return Verdict::Skip;
        }
        *left -= cost;
        Verdict::Take
    }
}

/// The hits at `places` of the candidates.
fn hits(
    candidates: Vec<Candidate>,
    parts: &[ScoreParts],
    places: &[usize],
    question: &Question,
    request: &SearchRequest,
) -> Vec<Hit> {
    let mut candidates: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
    let mut hits = Vec::with_capacity(places.len());
    let query = &question.ranking.shown();
    for place in places {
        let taken = candidates.get_mut(*place).and_then(Option::take);
        let (Some(candidate), Some(parts)) = (taken, parts.get(*place)) else { continue };
        let source = HitSource::of(&candidate.document);
        let Document { key, kind, at_ms, tool, paths, exit, text, .. } = candidate.document;
        let text = match request.budget_tokens {
            Some(_) => passage(query, &text, SearchRequest::MAX_PASSAGE_TOKENS),
            None => text,
        };
        let snippet = Snippet::of(query, &text, SNIPPET_CHARS);
        hits.push(Hit {
            key,
            kind,
            source,
            at_ms,
            tool,
            paths,
            exit,
            text,
            snippet,
            score: parts.total(),
            parts: *parts,
        });
    }
    hits
}
