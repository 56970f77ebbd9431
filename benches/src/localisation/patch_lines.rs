//! The lines of a patch, in a form in which two patches of the same changes are equal.
//!
//! Left out is what differs from tool to tool: hashes, line numbers, what follows `@@`, white space at the ends of lines, and
//! lines that are empty (tables lose the space in front of them).

use std::collections::BTreeMap;

/// Reads a patch line by line.
#[derive(Debug, Default)]
pub(super) struct PatchLines {
    files: BTreeMap<String, Vec<String>>,
    file: Option<String>,
    /// Whether the lines between `diff --git` and the first `@@` are being read.
    in_head: bool,
}

impl PatchLines {
    /// Takes the next line.
    pub(super) fn take(&mut self, line: &str) {
        if line.starts_with("diff --git ") {
            self.file = None;
            self.in_head = true;
        } else if self.in_head {
            if let Some(name) = line.strip_prefix("--- a/").or_else(|| line.strip_prefix("+++ b/")) {
                self.file = Some(name.trim_end().to_owned());
            } else if line.starts_with("@@") {
                self.in_head = false;
                self.keep("@@");
            }
        } else if line.starts_with("@@") {
            self.keep("@@");
        } else if line.starts_with(['+', '-', ' ']) && !line.trim().is_empty() {
            self.keep(line.trim_end());
        }
    }

    fn keep(&mut self, line: &str) {
        if let Some(file) = &self.file {
            self.files.entry(file.clone()).or_default().push(line.to_owned());
        }
    }

    /// The lines of each file that is changed.
    pub(super) fn finish(self) -> BTreeMap<String, Vec<String>> {
        self.files
    }
}
