//! Which embedding model is wanted, as a setting says it.

use std::path::PathBuf;

/// Which embedding model to use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ModelChoice {
    /// None: search is by keyword only.
    #[default]
    None,
    /// The files in this folder: `model.onnx`, `tokenizer.json` and its three companions.
    Folder(PathBuf),
    /// A model that fastembed knows by this name and downloads.
    Download(String),
}

impl ModelChoice {
    /// What a setting such as `RETRACE_EMBED_MODEL` says: nothing, `none` or `off`; a folder (anything with a slash, or that
    /// begins with a dot or a tilde); or else the name of a model.
    ///
    /// A library is loaded from that folder, so the setting must come from the user and never from a repository.
    #[must_use]
    pub fn from_setting(setting: Option<&str>) -> Self {
        let Some(setting) = setting.map(str::trim) else { return Self::None };
        if setting.is_empty() || setting.eq_ignore_ascii_case("none") || setting.eq_ignore_ascii_case("off") {
            return Self::None;
        }
        if let Some(rest) = setting.strip_prefix("~/")
            && let Some(home) = std::env::home_dir()
        {
            return Self::Folder(home.join(rest));
        }
        if setting.contains('/') || setting.starts_with('.') {
            return Self::Folder(PathBuf::from(setting));
        }
        Self::Download(setting.to_owned())
    }
}
