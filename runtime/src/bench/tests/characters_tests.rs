//! Cutting and counting by characters.

use super::super::characters::{behind, first, is_space, last, length, strip, strip_end, tokens};
use proptest::prelude::*;

proptest! {
    #[test]
    fn cuts_are_those_of_a_list_of_characters(text in "\\PC{0,40}|[a-z\\n]{0,40}|[aé漢😀]{0,20}", chars in 0_usize..50) {
        let list: Vec<char> = text.chars().collect();
        let cut = chars.min(list.len());
        prop_assert_eq!(first(&text, chars), list[..cut].iter().collect::<String>());
        prop_assert_eq!(last(&text, chars), list[list.len() - cut..].iter().collect::<String>());
        prop_assert_eq!(behind(&text, chars), list[cut..].iter().collect::<String>());
        prop_assert_eq!(length(&text), list.len());
        prop_assert_eq!(tokens(&text), list.len() as u64 / 4 + 1);
    }

    #[test]
    fn stripping_leaves_no_white_space_at_the_ends(text in "[ \\t\\x1c\\x1f\\u{a0}\\u{3000}a\\u{200b}]{0,12}") {
        let stripped = strip(&text);
        prop_assert!(!stripped.starts_with(is_space) && !stripped.ends_with(is_space));
        prop_assert_eq!(stripped, strip_end(&text).trim_start_matches(is_space));
    }
}

#[test]
fn white_space_is_pythons() {
    // What `str.isspace` says of each of these.
    for c in [
        '\t', '\n', '\u{b}', '\u{c}', '\r', '\u{1c}', '\u{1d}', '\u{1e}', '\u{1f}', ' ', '\u{85}', '\u{a0}',
        '\u{1680}', '\u{2028}', '\u{3000}',
    ] {
        assert!(is_space(c), "{c:?}");
    }
    for c in ['a', '\0', '\u{1b}', '\u{180e}', '\u{200b}', '\u{2060}', '\u{feff}'] {
        assert!(!is_space(c), "{c:?}");
    }
}
