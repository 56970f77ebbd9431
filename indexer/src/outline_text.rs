//! The outline as text for people. The words in it are foreign: whoever shows it takes terminal escapes out.

use crate::outline::Outline;
use std::fmt;

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "prompts")?;
        for prompt in &self.prompts {
            let end = prompt.end.as_deref().unwrap_or("going on");
            writeln!(f, "  #{:<5} {} ({end})", prompt.seq, one_line(&prompt.text))?;
        }
        if !self.commands.is_empty() {
            writeln!(f, "commands")?;
        }
        for command in &self.commands {
            let end = command.end.as_deref().unwrap_or("running");
            writeln!(f, "  #{:<5} {} ({end})", command.seq, one_line(&command.command))?;
        }
        if !self.files.is_empty() {
            writeln!(f, "files")?;
        }
        for (path, file) in &self.files {
            writeln!(f, "  #{:<5} {} ({} reads, {} changes)", file.last_seq, one_line(path), file.reads, file.changes)?;
        }
        Ok(())
    }
}

/// The longest line shown, in characters.
const WIDTH: usize = 160;

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= WIDTH { line } else { line.chars().take(WIDTH - 1).chain(['…']).collect() }
}
