//! A progress bar for work that takes longer than a moment: on stderr, and only where somebody sees it.

use super::invocation::Invocation;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Work that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(300);

/// How the bar looks.
const LOOK: &str = "{msg} {bar:24} {percent:>3}% {elapsed}";

/// A bar that waits before it shows itself.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    seen: bool,
    waits: bool,
}

impl Progress {
    /// A bar for what `words` say is going on.
    pub(crate) fn begin(invocation: &Invocation, words: &'static str) -> Self {
        let output = &invocation.output;
        let seen = invocation.owns_process() && !output.quiet && std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_message(words);
        if let Ok(look) = ProgressStyle::with_template(LOOK) {
            bar.set_style(look.progress_chars("=> "));
        }
        Self { bar, begun: Instant::now(), seen, waits: true }
    }

    /// So much of so much is done.
    pub(crate) fn at(&mut self, done: u64, all: u64) {
        if self.waits && self.seen && self.begun.elapsed() >= PATIENCE {
            self.waits = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(all.max(1));
        self.bar.set_position(done.min(all.max(1)));
    }
}

impl Drop for Progress {
    /// Takes the bar off the screen.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
