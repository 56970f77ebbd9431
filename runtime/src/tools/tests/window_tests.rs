//! The window of shown lines: its bounds, and numbers that stay right when redaction takes lines away.

use crate::tools::lines::Line;
use crate::tools::window::Window;
use proptest::prelude::*;

fn window(texts: &[&str], first: u64, limit: u64, budget: usize) -> Window {
    let mut window = Window::new(first, limit, budget);
    for (index, text) in texts.iter().enumerate() {
        window.take(Line { number: index as u64 + 1, text, omitted_chars: 0 });
    }
    window
}

fn shown(window: &Window) -> String {
    window.numbered(str::to_owned)
}

#[test]
fn a_range_within_a_budget() {
    let texts = ["one", "two", "three", "four"];
    assert_eq!(shown(&window(&texts, 2, 2, 1_000)), "     2\ttwo\n     3\tthree\n");
    assert_eq!(shown(&window(&texts, 0, 0, 1_000)), "     1\tone\n", "0 counts as 1");
    assert_eq!(shown(&window(&texts, 1, 9, 22)), "     1\tone\n     2\ttwo\n", "the third has no room");
    assert_eq!(shown(&window(&texts, 3, 9, 0)), "     3\tthree\n", "one is always shown");
    assert_eq!(window(&texts, 5, 1, 1_000).last(), None);
}

#[test]
fn a_gap_is_not_jumped_over() {
    let long = "x".repeat(100);
    let window = window(&["a", &long, "b"], 1, 9, 50);
    assert_eq!((shown(&window), window.last()), ("     1\ta\n".to_owned(), Some(1)));
}

#[test]
fn numbers_stay_right_when_lines_are_taken_away() {
    let texts = ["a", "KEY 1", "KEY 2", "KEY 3", "b", "KEY 4", "c"];
    let redact = |text: &str| text.replace("KEY 1\nKEY 2\nKEY 3", "[gone]").replace("KEY 4\nc", "[gone]c");
    let body = window(&texts, 1, 99, 1_000).numbered(redact);
    assert_eq!(body, "     1\ta\n     2\t[gone]\n     5\tb\n     6\t[gone]c\n");
}

proptest! {
    #[test]
    fn every_line_shown_keeps_its_number(texts in prop::collection::vec("[a-d]{1,2}", 1..20), from in 0_usize..20, count in 0_usize..5) {
        // Some lines in a row become one; those that stay are numbered as before.
        let from = from.min(texts.len() - 1);
        let count = count.min(texts.len() - from);
        let numbered: Vec<String> = texts.iter().enumerate().map(|(index, text)| format!("{index}-{text}")).collect();
        let parts: Vec<&str> = numbered.iter().map(String::as_str).collect();
        let redact = |_: &str| {
            let mut lines = parts.clone();
            lines.splice(from..from + count, (count > 0).then_some("gone"));
            lines.join("\n")
        };
        let body = window(&parts, 1, 99, 10_000).numbered(redact);
        for line in body.lines().filter(|line| !line.ends_with("gone")) {
            let (number, text) = line.split_once('\t').unwrap();
            let index: usize = text.split('-').next().unwrap().parse().unwrap();
            prop_assert_eq!(number.trim().parse::<usize>().unwrap(), index + 1);
        }
        prop_assert_eq!(body.lines().count(), parts.len() - count + usize::from(count > 0));
    }
}
