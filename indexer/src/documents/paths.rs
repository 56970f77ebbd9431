//! Paths as they stand in documents: relative to the workspace where they lie in it, without `.` and `..`, bounded.
//!
//! Only a matter of text: nothing is looked up, so a link or a folder of the same name elsewhere is not known.

/// The longest path that is kept, in bytes; a longer one is left out, since a part of a path is another path.
const MAX_PATH_BYTES: usize = 512;
/// The most paths of a document.
pub(super) const MAX_PATHS: usize = 16;

/// `path` as it stands in documents of a session in `workspace`; `None` for the workspace itself and for what can be no path.
pub(super) fn normalised(path: &str, workspace: &str) -> Option<String> {
    let path = path.trim();
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.is_empty() || path.len() > MAX_PATH_BYTES || path.chars().any(char::is_control) {
        return None;
    }
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    if !absolute {
        return (!path.is_empty()).then_some(path);
    }
    let path = format!("/{path}");
    let workspace = workspace.trim_end_matches('/');
    match path.strip_prefix(workspace) {
        Some("" | "/") => None,
        Some(inside) if !workspace.is_empty() && inside.starts_with('/') => Some(inside[1..].to_owned()),
        Some(_) | None => Some(path),
    }
}

/// Adds `path`, normalised, unless it is there already or there are too many.
pub(super) fn add_path(paths: &mut Vec<String>, path: &str, workspace: &str) {
    if paths.len() < MAX_PATHS
        && let Some(path) = normalised(path, workspace)
        && !paths.contains(&path)
    {
        paths.push(path);
    }
}
