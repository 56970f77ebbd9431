//! What is said below the hits.

use super::{NASTY, all_sorts};
use crate::cli::render::Style;
use crate::cli::search::footer::Footer;
use std::time::Duration;

fn footer() -> Footer {
    Footer { took: Duration::from_millis(12), ..Footer::default() }
}

#[test]
fn hits_are_counted_and_the_first_can_be_looked_at() {
    let text = footer().text(&all_sorts(), Style::Plain);
    assert_eq!(text, "4 hits · 12ms\n  look: retrace show 01m7ywme-w0rdt05x --event 42\n");
    let summary = footer().text(&all_sorts()[1..3], Style::Plain);
    assert_eq!(summary, "2 hits · 12ms\n  look: retrace show 01m80000-aaaabbbb --event 3\n");
    let code = Footer { log: " --log x".to_owned(), ..footer() };
    assert_eq!(code.text(&all_sorts()[1..2], Style::Plain), "1 hit · 12ms\n");
    assert!(code.text(&all_sorts()[..1], Style::Plain).ends_with(" --event 42 --log x\n"));
}

#[test]
fn a_lag_is_said_and_who_is_at_it() {
    let lag = Footer { behind: 1_234, busy: Some(format!("pid 7{NASTY}")), ..footer() };
    let text = lag.text(&all_sorts()[1..2], Style::Plain);
    assert!(text.starts_with("1 hit · 12ms · the index is 1,234 events behind (pid 7"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']), "{text:?}");
}

#[test]
fn nothing_found_has_advice() {
    let text = footer().text(&[], Style::Plain);
    assert_eq!(
        text,
        "nothing found · 12ms\nhint: try fewer or other words; `retrace index status` says what is indexed\n"
    );
    let narrowed = Footer { narrowed: true, behind: 1, ..footer() };
    let text = narrowed.text(&[], Style::Plain);
    assert!(text.contains("or leave out a filter; what is newest may not be indexed yet"), "{text}");
}

#[test]
fn notices_come_first_each_on_one_line() {
    let notices = vec!["keyword only\nhint: set it".to_owned(), format!("odd {NASTY}")];
    let text = Footer { notices, ..footer() }.text(&[], Style::Plain);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (4, "note: keyword only⏎hint: set it"), "{text}");
    assert!(lines[1].starts_with("note: odd ") && lines[2].starts_with("nothing found"), "{text}");
}
