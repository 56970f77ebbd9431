//! What speaks for each candidate, on one scale. Arithmetic only: no index, no clock.

use crate::document::DocumentKind;
use crate::retrieve::candidate::Candidate;
use crate::retrieve::dates::Dates;
use crate::retrieve::named_paths::NamedPaths;
use crate::retrieve::score_parts::ScoreParts;
use crate::retrieve::weights as weight;
use std::collections::HashMap;

/// What is known of the question, beside what the indexes answered.
#[derive(Debug, Clone, Default)]
pub(super) struct Ask {
    /// How many different words rank.
    pub(super) words: usize,
    /// Dates that the query names.
    pub(super) dates: Dates,
    /// Paths that the query names.
    pub(super) paths: NamedPaths,
    /// The session that asks.
    pub(super) own: Option<String>,
    /// The sessions it was forked from.
    pub(super) lineage: Vec<String>,
    /// The moment of asking, in milliseconds since 1970.
    pub(super) now_ms: i64,
}

impl Ask {
    /// How much of the query a model reads, and how likely a date in it is meant: of a long text with a log in it, little.
    pub(super) fn share_read(&self) -> f32 {
        (weight::READ_WORDS / (self.words.max(1) as f32)).min(1.0)
    }

    fn lineage_of(&self, stream: &str) -> f32 {
        if self.own.as_deref() == Some(stream) {
            weight::OWN
        } else if self.lineage.iter().any(|ancestor| ancestor == stream) {
            weight::ANCESTOR
        } else {
            0.0
        }
    }

    fn recency_of(&self, at_ms: i64) -> f32 {
        let age_ms = self.now_ms.saturating_sub(at_ms).max(0) as f32;
        weight::RECENCY / (1.0 + age_ms / weight::RECENCY_HALF_MS)
    }
}

/// The score of each candidate, in their order.
pub(super) fn scores(candidates: &[Candidate], ask: &Ask) -> Vec<ScoreParts> {
    let units = units(candidates);
    let context = Context::of(candidates, &units);
    let vector = weight::VECTOR * ask.share_read();
    let named = ask.paths.fits(candidates.iter().map(|candidate| candidate.document.paths.as_slice()));
    let each = candidates.iter().zip(&units).zip(named);
    each.map(|((candidate, unit), named)| {
        let (said, near) = context.around(candidate);
        let document = &candidate.document;
        ScoreParts {
            keyword: weight::KEYWORD * unit,
            window: weight::KEYWORD * said + vector * near,
            vector: vector * candidate.nearness,
            path: weight::PATH * named,
            dated: weight::DATED * ask.share_read() * ask.dates.fit(document.at_ms),
            substance: substance(candidate),
            recency: ask.recency_of(document.at_ms),
            lineage: ask.lineage_of(&document.stream),
        }
    })
    .collect()
}

/// The keyword scores, the best of them 1.
pub(super) fn units(candidates: &[Candidate]) -> Vec<f32> {
    let raw = candidates.iter().map(|candidate| finite(candidate.keyword) + weight::NAMES * finite(candidate.names));
    let raw: Vec<f32> = raw.collect();
    let best = raw.iter().copied().fold(0.0, f32::max);
    raw.into_iter().map(|score| if best > 0.0 { score / best } else { 0.0 }).collect()
}

/// How much a text says, and whether it only asks or thinks.
fn substance(candidate: &Candidate) -> f32 {
    let document = &candidate.document;
    let words = document.text.len() as f32 / weight::WORD_BYTES;
    let asks = candidate.is_said() && document.text.trim_end().ends_with('?');
    let thought = document.kind == DocumentKind::Thinking;
    let marks = [(asks, weight::ASKS), (thought, weight::THOUGHT)];
    weight::LENGTH * words.ln_1p() + marks.iter().filter(|(is, _)| *is).map(|(_, weight)| weight).sum::<f32>()
}

/// An index that is damaged could say anything.
fn finite(score: f32) -> f32 {
    if score.is_finite() { score.max(0.0) } else { 0.0 }
}

/// What was said at each place of the sessions, by how well it fits.
struct Context<'a> {
    said: HashMap<(usize, &'a str, u64), (f32, f32)>,
}

impl<'a> Context<'a> {
    fn of(candidates: &'a [Candidate], units: &[f32]) -> Self {
        let mut said: HashMap<_, (f32, f32)> = HashMap::new();
        for (candidate, unit) in candidates.iter().zip(units).filter(|(candidate, _)| candidate.is_said()) {
            let place = (candidate.source, candidate.document.stream.as_str(), candidate.document.ordinal);
            // All parts of a long text stand in one place.
            let best = said.entry(place).or_default();
            *best = (best.0.max(*unit), best.1.max(candidate.nearness));
        }
        Self { said }
    }

    /// What the neighbours of a candidate add: their words, and their nearness.
    fn around(&self, candidate: &Candidate) -> (f32, f32) {
        let mut sum = (0.0, 0.0);
        if !candidate.takes_context() {
            return sum;
        }
        let (source, stream, ordinal) =
            (candidate.source, candidate.document.stream.as_str(), candidate.document.ordinal);
        for (distance, (word, near)) in (1_u64..).zip(weight::WINDOW.into_iter().zip(weight::WINDOW_VECTOR)) {
            let places = [ordinal.checked_sub(distance), ordinal.checked_add(distance)];
            for place in places.into_iter().flatten() {
                if let Some((unit, nearness)) = self.said.get(&(source, stream, place)) {
                    sum.0 += word * unit;
                    sum.1 += near * nearness;
                }
            }
        }
        sum
    }
}

/// How near each is to the question, from the cosines of a list that may have been cut off at its end.
pub(super) fn nearness(cosines: &[f32]) -> Vec<f32> {
    let finite: Vec<f32> = cosines.iter().map(|cosine| if cosine.is_finite() { *cosine } else { 0.0 }).collect();
    let best = finite.iter().copied().fold(0.0, f32::max);
    let last = finite.iter().copied().fold(best, f32::min);
    let sure = (best / weight::NEAR).min(1.0);
    finite.iter().map(|cosine| if best > last { sure * (cosine - last) / (best - last) } else { sure }).collect()
}
