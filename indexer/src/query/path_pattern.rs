//! Which paths a filter means. `src/auth` means everything beneath or named so, anywhere in a path, by whole components;
//! `*.rs` and `src/**/mod.rs` are globs. Case does not count.

use globset::{GlobBuilder, GlobMatcher};

/// The longest pattern that is looked at, in bytes.
const PATTERN_BYTES: usize = 1024;

/// A pattern for paths, ready to be used.
#[derive(Debug, Clone)]
pub struct PathPattern {
    means: Means,
}

#[derive(Debug, Clone)]
enum Means {
    /// Components that follow each other, in lower case.
    Run(Vec<String>),
    /// The path itself, or something above it, fits one of these.
    Glob(Vec<GlobMatcher>),
}

impl PathPattern {
    /// Makes a pattern ready. One that is no valid glob is taken literally.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        let pattern = bounded(pattern);
        let glob = pattern.contains(['*', '?']).then(|| globs(pattern)).flatten();
        let means = glob.map_or_else(|| Means::Run(components(pattern).map(str::to_lowercase).collect()), Means::Glob);
        Self { means }
    }

    /// Whether a path fits.
    #[must_use]
    pub fn fits(&self, path: &str) -> bool {
        match &self.means {
            Means::Run(wanted) => holds_run(path, wanted),
            Means::Glob(globs) => {
                let path = path.trim_start_matches('/');
                globs.iter().any(|glob| glob.is_match(path))
            }
        }
    }

    /// Components that every fitting path has, whatever their case: those without a wildcard. Only ASCII ones, since other
    /// letters have more than one lower case.
    pub(crate) fn literal_components(pattern: &str) -> impl Iterator<Item = &str> {
        let glob = pattern.contains(['*', '?']);
        let special = move |component: &str| glob && component.contains(['*', '?', '[', ']', '{', '}', '!', '\\', ',']);
        components(bounded(pattern)).filter(move |component| component.is_ascii() && !special(component))
    }
}

fn bounded(pattern: &str) -> &str {
    &pattern[..pattern.floor_char_boundary(PATTERN_BYTES)]
}

fn globs(pattern: &str) -> Option<Vec<GlobMatcher>> {
    let tail = pattern.trim_start_matches("./").trim_matches('/');
    let build = |glob: String| GlobBuilder::new(&glob).case_insensitive(true).literal_separator(true).build();
    let above = if pattern.starts_with("**") { String::new() } else { "**/".to_owned() };
    let exact = build(format!("{above}{tail}")).ok()?;
    let beneath = build(format!("{above}{tail}/**")).ok()?;
    Some(vec![exact.compile_matcher(), beneath.compile_matcher()])
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn holds_run(path: &str, wanted: &[String]) -> bool {
    if wanted.is_empty() {
        return false;
    }
    let have: Vec<String> = components(path).map(str::to_lowercase).collect();
    have.windows(wanted.len()).any(|run| run == wanted)
}
