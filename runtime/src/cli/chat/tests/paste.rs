//! Pastes: nothing gets lost, nothing unwanted gets in, and only what was kept aside comes back.

use super::super::paste::{MAX_PROMPT_BYTES, Pasted, Pastes, clean};
use proptest::prelude::*;

fn taken(pastes: &mut Pastes, raw: &str) -> String {
    let Pasted { insert, notice } = pastes.take(raw);
    assert_eq!(notice, None, "{raw:?}");
    insert
}

#[test]
fn a_short_paste_goes_into_the_line() {
    let mut pastes = Pastes::default();
    for raw in ["one", "one\ntwo\nthree\nfour\nfive", "\tindented", "", "Grüße, 世界 👋🏽"] {
        assert_eq!(taken(&mut pastes, raw), raw);
    }
    assert_eq!(taken(&mut pastes, &"x".repeat(1_000)).len(), 1_000);
}

#[test]
fn a_long_paste_is_kept_aside_and_put_back() {
    let mut pastes = Pastes::default();
    let lines: String = (0..10_000).map(|number| format!("line {number}\n")).collect();
    let letters = "é".repeat(1_001);
    assert_eq!(taken(&mut pastes, &lines), "[pasted #1: 10,000 lines]");
    assert_eq!(taken(&mut pastes, &letters), "[pasted #2: 1,001 characters]");
    let line =
        "compare [pasted #1: 10,000 lines] with [pasted #2: 1,001 characters], twice [pasted #2: 1,001 characters]";
    assert_eq!(pastes.put_back(line), format!("compare {lines} with {letters}, twice {letters}"));
}

#[test]
fn what_only_looks_like_a_placeholder_stays() {
    let mut pastes = Pastes::default();
    let six = "[pasted #2: 6 lines]\n".repeat(6);
    assert_eq!(taken(&mut pastes, &six), "[pasted #1: 6 lines]");
    for line in ["[pasted #1: 7 lines]", "[pasted #2: 6 lines]", "[pasted #1: 6 lines", "[pasted #", "[pasted #1"] {
        assert_eq!(pastes.put_back(line), line);
    }
    // A paste may hold the placeholder of the next one.
    let other = "second\n".repeat(6);
    assert_eq!(taken(&mut pastes, &other), "[pasted #2: 6 lines]");
    assert_eq!(pastes.put_back("[pasted #1: 6 lines][pasted #2: 6 lines]"), format!("{six}{other}"));
}

#[test]
fn numbers_are_never_used_twice() {
    let mut pastes = Pastes::default();
    assert_eq!(taken(&mut pastes, &"a\n".repeat(6)), "[pasted #1: 6 lines]");
    pastes.clear();
    assert_eq!(pastes.put_back("[pasted #1: 6 lines]"), "[pasted #1: 6 lines]");
    assert_eq!(taken(&mut pastes, &"b\n".repeat(6)), "[pasted #2: 6 lines]");
}

#[test]
fn what_is_too_large_is_not_taken_and_said() {
    let mut pastes = Pastes::default();
    let most = "m".repeat(MAX_PROMPT_BYTES);
    let refused = pastes.take(&format!("{most}m"));
    assert_eq!(refused.insert, "");
    assert_eq!(refused.notice.as_deref(), Some("not pasted: 4.1 MB are too much; a prompt holds at most 4.1 MB"));
    assert_eq!(taken(&mut pastes, &most), "[pasted #1: 4,194,304 characters]");
    assert_eq!(pastes.put_back("[pasted #1: 4,194,304 characters]"), most);
    assert!(pastes.take("one more").notice.unwrap().starts_with("not pasted: "));
    pastes.clear();
    assert_eq!(taken(&mut pastes, "one more"), "one more");
}

#[test]
fn escapes_and_control_characters_are_left_out_and_said() {
    let mut pastes = Pastes::default();
    for (raw, left, removed) in [
        ("a\0b", "ab", 1),
        ("\x1b[31mred\x1b[0m", "red", 9),
        ("\x1b]0;title\x07text", "text", 10),
        ("bell\x07 back\x08 del\x7f", "bell back del", 3),
        ("\u{9b}31mc1", "31mc1", 1),
        ("unfinished \x1b[\nnext line\tstays", "unfinished \nnext line\tstays", 2),
    ] {
        assert_eq!(clean(raw), (left.to_owned(), removed), "{raw:?}");
        let Pasted { insert, notice } = pastes.take(raw);
        assert_eq!(insert, left);
        assert!(notice.unwrap().contains(&format!("{removed} control character")), "{raw:?}");
    }
}

#[test]
fn line_ends_of_other_systems_become_ours() {
    assert_eq!(clean("a\r\nb\rc\n"), ("a\nb\nc\n".to_owned(), 0));
    let mut pastes = Pastes::default();
    assert_eq!(taken(&mut pastes, &"x\r".repeat(6)), "[pasted #1: 6 lines]");
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_unwanted_stays(raw in "\\PC*|[\\x00-\\x7f\\u{80}-\\u{9f}]*|(\\x1b\\[[0-9;]{0,4}[a-z]|[a-z\\n\\r\\t])*") {
        let (cleaned, removed) = clean(&raw);
        prop_assert!(cleaned.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
        let ends = raw.replace("\r\n", "\n").replace('\r', "\n");
        prop_assert_eq!(cleaned.chars().count() + removed, ends.chars().count());
        prop_assert_eq!(clean(&cleaned), (cleaned.clone(), 0));
        if removed == 0 {
            prop_assert_eq!(cleaned, ends);
        }
    }

    #[test]
    fn any_mix_of_words_and_pastes_comes_back(parts in prop::collection::vec((".{0,20}", "[a-z\\[#: \\n]{0,40}", 0_usize..3), 1..8)) {
        let mut pastes = Pastes::default();
        let (mut line, mut whole) = (String::new(), String::new());
        for (words, body, times) in parts {
            let words = clean(&words.replace("[pasted #", "")).0;
            let text = format!("{body}\n").repeat(times * 6);
            line.push_str(&words);
            whole.push_str(&words);
            line.push_str(&pastes.take(&text).insert);
            whole.push_str(&text);
        }
        prop_assert_eq!(pastes.put_back(&line), whole);
    }
}
