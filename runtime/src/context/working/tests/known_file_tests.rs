//! The model of a file, step by step.

use super::super::known_file::{KnownFile, MAX_LINES};
use super::{file, known};
use std::collections::HashSet;

fn show(file: &mut KnownFile, first: u32, lines: &[&str], at: u64) {
    file.show(first, lines, at, false, &HashSet::new());
}

#[test]
fn what_is_shown_again_takes_the_place_of_what_was() {
    let mut file = file(&["a", "b", "c"]);
    show(&mut file, 2, &["B", "C", "D"], 2);
    show(&mut file, 9, &["I"], 3);
    assert_eq!(known(&file), [(1, "a"), (2, "B"), (3, "C"), (4, "D"), (9, "I")]);
    let read: Vec<u64> = file.lines().iter().map(|line| line.read).collect();
    assert_eq!(read, [1, 2, 2, 2, 3]);
    file.show(1, &["all", "there is"], 4, true, &HashSet::new());
    assert_eq!(known(&file), [(1, "all"), (2, "there is")]);
}

#[test]
fn an_edit_moves_what_stands_behind_it() {
    let mut file = file(&["one", "two three", "four", "five"]);
    show(&mut file, 20, &["far"], 2);
    assert!(file.replace("three\nfo", "3\n3.5\nFO", false, 3));
    assert_eq!(known(&file), [(1, "one"), (2, "two 3"), (3, "3.5"), (4, "FOur"), (5, "five"), (21, "far")]);
    let wrote: Vec<u64> = file.lines().iter().map(|line| line.wrote).collect();
    assert_eq!(wrote, [0, 3, 3, 3, 0, 0]);
    assert!(file.replace("two 3\n3.5\n", "", false, 4));
    assert_eq!(known(&file), [(1, "one"), (2, "FOur"), (3, "five"), (19, "far")]);
    // What is as it was counts as read when it was read.
    let wrote: Vec<u64> = file.lines().iter().map(|line| line.wrote).collect();
    assert_eq!(wrote, [0, 3, 0, 0]);
}

#[test]
fn every_place_is_replaced_also_several_in_a_line() {
    let mut file = file(&["x x", "y", "xx"]);
    assert!(file.replace("x", "a\nb", true, 2));
    let lines: Vec<&str> = known(&file).into_iter().map(|(_, text)| text).collect();
    assert_eq!(lines.join("\n"), "x x\ny\nxx".replace('x', "a\nb"));
    assert_eq!(file.lines().last().unwrap().number, 7);
    assert!(file.replace("b\n", "", true, 3));
    let lines: Vec<&str> = known(&file).into_iter().map(|(_, text)| text).collect();
    assert_eq!(lines.join("\n"), "x x\ny\nxx".replace('x', "a\nb").replace("b\n", ""));
}

#[test]
fn nothing_is_found_across_a_gap_and_then_nothing_changes() {
    let mut file = file(&["a", "b"]);
    show(&mut file, 4, &["c", "d"], 2);
    let before = format!("{:?}", known(&file));
    assert!(!file.replace("b\nc", "x", false, 3));
    assert!(!file.replace("zebra", "x", true, 3));
    assert!(!file.replace("", "x", true, 3));
    assert_eq!(format!("{:?}", known(&file)), before);
    show(&mut file, 3, &["between"], 4);
    assert!(file.replace("b\nbetween\nc", "x", false, 5));
    assert_eq!(known(&file), [(1, "a"), (2, "x"), (3, "d")]);
}

#[test]
fn lines_move_where_the_place_of_an_edit_is_known_only_by_number() {
    let mut file = file(&["a", "b"]);
    show(&mut file, 10, &["j", "k"], 2);
    file.shift(4, 3);
    assert_eq!(known(&file), [(1, "a"), (2, "b"), (13, "j"), (14, "k")]);
    // What would come to stand at or before the place was removed.
    file.shift(4, -9);
    assert_eq!(known(&file), [(1, "a"), (2, "b"), (5, "k")]);
}

#[test]
fn long_lines_are_kept_in_part() {
    let long = "é".repeat(5_000);
    let mut file = file(&["first", &long, "last"]);
    assert!(file.lines()[1].text.text().len() <= 2_000);
    assert!(file.replace("last", "end", false, 2));
    assert_eq!(file.lines()[2].text.text(), "end");
    // The same text is the same line, although only a part of it is kept.
    let text = std::sync::Arc::clone(&file.lines()[1].text);
    show(&mut file, 2, &[&long], 3);
    assert!(std::sync::Arc::ptr_eq(&text, &file.lines()[1].text));
}

#[test]
fn of_too_many_lines_those_go_that_were_seen_longest_ago() {
    let lines: Vec<String> = (0..MAX_LINES).map(|n| format!("line {n}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut file = file(&lines);
    assert_eq!(file.lines().len(), MAX_LINES);
    show(&mut file, 50_000, &["new one", "new two"], 2);
    assert_eq!(file.lines().len(), MAX_LINES);
    assert_eq!(file.lines().last().unwrap().number, 50_001);
    // Of those that were seen together the last ones.
    assert_eq!(file.lines()[MAX_LINES - 3].number, u32::try_from(MAX_LINES).unwrap() - 2);
}

#[test]
fn what_a_file_takes_is_known() {
    let mut file = file(&["one", "two", "three"]);
    file.replace("two", "2\n2", false, 2);
    file.write_somewhere("x\ny", 3);
    file.shift(1, 4);
    show(&mut file, 2, &["four"], 4);
    let lines: usize = file.lines().iter().map(|line| line.text.text().len() + 64).sum();
    let loose: usize = file.loose().iter().flat_map(|loose| &loose.lines).map(|line| line.text().len() + 64).sum();
    assert_eq!(file.bytes(), lines + loose);
    file.forget();
    assert_eq!((file.bytes(), file.lines().len(), file.loose().len()), (0, 0, 0));
}

#[test]
fn windows_are_cells_of_ten_lines_cut_at_gaps() {
    let lines: Vec<String> = (1..=25).map(|n| format!("line {n}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut file = file(&lines);
    show(&mut file, 30, &["fn far_away() {"], 2);
    let numbers = |file: &KnownFile| -> Vec<(u32, u32)> {
        file.windows("a.rs").all.iter().map(|window| window.numbers).collect()
    };
    assert_eq!(numbers(&file), [(1, 9), (10, 19), (20, 25), (30, 30)]);
    file.replace("line 25", "25\n26", false, 3);
    assert_eq!(numbers(&file), [(1, 9), (10, 19), (20, 26), (31, 31)]);
    let windows = file.windows("a.rs");
    assert_eq!(windows.newest_written, [25, 26]);
    assert_eq!((windows.all[2].read, windows.all[2].wrote), (3, 3));
    assert_eq!(windows.all[0].text(&file), lines[..9].join("\n"));
    file.write_somewhere("loose one\nloose two", 4);
    let last = file.windows("a.rs").all.last().unwrap();
    assert!(!last.is_placed());
    assert_eq!((last.text(&file), last.wrote), ("loose one\nloose two".to_owned(), 4));
}

#[test]
fn definitions_are_known_by_their_names() {
    use super::super::words::hash;
    let file = file(&[
        "pub(crate) fn first_one() {",
        "    let type_of = 3;",
        "}",
        "func (s *Store) SecondOne(x int) error {",
        "\tvar inner = 1",
        "    fn a_method(&self) {}",
        "        def too_deep():",
        "async function third() {",
        "class Fourth:",
        // The next window begins inside of `Fourth`.
        "    def fifth_one(self):",
        "        pass",
    ]);
    let windows = &file.windows("a.rs").all;
    let names = ["first_one", "SecondOne", "a_method", "third", "Fourth"].map(hash);
    assert_eq!(windows[0].defines, names);
    assert_eq!((windows[0].inside, windows[1].inside), (None, Some(hash("Fourth"))));
    assert_eq!(windows[1].defines, [hash("fifth_one")]);
}
