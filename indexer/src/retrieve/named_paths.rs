//! Paths that a query names, and how well a document's paths fit them. `store/index.rs` in the query means a file by how its
//! path ends; "the keyword index" may mean `keyword_index.rs`, when all words of the name are there.

use crate::keyword::analyze;
use crate::retrieve::weights::PATH_WORDS;
use std::collections::{HashMap, HashSet};

/// The most paths of a query that are looked at.
const MENTIONS: usize = 64;
/// How much of a query is looked at for paths, in bytes.
const TEXT_BYTES: usize = 32 * 1024;
/// The most components of a path that are compared, from its end.
const COMPONENTS: usize = 16;
/// The most paths of one document that are looked at.
const PATHS: usize = 32;

/// Paths and words of a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NamedPaths {
    /// Each as its components, the last one first, in lower case.
    mentions: Vec<Vec<String>>,
    /// The query's words, as the index has them.
    words: HashSet<String>,
}

impl NamedPaths {
    /// Those that a text names.
    pub(super) fn in_text(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES)];
        let mut named = Self::default();
        for token in text.split(|letter: char| !(letter.is_alphanumeric() || "._-/\\".contains(letter))) {
            let token = token.trim_matches(|letter: char| ".-/\\".contains(letter));
            let path_like =
                token.contains(['/', '\\']) || token.split_once('.').is_some_and(|(_, end)| !end.is_empty());
            let mention = components(token);
            if path_like && named.mentions.len() < MENTIONS && !named.mentions.contains(&mention) {
                named.mentions.push(mention);
            }
        }
        analyze(text, |token| {
            named.words.insert(token.text);
            true
        });
        named
    }

    /// The paths that are named, the last `components` components of each: patterns for a filter.
    pub(super) fn patterns(&self, components: usize) -> Vec<String> {
        let pattern = |mention: &Vec<String>| {
            mention.iter().take(components).rev().map(String::as_str).collect::<Vec<_>>().join("/")
        };
        // A name without a dot is a folder or an option of a command: too many documents have it.
        let file = |mention: &&Vec<String>| mention.first().is_some_and(|name| name.contains('.'));
        self.mentions.iter().filter(file).map(pattern).collect()
    }

    /// How well the best of each document's paths fits, from 0 to 1.
    pub(super) fn fits<'a>(&self, documents: impl Iterator<Item = &'a [String]> + Clone) -> Vec<f32> {
        let mut known: HashMap<&str, f32> = HashMap::new();
        for path in documents.clone().flat_map(|paths| paths.iter().take(PATHS)) {
            known.entry(path).or_insert_with(|| self.mentioned(path));
        }
        self.by_words(&mut known);
        let best = |paths: &[String]| {
            let fits = paths.iter().take(PATHS).filter_map(|path| known.get(path.as_str()));
            fits.copied().fold(0.0, f32::max)
        };
        documents.map(best).collect()
    }

    /// How much of a mention, or of the path, agrees from the end.
    pub(super) fn mentioned(&self, path: &str) -> f32 {
        let path = components(path);
        let share = |mention: &Vec<String>| {
            let same = mention.iter().zip(&path).take_while(|(one, other)| one == other).count();
            same as f32 / mention.len().min(path.len()).max(1) as f32
        };
        self.mentions.iter().map(share).fold(0.0, f32::max)
    }

    /// Raises what is known of paths whose file's name is made of words of the query. Where the query names such a file, what
    /// it says of the folder decides.
    fn by_words(&self, known: &mut HashMap<&str, f32>) {
        let mut paths: Vec<&str> = known.iter().filter(|(_, fit)| **fit == 0.0).map(|(path, _)| *path).collect();
        paths.sort_unstable();
        // One text for all, since the analyzer costs something to begin.
        let (mut names, mut ends) = (String::new(), Vec::new());
        for path in &paths {
            names.push_str(stem(path));
            names.push('\n');
            ends.push(names.len());
        }
        let mut counts = vec![(0_u32, 0_u32); paths.len()];
        analyze(&names, |token| {
            let place = ends.partition_point(|end| *end <= token.span.start);
            if let Some((have, all)) = counts.get_mut(place).filter(|_| !token.whole) {
                *all += 1;
                *have += u32::from(self.words.contains(&token.text));
            }
            true
        });
        for (path, (have, all)) in paths.into_iter().zip(counts) {
            if let Some(fit) = known.get_mut(path).filter(|_| all > 0) {
                *fit = fit.max(PATH_WORDS * have as f32 / all as f32);
            }
        }
    }
}

/// A path's components in lower case, the last one first.
fn components(path: &str) -> Vec<String> {
    let parts = path.rsplit(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
    parts.take(COMPONENTS).map(str::to_lowercase).collect()
}

/// A file's name without its extension.
fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}
