//! What of a text is shown.

use crate::query::Query;
use crate::retrieve::passage::{passage, tokens};
use proptest::prelude::*;

#[test]
fn a_short_text_comes_whole_and_a_long_one_where_the_words_are() {
    let query = Query::plain("needle");
    assert_eq!(passage(&query, "the needle", 100), "the needle");
    let long = format!("{} the needle lies here {}", "hay ".repeat(2000), "hay ".repeat(2000));
    let cut = passage(&query, &long, 50);
    assert!(cut.contains("the needle lies here") && tokens(&cut) <= 50, "{cut}");
}

proptest! {
    #[test]
    fn no_passage_costs_more_than_it_may(text in "(ä|b|日|\\n| |needle){0,400}", max_tokens in 1_usize..100) {
        prop_assert!(tokens(&passage(&Query::plain("needle"), &text, max_tokens)) <= max_tokens);
    }
}
