//! What speaks for a piece of code: its words, and the file it stands in. Arithmetic only: no index, no clock.
//!
//! Who looks for code looks for the file to read or change first: several pieces of a file that fit a little speak for it as much as
//! one that fits well; a test says the same words as what it tests, and comes after it. What is not code keeps its score.

use crate::document::DocumentKind;
use crate::retrieve::candidate::Candidate;
use crate::retrieve::code_path::CodeRole;
use crate::retrieve::code_weights as weight;
use crate::retrieve::code_words::CodeWords;
use crate::retrieve::fusion::Ask;
use crate::retrieve::score_parts::ScoreParts;
use crate::retrieve::weights;
use std::collections::HashMap;

/// Weighs those of the candidates that are code anew. Beside what is no code, the best piece counts what it did.
pub(super) fn weigh_code(candidates: &[Candidate], parts: &mut [ScoreParts], words: &CodeWords, ask: &Ask) {
    let code: Vec<usize> =
        (0..).zip(candidates).filter(|(_, candidate)| is_code(candidate)).map(|(place, _)| place).collect();
    let pieces: Vec<&Candidate> = code.iter().filter_map(|place| candidates.get(*place)).collect();
    let units = units(&pieces, words);
    let files = Files::of(&pieces, &units);
    let best = code.iter().filter_map(|place| parts.get(*place)).map(|parts| parts.keyword).fold(0.0, f32::max);
    let logged = logged_paths(&pieces, ask);
    for (((place, piece), unit), logged) in code.iter().zip(&pieces).zip(&units).zip(&logged) {
        if let Some(parts) = parts.get_mut(*place) {
            parts.keyword = best * unit;
            parts.window = weight::FILE * files.beside(piece, *unit).ln_1p();
            if !words.is_brief() {
                // Among many words there are those of any file's name.
                parts.path = weight::LOGGED_PATH * logged;
            }
            parts.substance = substance(piece, words);
        }
    }
}

const fn is_code(candidate: &Candidate) -> bool {
    matches!(candidate.document.kind, DocumentKind::Code)
}

/// How well the words of each fit, the best of them 1.
fn units(pieces: &[&Candidate], words: &CodeWords) -> Vec<f32> {
    let (rare, names) = (column(pieces, |piece| piece.keyword), column(pieces, |piece| piece.names));
    // The head of a short query is all of it, and the index ranks by all of its words.
    let (whole, head, head_names) = if words.is_brief() {
        (rare.clone(), rare.clone(), names.clone())
    } else {
        let of = |fit: fn(&Candidate) -> f32| column(pieces, fit);
        (of(|piece| piece.code.whole), of(|piece| piece.code.head), of(|piece| piece.code.head_names))
    };
    let weighted = [
        (weight::RARE, rare),
        (weight::RARE_NAMES, names),
        (weight::WHOLE, whole),
        (weight::HEAD, head),
        (weight::HEAD_NAMES, head_names),
    ];
    let mut sums = vec![0.0; pieces.len()];
    for (weight, column) in &weighted {
        sums.iter_mut().zip(column).for_each(|(sum, score)| *sum += weight * score);
    }
    to_best(sums)
}

fn column(pieces: &[&Candidate], of: impl Fn(&Candidate) -> f32) -> Vec<f32> {
    to_best(pieces.iter().map(|piece| of(piece)).map(|it| if it.is_finite() { it.max(0.0) } else { 0.0 }).collect())
}

/// The best becomes 1.
fn to_best(mut scores: Vec<f32>) -> Vec<f32> {
    let best = scores.iter().copied().fold(0.0, f32::max);
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
    scores
}

/// What was found in each file.
struct Files<'a>(HashMap<(usize, &'a str), f32>);

impl<'a> Files<'a> {
    fn of(pieces: &[&'a Candidate], units: &[f32]) -> Self {
        let mut sums: HashMap<_, f32> = HashMap::new();
        for (piece, unit) in pieces.iter().zip(units) {
            *sums.entry((piece.source, path_of(piece))).or_default() += unit;
        }
        Self(sums)
    }

    /// What else was found in the file of a piece.
    fn beside(&self, piece: &Candidate, unit: f32) -> f32 {
        let sum = self.0.get(&(piece.source, path_of(piece))).copied().unwrap_or_default();
        (sum - unit).max(0.0)
    }
}

fn path_of(piece: &Candidate) -> &str {
    piece.document.paths.first().map_or("", String::as_str)
}

/// How well the query names each piece's file. Where it names many, as a log does, each counts less.
fn logged_paths(pieces: &[&Candidate], ask: &Ask) -> Vec<f32> {
    let mut known: HashMap<&str, f32> = HashMap::new();
    for piece in pieces {
        known.entry(path_of(piece)).or_insert_with_key(|path| ask.paths.mentioned(path));
    }
    let many = known.values().sum::<f32>().max(1.0).sqrt();
    pieces.iter().map(|piece| known.get(path_of(piece)).copied().unwrap_or_default() / many).collect()
}

/// How much it says, and whether it is what somebody who looks for code looks for.
fn substance(piece: &Candidate, words: &CodeWords) -> f32 {
    let length = (piece.document.text.len() as f32 / weights::WORD_BYTES).min(weight::LENGTH_WORDS);
    let role = match CodeRole::of_path(path_of(piece)) {
        CodeRole::Test if !words.asks_tests => weight::TEST,
        CodeRole::Prose if !words.asks_prose => weight::PROSE,
        CodeRole::Product | CodeRole::Test | CodeRole::Prose => 0.0,
    };
    weights::LENGTH * length.ln_1p() + role
}
