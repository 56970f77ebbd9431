//! Which paths a call has touched. Looked at lexically: no file is.

use serde::Deserialize;
use std::path::{Component, Path};

/// Longer paths are no paths to the system.
const MAX_PATH_BYTES: usize = 4_096;

#[derive(Deserialize)]
struct Input {
    path: Option<String>,
}

/// The paths that a call of `tool` with this input touched, normalised; folders end in `/`. Of a command only the files
/// that it is known to have changed: what else it does cannot be told from its words.
#[must_use]
pub fn touched_paths(tool: &str, input_json: &str, changed: &[String]) -> Vec<String> {
    let input = || serde_json::from_str::<Input>(input_json).ok()?.path;
    let named = match tool {
        "read_file" | "write_file" | "edit_file" => input().and_then(|path| normalised(&path, false)),
        // Whether it is a folder that is searched is not known; that a file has no folders in it is found soon enough.
        "list_dir" | "search_files" => input().and_then(|path| normalised(&path, true)),
        _ => None,
    };
    let changed = changed.iter().filter_map(|path| normalised(path, false));
    let mut touched: Vec<String> = Vec::new();
    for path in named.into_iter().chain(changed) {
        if !touched.contains(&path) {
            touched.push(path);
        }
    }
    touched
}

/// The path without `.` and `..`; `None` when it leads out of where it begins, or is none.
fn normalised(path: &str, folder: bool) -> Option<String> {
    if path.is_empty() || path.len() > MAX_PATH_BYTES || path.contains('\0') {
        return None;
    }
    let (mut parts, mut root) = (Vec::new(), "");
    for component in Path::new(path).components() {
        match component {
            Component::RootDir => root = "/",
            Component::CurDir | Component::Prefix(_) => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::Normal(part) => parts.push(part.to_str()?),
        }
    }
    let end = if folder && !parts.is_empty() { "/" } else { "" };
    (!parts.is_empty()).then(|| format!("{root}{}{end}", parts.join("/")))
}
