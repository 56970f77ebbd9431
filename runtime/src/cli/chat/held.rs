//! A session that another process holds: who that is, and what can be done about it.

use super::input::Typed;
use super::opening::{Role, Target};
use super::signals::Sign;
use super::{Chat, Next};
use crate::cli::exit::{CliError, Exit};
use crate::cli::render::clean;
use retrace_events::StreamId;
use retrace_events::log::Holder;

/// The error where nobody can be asked what to do.
fn error(stream: &StreamId, holder: &Holder) -> CliError {
    let id = &stream.id;
    CliError::new(Exit::Log, format!("session {id} is held by {}", clean::line(&holder.to_string())))
        .hint(format!("`retrace send {id} \"…\"` sends it a prompt, `retrace show --follow {id}` watches it"))
}

impl Chat {
    /// Asks what to do about a session that `holder` has.
    ///
    /// # Errors
    /// When nobody can be asked.
    pub(super) async fn ask_about(&mut self, stream: StreamId, holder: &Holder) -> Result<Next, CliError> {
        if !self.attended {
            return Err(error(&stream, holder));
        }
        let who = clean::line(&holder.to_string());
        let choices = "[w]atch it, [s]end it prompts from here, begin a [n]ew session, or [q]uit";
        self.say(&format!("session {} is held by {who}\n{choices}\n", stream.id));
        self.show_prompt("w/s/n/q");
        loop {
            let typed = tokio::select! {
                biased;
                sign = self.signals.next() => match sign {
                    Sign::Interrupt => Typed::Interrupt,
                    Sign::Terminate => return Ok(Next::Leave(Exit::Interrupted)),
                },
                typed = self.input.next() => typed,
            };
            match typed {
                Typed::Line(line) => match line.trim().to_lowercase().as_str() {
                    "w" | "watch" => return Ok(Next::Follow(stream, Role::Watcher)),
                    "s" | "send" => return Ok(Next::Follow(stream, Role::Sender)),
                    "n" | "new" => return Ok(Next::Open(Target::New)),
                    "q" | "quit" | "/quit" | "/exit" => return Ok(Next::Leave(Exit::Done)),
                    _ => self.say(&format!("{choices}\n")),
                },
                Typed::Notice(notice) => self.say(&format!("{notice}\n")),
                Typed::Failed(why) => return Err(CliError::new(Exit::Failed, why)),
                Typed::Interrupt | Typed::End => return Ok(Next::Leave(Exit::Done)),
            }
        }
    }
}
