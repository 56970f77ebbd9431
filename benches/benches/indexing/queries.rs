//! Questions made of the documents themselves, always the same ones: words in a row, one identifier, and words with a filter.

use retrace_indexer::Document;

/// So many questions of `documents`.
pub(crate) fn queries(documents: &[Document], count: usize) -> Vec<String> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        // xorshift: the same questions in every run.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below.max(1) as u64).unwrap_or(0)
    };
    let mut queries = Vec::new();
    while queries.len() < count && !documents.is_empty() {
        let document = &documents[next(documents.len())];
        let head: String = document.text.chars().take(4_000).collect();
        let words: Vec<&str> = head
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| word.len() > 2)
            .collect();
        if words.len() < 8 {
            continue;
        }
        let at = next(words.len() - 5);
        queries.push(match queries.len() % 4 {
            0 => words[at..at + 4].join(" "),
            1 => words[at].to_owned(),
            2 => format!("{} kind:{}", words[at..at + 2].join(" "), document.kind.name()),
            _ => words[at..at + 2].join(" "),
        });
    }
    queries
}
