//! The files a shell command speaks of, as far as that can be told from the words alone. A guess, and a careful one: a wrong
//! path is worse than a missing one, since the command's words are searched anyway. So only a word with a name that ends like
//! a file's counts. Nothing here decides what a command may do.

/// How much of a command is looked at, in bytes.
const MAX_COMMAND_BYTES: usize = 16 * 1024;

/// How the names of files end that people speak of.
const ENDINGS: &[&str] = &[
    "adoc", "bash", "bat", "bzl", "c", "cc", "cfg", "cjs", "clj", "cmake", "conf", "cpp", "cs", "css", "csv", "cts",
    "cxx", "dart", "diff", "el", "env", "erl", "ex", "exs", "fish", "gif", "go", "gradle", "graphql", "h", "hcl", "hh",
    "hpp", "hs", "htm", "html", "hxx", "ini", "ipynb", "java", "jl", "jpeg", "jpg", "js", "json", "json5", "jsonl",
    "jsx", "kt", "kts", "less", "lock", "log", "lua", "m", "md", "mdx", "mjs", "mk", "ml", "mli", "mts", "nim", "nix",
    "patch", "pdf", "php", "pl", "plist", "pm", "png", "proto", "ps1", "py", "pyi", "r", "rake", "rb", "rs", "rst",
    "sass", "scala", "scss", "sh", "snap", "sol", "sql", "sqlite", "sum", "svelte", "svg", "swift", "tf", "toml", "ts",
    "tsv", "tsx", "txt", "vue", "webp", "xml", "yaml", "yml", "zig", "zsh",
];

/// Files whose names have no ending.
const NAMES: &[&str] =
    &["BUILD", "Containerfile", "Dockerfile", "Gemfile", "Jenkinsfile", "Justfile", "LICENSE", "Makefile", "Rakefile"];

/// The words of `command` that are paths of files, in order; a word may be there twice.
pub(super) fn command_paths(command: &str) -> Vec<&str> {
    let command = &command[..command.floor_char_boundary(MAX_COMMAND_BYTES)];
    // What is fed to a command is a text of its own, in any language.
    let command = command.split_once("<<").map_or(command, |(before, _)| before);
    words(command).filter_map(path).collect()
}

/// The words between blanks, quotes and operators. A quoted text with blanks in it is no word: a script, a message.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')' | '<' | '>' | '=' | '`');
    let mut rest = command;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_end);
        let first = rest.chars().next()?;
        let (word, behind) = if matches!(first, '"' | '\'') {
            let quoted = &rest[1..];
            quoted.split_once(first).unwrap_or((quoted, ""))
        } else {
            rest.split_at(rest.find(|c| is_end(c) || matches!(c, '"' | '\'')).unwrap_or(rest.len()))
        };
        rest = behind;
        Some(word)
    })
}

/// The path in `word`, without a line number or the name of a test behind it.
fn path(word: &str) -> Option<&str> {
    if word.starts_with('-') || word.contains("://") {
        return None;
    }
    let path = word.split(':').next().unwrap_or(word);
    let odd = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '~'));
    if path.contains(odd) || path.starts_with("/dev/") || path.starts_with("/proc/") {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if NAMES.contains(&name) {
        return Some(path);
    }
    let (stem, ending) = name.rsplit_once('.')?;
    let known = ENDINGS.binary_search(&ending.to_ascii_lowercase().as_str()).is_ok();
    (known && (!stem.is_empty() || ending == "env") && !stem.ends_with('.')).then_some(path)
}
