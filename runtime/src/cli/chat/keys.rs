//! What the keys mean in the line editor: the usual bindings, with pastes taken aside and Ctrl-C as a wish rather than an end.
//!
//! Ctrl-C is told at once and leaves the editor where it is: whatever was typed behind it would be lost otherwise.

use super::input::Typed;
use super::layout;
use super::paste::Pastes;
use reedline::{
    EditCommand, EditMode, Emacs, Highlighter, KeyCode, KeyModifiers, Keybindings, PromptEditMode, ReedlineEvent,
    ReedlineRawEvent, SimpleMatchHighlighter, StyledText, default_emacs_keybindings,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// The name of the completion menu.
pub(super) const MENU: &str = "completions";

/// What is known of the line that is being written.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// A turn is running: Ctrl-C means it, whatever stands in the line.
    pub(super) busy: AtomicBool,
    /// Something stands in the line.
    begun: AtomicBool,
    /// What is written now would be written in the wrong place: the line has to go first.
    pub(super) in_the_way: AtomicBool,
    /// The columns of the prompt.
    pub(super) prompt: AtomicUsize,
}

/// The meaning of keys.
pub(super) struct ChatKeys {
    inner: Emacs,
    line: Arc<Line>,
    pastes: Arc<Mutex<Pastes>>,
    typed: mpsc::Sender<Typed>,
    /// The history is being searched.
    searching: bool,
}

impl ChatKeys {
    /// Keys whose wishes go to `typed`.
    pub(super) fn new(line: Arc<Line>, pastes: Arc<Mutex<Pastes>>, typed: mpsc::Sender<Typed>) -> Self {
        Self { inner: Emacs::new(bindings()), line, pastes, typed, searching: false }
    }

    /// Ctrl-C belongs to the running turn; without one it clears the line; on an empty line it is a wish to leave.
    fn interrupt(&mut self) -> ReedlineEvent {
        let searching = std::mem::take(&mut self.searching);
        let busy = self.line.busy.load(Ordering::Acquire);
        if busy || !(searching || self.line.begun.load(Ordering::Acquire)) {
            self.tell(Typed::Interrupt);
            return ReedlineEvent::None;
        }
        self.pastes.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.line.begun.store(false, Ordering::Release);
        // This leaves the search, too.
        if searching { ReedlineEvent::CtrlC } else { ReedlineEvent::Edit(vec![EditCommand::Clear]) }
    }

    /// Only a paste inserts a whole text at once.
    fn aside(&self, command: EditCommand) -> EditCommand {
        let EditCommand::InsertString(raw) = command else { return command };
        let pasted = self.pastes.lock().unwrap_or_else(PoisonError::into_inner).take(&raw);
        if let Some(notice) = pasted.notice {
            self.tell(Typed::Notice(notice));
        }
        EditCommand::InsertString(pasted.insert)
    }

    fn tell(&self, typed: Typed) {
        // The editor must not wait here. When that many things wait to be read, one more changes nothing.
        let _ = self.typed.try_send(typed);
    }
}

impl EditMode for ChatKeys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        match self.inner.parse_event(event) {
            ReedlineEvent::CtrlC => self.interrupt(),
            ReedlineEvent::Edit(commands) => {
                // Until the line is painted again, it may hold what these commands put there.
                self.line.begun.store(true, Ordering::Release);
                ReedlineEvent::Edit(commands.into_iter().map(|command| self.aside(command)).collect())
            }
            ReedlineEvent::SearchHistory => {
                self.searching = true;
                ReedlineEvent::SearchHistory
            }
            ReedlineEvent::CtrlD if !self.searching && !self.line.begun.load(Ordering::Acquire) => {
                self.tell(Typed::End);
                ReedlineEvent::None
            }
            event @ (ReedlineEvent::Enter | ReedlineEvent::Esc | ReedlineEvent::CtrlD) => {
                self.searching = false;
                event
            }
            event => event,
        }
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.inner.edit_mode()
    }
}

fn bindings() -> Keybindings {
    let mut keys = default_emacs_keybindings();
    let newline = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline());
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline());
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), newline());
    let complete = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    keys
}

/// Sees each line as it is painted.
pub(super) struct LineWatcher {
    inner: SimpleMatchHighlighter,
    line: Arc<Line>,
}

impl LineWatcher {
    /// Notes what it sees in `line`.
    pub(super) fn new(line: Arc<Line>) -> Self {
        Self { inner: SimpleMatchHighlighter::default(), line }
    }
}

impl Highlighter for LineWatcher {
    fn highlight(&self, line: &str, cursor: usize) -> StyledText {
        self.line.begun.store(!line.is_empty(), Ordering::Release);
        let width = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |size| usize::from(size.ws_col));
        let prompt = self.line.prompt.load(Ordering::Acquire);
        self.line.in_the_way.store(layout::misplaced(line, cursor, prompt, width), Ordering::Release);
        self.inner.highlight(line, cursor)
    }
}
