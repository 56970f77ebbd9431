//! What is written while the line editor is on the screen: whole lines, handed to the editor, which prints them above the
//! line that is being written.
//!
//! Two kinds of writers: one stream whose lines come in pieces ([`Screen::write`], an answer while it is made), and anybody
//! else with whole lines ([`Screen::interject`]), which go out ahead of the stream's unfinished line and never within it.
//!
//! Writing never blocks: lines wait in a queue that a thread of its own empties, and [`Screen::ready`] holds back whoever
//! has much to say. Nothing is lost: the editor takes lines over one hand to the other (a channel of no capacity), and what
//! it did not take is written to the terminal when it is gone.

use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How much may wait before [`Screen::ready`] holds back, in bytes.
const FULL: usize = 256 * 1024;

/// The most that is handed to the editor at once, in bytes.
const PIECE: usize = 32 * 1024;

/// Makes room before something is written, and gives it back.
pub(crate) trait Room: Send {
    /// Something is about to be written.
    fn make(&self);
    /// It was handed over.
    fn give_back(&self);
}

/// The screen while a line editor is on it.
#[derive(Debug)]
pub(crate) struct Screen {
    inner: Mutex<Inner>,
    /// How many bytes wait.
    waiting: Arc<watch::Sender<usize>>,
}

#[derive(Debug)]
struct Inner {
    /// The line of the stream that is not complete yet.
    line: String,
    lines: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// A screen whose lines `editor` takes, in the `room` it makes, and `fallback` when the editor is gone.
    ///
    /// # Errors
    /// When there can be no thread.
    pub(crate) fn new(
        editor: SyncSender<String>,
        room: impl Room + 'static,
        fallback: impl Write + Send + 'static,
    ) -> std::io::Result<Arc<Self>> {
        let (lines, queue) = channel();
        let waiting = Arc::new(watch::channel(0).0);
        let told = Arc::clone(&waiting);
        let hand_over = move || hand_over(&queue, &editor, &room, fallback, &told);
        let thread = std::thread::Builder::new().name("chat-screen".to_owned()).spawn(hand_over)?;
        let inner = Inner { line: String::new(), lines: Some(lines), thread: Some(thread) };
        Ok(Arc::new(Self { inner: Mutex::new(inner), waiting }))
    }

    /// Writes a piece of the stream; what follows the last line end waits for the next one.
    pub(crate) fn write(&self, text: &str) {
        let mut inner = self.lock();
        inner.line.push_str(text);
        let Some(end) = inner.line.rfind('\n') else { return };
        let rest = inner.line.split_off(end + 1);
        let whole = std::mem::replace(&mut inner.line, rest);
        self.send(&inner, whole);
    }

    /// Ends the stream's line, if one is begun.
    pub(crate) fn end_line(&self) {
        let mut inner = self.lock();
        if !inner.line.is_empty() {
            let line = std::mem::take(&mut inner.line) + "\n";
            self.send(&inner, line);
        }
    }

    /// Writes whole lines at once, ahead of a line of the stream that is not complete.
    pub(crate) fn interject(&self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        if !text.is_empty() {
            self.send(&self.lock(), format!("{text}{end}"));
        }
    }

    /// Waits until not too much is waiting.
    pub(crate) async fn ready(&self) {
        // The sender lives as long as this.
        let _ = self.waiting.subscribe().wait_for(|bytes| *bytes < FULL).await;
    }

    /// Writes what is left, and ends; gives up when nobody takes it for longer than `patience`.
    pub(crate) fn close(&self, patience: Duration) {
        self.end_line();
        let thread = {
            let mut inner = self.lock();
            inner.lines = None;
            inner.thread.take()
        };
        let Some(thread) = thread else { return };
        let begun = Instant::now();
        while !thread.is_finished() {
            if begun.elapsed() > patience {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        // A panic there was reported there.
        let _ = thread.join();
    }

    fn send(&self, inner: &Inner, text: String) {
        let bytes = text.len();
        match &inner.lines {
            Some(lines) if lines.send(text).is_ok() => self.waiting.send_modify(|waiting| *waiting += bytes),
            // After the end there is nobody to read it.
            Some(_) | None => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands line after line to the editor, several at once when several wait.
fn hand_over(
    queue: &Receiver<String>,
    editor: &SyncSender<String>,
    room: &impl Room,
    mut fallback: impl Write,
    waiting: &watch::Sender<usize>,
) {
    while let Ok(mut text) = queue.recv() {
        while text.len() < PIECE {
            match queue.try_recv() {
                Ok(more) => text.push_str(&more),
                Err(_) => break,
            }
        }
        let bytes = text.len();
        room.make();
        if let Err(unsent) = editor.send(text) {
            let _ = fallback.write_all(unsent.0.as_bytes()).and_then(|()| fallback.flush());
        }
        room.give_back();
        waiting.send_modify(|waiting| *waiting = waiting.saturating_sub(bytes));
    }
}
