//! Hits for people: what stands where, in narrow terminals, in colours, and with words that mean harm.

use super::{FIRST, NASTY, SECRET, all_sorts, code, event, origins, redactor, titled};
use crate::cli::render::Style;
use crate::cli::search::hit_list::HitList;
use expect_test::expect;
use proptest::prelude::*;
use retrace_indexer::{DocumentKind, Hit};
use unicode_width::UnicodeWidthStr;

fn shown(hits: &[Hit], style: Style, width: Option<usize>, explain: bool) -> String {
    HitList { style, width, explain, origins: &origins(), redactor: redactor() }.text(hits)
}

fn plain(hits: &[Hit], width: Option<usize>) -> String {
    shown(hits, Style::Plain, width, false)
}

#[test]
fn hits_of_one_session_stand_together_in_the_order_of_their_best() {
    expect![[r#"
        01m7ywme-w0rdt05x  make the flaky test deterministic
          1. #42 result · bash · exit 101 · 2026-11-21 10:47Z · src/error.rs +1 · 3.25
              test error::caret … FAILED
                left: 7
               right: 8
          4. #0 prompt · 2026-11-21 10:05Z · 1.50
              where does the caret come from?

        code  /home/ada/project
          2. src/error.rs:120-158 · 0.75
              fn notate_line(&self) -> String {
                  let mut caret = 0;

        01m80000-aaaabbbb  carets in error messages
          3. #3-57 summary · 2026-11-21 10:08Z · 1.50
              user: the caret stands in the wrong column
    "#]]
    .assert_eq(&plain(&all_sorts(), None));
}

#[test]
fn a_narrow_terminal_gets_what_fits() {
    expect![[r#"
        01m7ywme-w0rdt05x  make t…
          1. #42 result · bash
              test error::caret …
              FAILED
                left: 7
               right: 8

        code  /home/ada/project
          2. src/error.rs:120-158
              fn notate_line(&self
              ) -> String {
                  let mut caret =
              0;
    "#]]
    .assert_eq(&plain(&all_sorts()[..2], Some(26)));
}

#[test]
fn colours_mark_what_matched_and_who_failed() {
    expect![[r#"
        [1m01m7ywme-w0rdt05x[0m  make the flaky test deterministic
        [2m  1. [0m[31m#42 result · bash · exit 101 · 2026-11-21 10:47Z · src/error.rs +1[0m[2m · 3.25[0m
              test error::[33mcaret[0m … FAILED
                left: 7
               right: 8
        [2m  2. [0m[36m#0 prompt · 2026-11-21 10:05Z[0m[2m · 1.50[0m
              where does the [33mcaret[0m come from?
    "#]]
    .assert_eq(
        &shown(&[all_sorts()[0].clone(), all_sorts()[3].clone()], Style::Coloured, None, false).replace('\u{1b}', ""),
    );
}

#[test]
fn scores_are_explained_when_asked() {
    let text = shown(&all_sorts()[3..], Style::Plain, None, true);
    assert!(text.contains("\n      keyword 1.000 · recency 0.500\n      where"), "{text}");
    let mut listed = all_sorts()[3].clone();
    listed.score = 0.001;
    assert!(plain(&[listed], None).contains("  1. #0 prompt · 2026-11-21 10:05Z\n"));
}

#[test]
fn no_hits_are_no_lines() {
    assert_eq!(plain(&[], Some(80)), "");
}

#[test]
fn hostile_words_do_no_harm_wherever_they_stand() {
    let mut hit =
        event(DocumentKind::Result, &format!("ev.a.b.session.{NASTY}"), 1, &format!("a {NASTY} ‹b› {SECRET}"));
    hit.tool = Some(format!("{NASTY}\ntool {SECRET}"));
    hit.paths = vec![format!("{NASTY}/{SECRET}\npath")];
    let mut file = code(&format!("{NASTY}\n{SECRET}.rs"), 1, 2, NASTY);
    file.score = f32::NAN;
    let mut origins = titled(&format!("ev.a.b.session.{NASTY}"), &format!("{NASTY}\n{SECRET}"));
    origins.code.insert(file.key.clone(), format!("{NASTY}\n{SECRET}"));
    for (style, width) in [(Style::Plain, None), (Style::Plain, Some(1)), (Style::Coloured, Some(40))] {
        let list = HitList { style, width, explain: true, origins: &origins, redactor: redactor() };
        let text = list.text(&[hit.clone(), file.clone()]);
        assert!(!text.contains("hunter2"), "{text}");
        // Our own colours aside.
        let text = text.replace("\u{1b}[0m", "");
        let bare =
            ["1", "2", "31", "33", "36"].iter().fold(text, |text, code| text.replace(&format!("\u{1b}[{code}m"), ""));
        let harmful = |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}');
        assert_eq!(bare.chars().find(harmful), None, "{bare:?}");
    }
}

#[test]
fn a_long_snippet_is_a_few_lines() {
    let text = plain(&[event(DocumentKind::Answer, FIRST, 1, &"word ".repeat(5_000))], Some(60));
    assert_eq!(text.lines().count(), 2 + 6, "{text}");
    let text = plain(&[event(DocumentKind::Answer, FIRST, 1, &"line\n".repeat(5_000))], None);
    assert_eq!(text.lines().count(), 2 + 6, "{text}");
}

#[test]
fn a_session_without_a_title_has_its_id() {
    let text = plain(&[event(DocumentKind::Note, "ev.local.p.session.x-1", 7, "done")], None);
    assert_eq!(text, "x-1\n  1. #7 note · 2026-11-21 10:12Z · 1.50\n      done\n");
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_terminal(
        words in "[a-z \u{4e00}-\u{4e20}\u{1f600}\n]{0,400}", title in "[a-z\u{4e00}-\u{4e20} ]{0,80}", width in 1_usize..120,
    ) {
        let mut hit = event(DocumentKind::Result, FIRST, 1, &words);
        hit.paths = vec![title.clone()];
        let origins = titled(FIRST, &title);
        let list = HitList { style: Style::Plain, width: Some(width), explain: true, origins: &origins, redactor: redactor() };
        for line in list.text(&[hit]).lines() {
            prop_assert!(line.width() <= width.max(20), "{line:?} in {width}");
        }
    }
}
