//! The line editor, in a thread of its own: several lines, pastes, history, completion. It goes back to reading as soon as
//! it has handed a line over, so that what is written meanwhile always finds it.

use super::complete::{Names, SlashCompleter};
use super::history::GuardedHistory;
use super::input::Typed;
use super::keyboard::Keyboard;
use super::keys::{ChatKeys, Line, LineWatcher, MENU};
use super::paste::{self, MAX_PROMPT_BYTES, Pastes};
use crate::cli::screen::{Room, Screen};
use reedline::{
    Color, ColumnarMenu, EditCommand, ExternalPrinter, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch,
    Reedline, ReedlineMenu, Signal,
};
use retrace_events::redact::Redactor;
use std::borrow::Cow;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use unicode_width::UnicodeWidthStr;

/// How long what is written may wait for the editor.
const POLL: Duration = Duration::from_millis(30);

/// How long the editor may take to put its line aside.
const ROOM: Duration = Duration::from_millis(300);

/// What stands before the line.
const INDICATOR: &str = "> ";

/// How long the editor may take to leave the screen: more only when the terminal is stuck or gone.
pub(super) const BRIEFLY: Duration = Duration::from_millis(250);

/// How many lines may be typed ahead.
const AHEAD: usize = 64;

/// The line editor.
pub(super) struct Editor {
    shared: Arc<Shared>,
    names: SlashCompleter,
    /// Shows the prompt anew.
    repaint: Box<dyn Fn() + Send + Sync>,
    thread: Option<JoinHandle<()>>,
    _keyboard: Keyboard,
}

/// What the editor's thread and the conversation both know.
#[derive(Debug, Default)]
struct Shared {
    stop: Arc<AtomicBool>,
    ended: AtomicBool,
    line: Arc<Line>,
    /// The line is to be put aside while something is written.
    aside: AtomicBool,
    /// It is about to come back: what is painted now is not how it will be.
    returning: AtomicBool,
    prompt: Mutex<Shown>,
}

/// The prompt as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// The words before `> `.
    pub(super) words: String,
    /// Whether they are a warning.
    pub(super) warning: bool,
}

impl Editor {
    /// Puts the editor on the screen. What is written from then on goes through the screen that comes along.
    ///
    /// # Errors
    /// When there can be no thread, or no terminal.
    pub(super) fn start(
        history: &Path,
        redactor: Arc<Redactor>,
        coloured: bool,
    ) -> std::io::Result<(Self, Arc<Screen>, mpsc::Receiver<Typed>)> {
        let printer = ExternalPrinter::new(0);
        let (sender, typed) = mpsc::channel(AHEAD);
        let (shared, names) = (Arc::<Shared>::default(), SlashCompleter::default());
        let screen = Screen::new(printer.sender(), Aside(Arc::clone(&shared)), std::io::stderr())?;
        let pastes = Arc::new(Mutex::new(Pastes::default()));
        let (history, why) = GuardedHistory::open(history, redactor, Arc::clone(&pastes));
        if let Some(why) = why {
            screen.write(&format!("{why}\n"));
        }
        let keys = ChatKeys::new(Arc::clone(&shared.line), Arc::clone(&pastes), sender.clone());
        let mut engine = Reedline::create()
            .with_external_printer(printer)
            .with_poll_interval(POLL)
            .with_break_signal(Arc::clone(&shared.stop))
            .with_ansi_colors(coloured)
            .use_bracketed_paste(true)
            .use_kitty_keyboard_enhancement(true)
            .with_edit_mode(Box::new(keys))
            .with_highlighter(Box::new(LineWatcher::new(Arc::clone(&shared.line))))
            .with_history(Box::new(history))
            .with_completer(Box::new(names.clone()))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(
                ColumnarMenu::default().with_name(MENU).with_columns(1),
            )));
        let signal = engine.repaint_signal();
        let repaint = Box::new(move || signal.request_repaint());
        let keyboard = Keyboard::keep()?;
        let (aside, of_reader) = (None, keyboard.clone());
        let reader = Reader { engine, aside, shared: Arc::clone(&shared), pastes, sender, _keyboard: of_reader };
        let thread = std::thread::Builder::new().name("chat-editor".to_owned()).spawn(move || reader.run())?;
        Ok((Self { shared, names, repaint, thread: Some(thread), _keyboard: keyboard }, screen, typed))
    }

    /// Whether a turn is running.
    pub(super) fn set_busy(&self, busy: bool) {
        self.shared.line.busy.store(busy, Ordering::Release);
    }

    /// Shows another prompt.
    pub(super) fn set_prompt(&self, shown: Shown) {
        let mut prompt = lock(&self.shared.prompt);
        if *prompt != shown {
            self.shared.line.prompt.store(shown.words.width() + INDICATOR.len(), Ordering::Release);
            *prompt = shown;
            (self.repaint)();
        }
    }

    /// Takes other names to complete.
    pub(super) fn set_names(&self, names: Names) {
        self.names.set(names);
    }

    /// Takes the editor off the screen. False when a terminal that is stuck or gone keeps it for longer than `patience`.
    pub(super) fn stop(&mut self, patience: Duration) -> bool {
        self.shared.ended.store(true, Ordering::Release);
        let begun = Instant::now();
        let Some(thread) = self.thread.take() else { return true };
        while !thread.is_finished() {
            self.shared.stop.store(true, Ordering::Release);
            if begun.elapsed() > patience {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // A panic there was reported there.
        let _ = thread.join();
        true
    }
}

impl Drop for Editor {
    /// Where the chat ends in a panic, nobody else takes the editor off the screen.
    fn drop(&mut self) {
        self.stop(BRIEFLY);
    }
}

impl std::fmt::Debug for Editor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Editor").finish_non_exhaustive()
    }
}

/// Has the line put aside while something is written that would otherwise be written in the wrong place.
struct Aside(Arc<Shared>);

impl Room for Aside {
    fn make(&self) {
        let shared = &self.0;
        let in_the_way = || shared.returning.load(Ordering::Acquire) || shared.line.in_the_way.load(Ordering::Acquire);
        if !in_the_way() {
            return;
        }
        shared.aside.store(true, Ordering::Release);
        let begun = Instant::now();
        // An editor that is stuck, or gone, is not waited for: what is written is more than how it looks.
        while in_the_way() && begun.elapsed() < ROOM {
            shared.stop.store(true, Ordering::Release);
            std::thread::sleep(Duration::from_millis(3));
        }
    }

    fn give_back(&self) {
        if self.0.aside.swap(false, Ordering::AcqRel) {
            self.0.returning.store(true, Ordering::Release);
            self.0.stop.store(true, Ordering::Release);
        }
    }
}

/// The thread.
struct Reader {
    engine: Reedline,
    /// The line that was put aside, and where the cursor stood.
    aside: Option<(String, usize)>,
    shared: Arc<Shared>,
    pastes: Arc<Mutex<Pastes>>,
    sender: mpsc::Sender<Typed>,
    /// Behind the engine, which leaves the terminal as it found it when its last line began.
    _keyboard: Keyboard,
}

impl Reader {
    fn run(mut self) {
        let prompt = ChatPrompt(Arc::clone(&self.shared));
        while !self.shared.ended.load(Ordering::Acquire) {
            let typed = match self.engine.read_line(&prompt) {
                Ok(Signal::Success(line)) => Some(self.line(&line)),
                Ok(Signal::CtrlD) => Some(Typed::End),
                Ok(_) => {
                    self.put_aside();
                    None
                }
                Err(error) => Some(Typed::Failed(format!("the terminal cannot be read: {error}"))),
            };
            let Some(typed) = typed else { continue };
            let last = matches!(typed, Typed::Failed(_));
            if self.sender.blocking_send(typed).is_err() || last {
                break;
            }
        }
        // The prompt that nobody answers any more.
        let _ = std::io::stderr().write_all(b"\r\x1b[J");
    }

    /// Takes the line off the screen, or brings it back, as it is wished.
    fn put_aside(&mut self) {
        let wished = self.shared.aside.load(Ordering::Acquire);
        let line = self.engine.current_buffer_contents().to_owned();
        match self.aside.take() {
            None if wished && !line.is_empty() => {
                self.aside = Some((line, self.engine.current_insertion_point()));
                self.engine.run_edit_commands(&[EditCommand::Clear]);
            }
            Some(kept) if !wished => {
                let (whole, position) = put_together(kept, &line);
                let back = EditCommand::MoveToPosition { position, select: false };
                self.engine.run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(whole), back]);
                // Until it is painted and looked at.
                self.shared.line.in_the_way.store(true, Ordering::Release);
            }
            kept => self.aside = kept,
        }
        self.shared.returning.store(false, Ordering::Release);
    }

    fn line(&mut self, line: &str) -> Typed {
        let line = match self.aside.take() {
            Some(kept) => put_together(kept, line).0,
            None => line.to_owned(),
        };
        let whole = {
            let mut pastes = lock(&self.pastes);
            let whole = pastes.put_back(&line);
            pastes.clear();
            whole
        };
        // The history is a convenience: one that cannot be written stops nothing.
        let _ = self.engine.sync_history();
        if whole.len() > MAX_PROMPT_BYTES {
            return Typed::Notice(paste::too_large(whole.len()));
        }
        Typed::Line(whole)
    }
}

/// The line that was put aside, with what was typed meanwhile, and where the cursor stands then.
fn put_together((mut line, cursor): (String, usize), typed: &str) -> (String, usize) {
    let cursor = if line.is_char_boundary(cursor) { cursor } else { line.len() };
    line.insert_str(cursor, typed);
    (line, cursor + typed.len())
}

/// `> `, behind words where there are some.
struct ChatPrompt(Arc<Shared>);

impl Prompt for ChatPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        lock(&self.0.prompt).words.clone().into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        INDICATOR.into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "  ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!("(history: {}) ", search.term).into()
    }

    fn get_prompt_color(&self) -> Color {
        if lock(&self.0.prompt).warning { Color::Red } else { Color::Yellow }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
