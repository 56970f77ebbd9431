//! Where the user's lines come from: the line editor on a terminal, plain lines otherwise.

use super::editor::Editor;
use super::paste::{self, MAX_PROMPT_BYTES};
use std::io::{BufRead, Read};
use tokio::sync::mpsc;

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line, or several as one, as they are to be understood: pastes are in their place.
    Line(String),
    /// Ctrl-C, while nothing stood in the line or a turn was running.
    Interrupt,
    /// Ctrl-D on an empty line, or the end of the input.
    End,
    /// Nothing more can be read.
    Failed(String),
    /// Something the user should know about what they typed.
    Notice(String),
}

/// The user's lines.
#[derive(Debug)]
pub(super) struct Input {
    /// The line editor, when there is one.
    pub(super) editor: Option<Editor>,
    typed: mpsc::Receiver<Typed>,
}

impl Input {
    /// Lines of a line editor.
    pub(super) const fn of_editor(editor: Editor, typed: mpsc::Receiver<Typed>) -> Self {
        Self { editor: Some(editor), typed }
    }

    /// Plain lines of `reader`, each read when the one before it was taken.
    ///
    /// # Errors
    /// When there can be no thread.
    pub(super) fn of_lines(reader: impl Read + Send + 'static) -> std::io::Result<Self> {
        let (sender, typed) = mpsc::channel(1);
        let mut reader = std::io::BufReader::new(reader);
        // No task of the runtime, which would wait for a read that never ends.
        std::thread::Builder::new().name("chat-lines".to_owned()).spawn(move || {
            loop {
                let next = next_line(&mut reader);
                let last = matches!(next, Typed::End | Typed::Failed(_));
                if sender.blocking_send(next).is_err() || last {
                    return;
                }
            }
        })?;
        Ok(Self { editor: None, typed })
    }

    /// What comes next; [`Typed::End`] for ever after the end. Cancel-safe.
    pub(super) async fn next(&mut self) -> Typed {
        self.typed.recv().await.unwrap_or(Typed::End)
    }
}

/// The next line of a pipe or a simple terminal, without control characters. One that is too long is left out, and said so.
fn next_line(reader: &mut impl BufRead) -> Typed {
    let mut bytes = Vec::new();
    // One byte more for the line's end, or to see that it is too long.
    let most = MAX_PROMPT_BYTES as u64 + 1;
    match reader.by_ref().take(most).read_until(b'\n', &mut bytes) {
        Ok(0) => return Typed::End,
        Ok(_) => {}
        Err(error) => return Typed::Failed(format!("cannot read what is typed: {error}")),
    }
    if bytes.last() != Some(&b'\n') && bytes.len() > MAX_PROMPT_BYTES {
        let rest = skip_line(reader);
        return match rest {
            Ok(more) => Typed::Notice(paste::too_large(bytes.len() + more)),
            Err(error) => Typed::Failed(format!("cannot read what is typed: {error}")),
        };
    }
    match String::from_utf8(bytes) {
        Ok(line) => Typed::Line(paste::clean(line.trim_end_matches(['\n', '\r'])).0),
        Err(_) => Typed::Notice("not sent: the line is not UTF-8".to_owned()),
    }
}

/// Reads on to the end of the line, and tells how long that was.
fn skip_line(reader: &mut impl BufRead) -> std::io::Result<usize> {
    let mut skipped = 0;
    loop {
        let piece = reader.fill_buf()?;
        if piece.is_empty() {
            return Ok(skipped);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(piece.len(), |end| end + 1);
        reader.consume(used);
        skipped += used;
        if end.is_some() {
            return Ok(skipped);
        }
    }
}
