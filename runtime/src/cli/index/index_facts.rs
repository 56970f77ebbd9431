//! What is known of an index, as people and as programs read it.

use crate::cli::render::{Style, clean, units};
use serde_json::{Value, json};
use std::path::PathBuf;

/// What is known of one index.
#[derive(Debug, Clone, Default)]
pub(super) struct IndexFacts {
    /// What is in it: `sessions` or `code`.
    pub(super) what: &'static str,
    /// Where it lies.
    pub(super) folder: PathBuf,
    /// Whose code it is.
    pub(super) workspace: Option<PathBuf>,
    /// Documents in it; `None` when there is no index yet, or none that can be read.
    pub(super) documents: Option<u64>,
    /// Bytes on the disk, vectors included.
    pub(super) size_bytes: u64,
    /// The position it has read to and the end of the log; of sessions.
    pub(super) position: Option<(u64, u64)>,
    /// Events that could not be read and are not in it.
    pub(super) unreadable: u64,
    /// Events that it does not have yet, or files that have changed since.
    pub(super) behind: Option<u64>,
    /// Documents that can be found by meaning, and by which model.
    pub(super) vectors: Option<(u64, String)>,
    /// Who is writing it now.
    pub(super) writer: Option<String>,
    /// What is wrong with it.
    pub(super) problem: Option<String>,
}

impl IndexFacts {
    /// The lines for people.
    #[must_use]
    pub(super) fn text(&self, style: Style) -> String {
        let mut parts = vec![match (&self.problem, self.documents) {
            (Some(problem), _) => style.red(&clean::short(problem, 300)),
            (None, Some(count)) => units::of(count, "document"),
            (None, None) => "nothing yet".to_owned(),
        }];
        if self.size_bytes > 0 {
            parts.push(units::size(self.size_bytes));
        }
        let noun = if self.position.is_some() { "event" } else { "file" };
        match (self.behind, self.documents) {
            (Some(0), Some(_)) => parts.push("up to date".to_owned()),
            (Some(behind), _) if behind > 0 => {
                parts.push(style.yellow(&format!("{} behind", units::of(behind, noun))));
            }
            (Some(_) | None, _) => {}
        }
        if self.unreadable > 0 {
            parts.push(style.red(&format!("{} cannot be read", units::of(self.unreadable, "event"))));
        }
        let mut text = self.line(style, self.what, &parts.join(" · "));
        if let Some(workspace) = &self.workspace {
            text.push_str(&self.line(style, "", &format!("of {}", clean::line(&workspace.display().to_string()))));
        }
        if let Some((count, model)) = &self.vectors {
            let model = clean::short(model, 120);
            text.push_str(&self.line(style, "", &format!("{} by meaning ({model})", units::count(*count))));
        }
        if let Some(writer) = &self.writer {
            text.push_str(&self.line(style, "", &format!("written now by {}", clean::short(writer, 160))));
        }
        text + &self.line(style, "", &format!("in {}", clean::line(&self.folder.display().to_string())))
    }

    fn line(&self, style: Style, head: &str, words: &str) -> String {
        format!("{}{words}\n", style.bold(&format!("{head:<10}")))
    }

    /// The object for programs.
    #[must_use]
    pub(super) fn json(&self) -> Value {
        json!({
            "index": self.what,
            "folder": self.folder.display().to_string(),
            "workspace": self.workspace.as_ref().map(|folder| folder.display().to_string()),
            "documents": self.documents,
            "size_bytes": self.size_bytes,
            "position": self.position.map(|(at, _)| at),
            "log_end": self.position.map(|(_, end)| end),
            "behind": self.behind,
            "unreadable": self.unreadable,
            "vectors": self.vectors.as_ref().map(|(count, _)| count),
            "model": self.vectors.as_ref().map(|(_, model)| model),
            "writer": self.writer,
            "problem": self.problem,
        })
    }
}
