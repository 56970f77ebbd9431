//! Stems: the library's, whatever the table in front of it has seen before.

use crate::keyword::stems::Stems;
use proptest::prelude::*;
use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, TokenStream};

fn reduced(stems: &mut Stems, word: &str) -> String {
    let mut word = word.to_owned();
    stems.reduce(&mut word);
    word
}

fn by_the_library(word: &str) -> String {
    let mut analyzer = TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(Language::English)).build();
    let mut tokens = analyzer.token_stream(word);
    assert!(tokens.advance());
    tokens.token().text.clone()
}

#[test]
fn forms_of_a_word_meet() {
    let mut stems = Stems::default();
    for forms in [
        &["error", "errors"][..],
        &["log", "logs", "logged", "logging"],
        &["index", "indexes", "indexing", "indexed"],
        &["commit", "commits", "committed", "committing"],
        &["retry", "retries", "retried"],
        &["paint", "paints", "painted", "painting"],
    ] {
        let first = reduced(&mut stems, forms[0]);
        for form in forms {
            assert_eq!(reduced(&mut stems, form), first, "{form}");
        }
    }
}

#[test]
fn what_is_no_plain_word_stays() {
    let mut stems = Stems::default();
    for word in ["", "a", "is", "v2s", "foo_bars", "Errors", "érrors", "antidisestablishmentarianisms"] {
        assert_eq!(reduced(&mut stems, word), word);
    }
}

#[test]
fn a_copy_knows_the_same() {
    let mut stems = Stems::default();
    let first = reduced(&mut stems, "running");
    assert_eq!(reduced(&mut stems.clone(), "running"), first);
    assert_eq!(first, "run");
}

proptest! {
    /// More words than the table has room for, some of them again and again.
    #[test]
    fn the_table_never_mixes_words_up(words in prop::collection::vec("[a-z]{3,9}", 50), again in prop::collection::vec(0_usize..50, 50)) {
        let mut stems = Stems::default();
        for n in 0..6000 {
            reduced(&mut stems, &format!("{}{}", ["ab", "cd", "ef"][n % 3], (n as u32).to_string().bytes().map(|digit| char::from(digit - b'0' + b'k')).collect::<String>()));
        }
        for word in words.iter().chain(again.iter().map(|n| &words[*n])) {
            prop_assert_eq!(reduced(&mut stems, word), by_the_library(word), "{}", word);
        }
    }
}
