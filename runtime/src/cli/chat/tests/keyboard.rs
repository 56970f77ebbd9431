//! Keys between two lines, on a terminal of the test's own.

use super::super::keyboard::Keyboard;
use rustix::termios::{InputModes, LocalModes, SpecialCodeIndex, Termios, tcgetattr};
use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;

/// The end of a new terminal at which keys are typed; it answers for the other end's modes, too.
fn terminal() -> File {
    OpenOptions::new().read(true).write(true).open("/dev/ptmx").unwrap()
}

fn kept(typist: &File) -> Keyboard {
    Keyboard::keep_on(OwnedFd::from(typist.try_clone().unwrap())).unwrap()
}

/// All that can be told of the modes.
fn said(modes: &Termios) -> String {
    format!("{modes:?}")
}

#[test]
fn keys_stay_as_they_are_and_lines_that_are_written_too() {
    let typist = terminal();
    let before = tcgetattr(&typist).unwrap();
    let _keyboard = kept(&typist);
    let between = tcgetattr(&typist).unwrap();
    for changed in [InputModes::ICRNL, InputModes::INLCR, InputModes::IGNCR, InputModes::IXON, InputModes::ISTRIP] {
        assert!(!between.input_modes.intersects(changed), "{changed:?}");
    }
    for changed in [LocalModes::ICANON, LocalModes::ECHO, LocalModes::IEXTEN] {
        assert!(!between.local_modes.intersects(changed), "{changed:?}");
    }
    assert!(between.local_modes.contains(LocalModes::ISIG | LocalModes::NOFLSH));
    assert_eq!((between.output_modes, between.control_modes), (before.output_modes, before.control_modes));
    let code = |index| (before.special_codes[index], between.special_codes[index]);
    assert_eq!(code(SpecialCodeIndex::VINTR), (3, 3));
    assert_eq!((code(SpecialCodeIndex::VSUSP).1, code(SpecialCodeIndex::VQUIT).1), (0, 0));
    // Nothing is waited for but a key.
    assert_eq!((code(SpecialCodeIndex::VMIN).1, code(SpecialCodeIndex::VTIME).1), (1, 0));
}

#[test]
fn whoever_leaves_last_leaves_the_terminal_as_it_was() {
    let typist = terminal();
    let before = tcgetattr(&typist).unwrap();
    let first = kept(&typist);
    let between = tcgetattr(&typist).unwrap();
    assert_ne!(said(&between), said(&before));
    let second = first.clone();
    drop(first);
    assert_eq!(said(&tcgetattr(&typist).unwrap()), said(&before));
    // As the editor does when it leaves a line after the others have left.
    rustix::termios::tcsetattr(&typist, rustix::termios::OptionalActions::Now, &between).unwrap();
    drop(second);
    assert_eq!(said(&tcgetattr(&typist).unwrap()), said(&before));
}

#[test]
fn what_is_no_terminal_is_refused() {
    let file = tempfile::tempfile().unwrap();
    assert!(Keyboard::keep_on(OwnedFd::from(file)).is_err());
}
