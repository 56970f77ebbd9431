//! From bytes to a text that fits.

use crate::context::instructions::excerpt::{Excerpt, excerpt};
use proptest::prelude::*;
use retrace_events::redact::Redactor;

fn of(bytes: &[u8], total_bytes: u64, room_bytes: usize) -> Result<Excerpt, String> {
    excerpt("F", bytes, total_bytes, room_bytes, &Redactor::new(Vec::new()))
}

#[test]
fn a_character_may_be_cut_where_the_file_goes_on_and_nowhere_else() {
    let bytes = "gr\u{fc}n".as_bytes();
    let cut = &bytes[..3];
    assert_eq!(of(cut, 5, 1_000).unwrap().text, "gr\n[cut here: F is 5 bytes; the first 2 are used]");
    assert_eq!(of(cut, 3, 1_000), Err("F is not UTF-8 text".to_owned()));
    assert_eq!(of(b"a\xFFb", 9, 1_000), Err("F is not UTF-8 text".to_owned()));
}

#[test]
fn a_line_that_is_too_long_is_cut_at_a_character() {
    let text = "\u{fc}".repeat(20_000);
    let excerpt = of(text.as_bytes(), 40_000, 100_000).unwrap();
    assert_eq!(excerpt.notices, ["F is 40,000 bytes; the first 32,768 are used"]);
    let odd = format!("x{text}");
    assert_eq!(of(odd.as_bytes(), 40_001, 100_000).unwrap().notices, ["F is 40,001 bytes; the first 32,767 are used"]);
}

#[test]
fn what_fits_is_as_it_was() {
    assert_eq!(of("\u{FEFF}a\tb\n\n".as_bytes(), 8, 100), Ok(Excerpt { text: "a\tb\n\n".into(), notices: Vec::new() }));
    assert_eq!(of(b"", 0, 0), Ok(Excerpt { text: String::new(), notices: Vec::new() }));
    assert_eq!(of(b"ab", 2, 2).unwrap().text, "ab");
    assert_eq!(of(b"abc", 3, 0), Err("F has no room beside the other instruction files".to_owned()));
}

proptest! {
    /// Whatever the file, the text keeps to its room (its last line aside), and is a beginning of the file.
    #[test]
    fn texts_keep_to_their_room(text in "(\\PC|\n){0,200}", room in 0..300_usize, more in 0..2_u64) {
        let total = text.len() as u64 + more * 1_000;
        if let Ok(excerpt) = of(text.as_bytes(), total, room) {
            let kept = excerpt.text.rsplit_once("\n[cut here: ").map_or(excerpt.text.as_str(), |(kept, _)| kept);
            prop_assert!(kept.len() <= room, "{} > {}", kept.len(), room);
            prop_assert_eq!(more == 1, more == 1 && excerpt.text.contains("[cut here: "));
        }
    }
}
