//! Stems of English words: `errors`, `logged` and `logging` become `error` and `log`. The algorithm is tantivy's; a small table
//! of what was asked before makes it cheap, since the same words come again and again.

use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, TokenStream};

/// Entries of the table.
const SLOTS: usize = 4096;
/// Longer words are names, not English.
const LONGEST: usize = 20;

/// Finds stems and remembers them.
pub(super) struct Stems {
    slots: Vec<(String, String)>,
    analyzer: TextAnalyzer,
}

impl Default for Stems {
    fn default() -> Self {
        let analyzer = TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(Language::English)).build();
        Self { slots: Vec::new(), analyzer }
    }
}

impl Clone for Stems {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Stems {
    /// Replaces a word in lower case by its stem, when it is a plain English word.
    #[inline]
    pub(super) fn reduce(&mut self, word: &mut String) {
        if word.len() < 3 || word.len() > LONGEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return;
        }
        if self.slots.is_empty() {
            self.slots = vec![(String::new(), String::new()); SLOTS];
        }
        let Some((known, stem)) = self.slots.get_mut(slot_of(word)) else { return };
        if known != word {
            known.clone_from(word);
            stem.clear();
            let mut tokens = self.analyzer.token_stream(word);
            while let Some(token) = tokens.next() {
                stem.push_str(&token.text);
            }
        }
        word.clone_from(stem);
    }
}

/// FNV-1a.
fn slot_of(word: &str) -> usize {
    let hash = word.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 15)) as usize % SLOTS
}
