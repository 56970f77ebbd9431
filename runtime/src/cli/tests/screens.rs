//! What is written while a line editor is on the screen: in order, whole lines, nothing lost, nobody held up.

use crate::cli::output::Output;
use crate::cli::screen::{Room, Screen};
use proptest::prelude::*;
use std::io::Write;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// What is written when there is no editor any more.
#[derive(Clone, Default)]
struct Fallback(Arc<Mutex<Vec<u8>>>);

impl Write for Fallback {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Fallback {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// There is always room.
struct Rooms;

impl Room for Rooms {
    fn make(&self) {}

    fn give_back(&self) {}
}

/// A screen whose lines an editor takes from the receiver.
fn screen() -> (Arc<Screen>, Receiver<String>, Fallback) {
    let (editor, taken) = sync_channel(0);
    let fallback = Fallback::default();
    (Screen::new(editor, Rooms, fallback.clone()).unwrap(), taken, fallback)
}

#[test]
fn pieces_become_lines_and_the_rest_comes_at_the_end() {
    let (screen, taken, fallback) = screen();
    let editor = std::thread::spawn(move || taken.iter().collect::<Vec<_>>());
    for piece in ["one", " and", " a half\ntw", "o\n", "", "the rest"] {
        screen.write(piece);
    }
    screen.close(PATIENCE);
    let pieces = editor.join().unwrap();
    assert!(pieces.iter().all(|piece| piece.ends_with('\n')), "{pieces:?}");
    assert_eq!(pieces.concat(), "one and a half\ntwo\nthe rest\n");
    assert_eq!(fallback.text(), "");
}

#[test]
fn writing_does_not_wait_for_an_editor_that_takes_nothing() {
    let (screen, taken, fallback) = screen();
    let lines: String = (0..20_000).map(|number| format!("line {number}\n")).collect();
    lines.split_inclusive('\n').for_each(|line| screen.write(line));
    // All of it was written while nobody read; the editor ends without having taken a thing.
    drop(taken);
    screen.close(PATIENCE);
    assert_eq!(fallback.text(), lines);
}

#[test]
fn what_an_editor_did_not_take_is_written_when_it_is_gone() {
    let (screen, taken, fallback) = screen();
    let lines: Vec<String> = (0..500).map(|number| format!("line {number}\n")).collect();
    lines.iter().for_each(|line| screen.write(line));
    let first = taken.recv().unwrap();
    drop(taken);
    screen.close(PATIENCE);
    assert_eq!(format!("{first}{}", fallback.text()), lines.concat());
}

#[test]
fn an_editor_that_is_stuck_keeps_nobody() {
    let (screen, _stuck, fallback) = screen();
    screen.write("never taken\n");
    screen.close(Duration::from_millis(20));
    screen.write("too late\n");
    assert_eq!(fallback.text(), "");
}

#[tokio::test]
async fn whoever_has_much_to_say_is_held_back_until_it_is_taken() {
    let (screen, taken, _fallback) = screen();
    screen.ready().await;
    (0..400).for_each(|_| screen.write(&format!("{}\n", "x".repeat(1_000))));
    let waits = tokio::time::timeout(Duration::from_millis(50), screen.ready()).await;
    assert!(waits.is_err(), "400 KB wait, and nobody is held back");
    let editor = std::thread::spawn(move || taken.iter().map(|piece| piece.len()).sum::<usize>());
    screen.ready().await;
    screen.close(PATIENCE);
    assert_eq!(editor.join().unwrap(), 400 * 1_001);
}

/// What `say` leads an editor to show, in pieces.
fn shown(say: impl FnOnce(&Output, &Screen)) -> Vec<String> {
    let (screen, taken, _fallback) = screen();
    let editor = std::thread::spawn(move || taken.iter().collect::<Vec<_>>());
    say(&Output::in_memory(false, false).on_screen(Arc::clone(&screen)), &screen);
    screen.close(PATIENCE);
    editor.join().unwrap()
}

#[test]
fn a_note_goes_out_ahead_of_the_line_that_is_being_streamed() {
    let shown = shown(|output, _| {
        output.piece("here it comes\n\nand");
        output.note("stopping the turn\n");
        output.warn("careful");
        output.data("{}\n").unwrap();
        output.note("");
        output.always("no end of line");
        output.piece(" comes\nand");
        output.end_pieces();
        output.end_pieces();
        output.note("it is over\n");
    });
    assert_eq!(
        shown.concat(),
        "here it comes\n\nstopping the turn\nwarning: careful\n{}\nno end of line\nand comes\nand\nit is over\n"
    );
}

#[test]
fn pieces_are_notes_where_there_is_no_line_editor_and_quiet_is_quiet() {
    let output = Output::in_memory(false, false);
    output.piece("half");
    output.note(" and half\n");
    output.end_pieces();
    assert_eq!(output.take().1, "half and half\n");
    let quiet = Output::in_memory(false, true);
    quiet.piece("half");
    assert_eq!(quiet.take().1, "");
    let on_screen = shown(|_, screen| {
        let (again, taken, _) = self::screen();
        Output::in_memory(false, true).on_screen(Arc::clone(&again)).piece("unseen\n");
        drop(taken);
        again.close(PATIENCE);
        screen.interject("seen\n");
    });
    assert_eq!(on_screen.concat(), "seen\n");
}

proptest! {
    /// Whatever is streamed in whatever pieces, with notes anywhere in between: each line is one of the stream or a note.
    #[test]
    fn no_note_breaks_a_line(pieces in prop::collection::vec(("[a-z\\n]{0,6}", prop::option::of("[A-Z]{1,5}")), 0..20)) {
        let written = shown(|output, _| {
            for (piece, note) in &pieces {
                output.piece(piece);
                if let Some(note) = note {
                    output.note(&format!("{note}\n"));
                }
            }
        })
        .concat();
        let is_note = |line: &&str| line.chars().any(char::is_uppercase);
        let notes: Vec<&str> = written.lines().filter(is_note).collect();
        let expected: Vec<&str> = pieces.iter().filter_map(|(_, note)| note.as_deref()).collect();
        prop_assert_eq!(notes, expected);
        let streamed: Vec<&str> = written.lines().filter(|line| !is_note(line)).collect();
        let whole: String = pieces.iter().map(|(piece, _)| piece.as_str()).collect();
        prop_assert_eq!(streamed, whole.lines().collect::<Vec<_>>());
    }
}
