//! Plain lines.

use super::super::input::{Input, Typed};
use super::super::paste::MAX_PROMPT_BYTES;
use std::io::{Cursor, Read};

async fn all(bytes: impl Into<Vec<u8>>) -> Vec<Typed> {
    let mut input = Input::of_lines(Cursor::new(bytes.into())).unwrap();
    let mut typed = Vec::new();
    loop {
        match input.next().await {
            Typed::End => return typed,
            next => typed.push(next),
        }
    }
}

fn line(text: &str) -> Typed {
    Typed::Line(text.to_owned())
}

#[tokio::test]
async fn each_line_comes_by_itself_and_the_last_needs_no_end() {
    assert_eq!(all("one\n\n two \r\nthree").await, [line("one"), line(""), line(" two "), line("three")]);
    assert_eq!(all("").await, []);
    assert_eq!(all("\n").await, [line("")]);
}

#[tokio::test]
async fn after_the_end_there_is_only_the_end() {
    let mut input = Input::of_lines(Cursor::new(b"x\n".to_vec())).unwrap();
    assert_eq!(input.next().await, line("x"));
    for _ in 0..3 {
        assert_eq!(input.next().await, Typed::End);
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_not() {
    let most = "m".repeat(MAX_PROMPT_BYTES);
    let typed = all(format!("{most}\n{most}{most}mm\nnext\n{most}m")).await;
    assert_eq!(typed[0], line(&most));
    assert_eq!(typed[1], Typed::Notice("not sent: 8.3 MB are too much; a prompt holds at most 4.1 MB".to_owned()));
    assert_eq!(typed[2], line("next"));
    assert!(matches!(&typed[3], Typed::Notice(notice) if notice.starts_with("not sent: ")), "the last line");
    assert_eq!(typed.len(), 4);
}

#[tokio::test]
async fn what_is_not_utf8_is_left_out_and_control_characters_go() {
    let typed = all(b"good\n\xff\xfe\nan\x1b[31m escape\0\nlast\n".to_vec()).await;
    let not_utf8 = Typed::Notice("not sent: the line is not UTF-8".to_owned());
    assert_eq!(typed, [line("good"), not_utf8, line("an escape"), line("last")]);
}

/// A pipe that breaks.
struct Breaks;

impl Read for Breaks {
    fn read(&mut self, _buffer: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("it broke"))
    }
}

#[tokio::test]
async fn a_pipe_that_breaks_is_told_once() {
    let mut input = Input::of_lines(Breaks).unwrap();
    assert_eq!(input.next().await, Typed::Failed("cannot read what is typed: it broke".to_owned()));
    assert_eq!(input.next().await, Typed::End);
}
