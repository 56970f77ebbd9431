//! How well windows fit queries.

use super::super::matching::{Filter, matching};
use super::super::words::{Bag, hash};
use std::collections::BTreeMap;

fn queries(words: &[(&str, [f64; 4])]) -> BTreeMap<u32, [f64; 4]> {
    words.iter().map(|(word, weights)| (hash(word), *weights)).collect()
}

#[test]
fn rare_words_in_short_texts_fit_best() {
    let texts = ["zebra", "zebra and lots of other words here", "lion", "a b", "c d", "e f", "g h", "i j"];
    let bags: Vec<Bag> = texts.iter().map(|text| Bag::of_text(text)).collect();
    let bags: Vec<&Bag> = bags.iter().collect();
    let asked = queries(&[("zebra", [1.0, 0.0, 0.0, 0.0]), ("lion", [0.5, 2.0, 0.0, 0.0])]);
    let fits = matching(&bags, &asked);
    assert_eq!((fits[0][0], fits[2][1]), (1.0, 1.0), "{fits:?}");
    assert!(fits[0][0] > fits[1][0] && fits[1][0] > 0.0 && fits[2][0] < fits[0][0], "{fits:?}");
    assert_eq!(fits[3], [0.0; 4]);
}

#[test]
fn words_that_are_everywhere_say_nothing() {
    let bags: Vec<Bag> = (0..10).map(|n| Bag::of_text(&format!("common w{n}"))).collect();
    let bags: Vec<&Bag> = bags.iter().collect();
    let fits = matching(&bags, &queries(&[("common", [1.0; 4]), ("w3", [0.1; 4])]));
    assert_eq!(fits[3], [1.0; 4]);
    assert!(fits.iter().enumerate().all(|(place, fit)| place == 3 || *fit == [0.0; 4]));
    assert_eq!(matching(&[], &queries(&[("x", [1.0; 4])])), Vec::<[f64; 4]>::new());
    assert_eq!(matching(&bags[..1], &BTreeMap::new()), vec![[0.0; 4]]);
}

#[test]
fn the_filter_lets_all_its_words_through() {
    let filter = Filter::of((0..1_000).map(|n| hash(&n.to_string())));
    assert!((0..1_000).all(|n| filter.may_have(hash(&n.to_string()))));
    let others = (1_000..11_000).filter(|n| filter.may_have(hash(&n.to_string()))).count();
    assert!(others < 400, "{others}");
}
