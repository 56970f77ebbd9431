//! Where words go.

use crate::cli::output::Output;
use crate::cli::{CliError, Exit};

#[test]
fn data_and_notes_are_kept_apart() {
    let output = Output::in_memory(false, false);
    output.data("data\n").unwrap();
    output.note("note\n");
    output.warn("careful");
    assert_eq!(output.take(), ("data\n".to_owned(), "note\nwarning: careful\n".to_owned()));
}

#[test]
fn quiet_keeps_warnings_and_errors() {
    let output = Output::in_memory(false, true);
    output.note("note\n");
    output.warn("careful");
    output.error(&CliError::new(Exit::Failed, "bad").hint("do"));
    assert_eq!(output.take(), (String::new(), "warning: careful\nerror: bad\nhint: do\n".to_owned()));
}

#[test]
fn a_reader_that_went_away_is_no_news() {
    let output = Output::in_memory(true, false);
    let error = CliError::reader_gone();
    output.error(&error);
    assert_eq!((output.take(), error.exit), ((String::new(), String::new()), Exit::Done));
}
