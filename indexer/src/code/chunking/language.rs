//! Which language a file is written in, by its name, and by its first line where the name does not say.

use super::grammar::Grammar;
use super::tables;

/// How a file is cut.
#[derive(Clone, Copy)]
pub(super) enum Language {
    /// By definition.
    Code(&'static Grammar),
    /// By heading.
    Markdown,
}

impl Language {
    /// The language of a file; `None` when it is cut by lines.
    pub(super) fn of_file(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
        let Some(extension) = extension.map(str::to_ascii_lowercase) else { return of_first_line(name, text) };
        let grammar = match extension.as_str() {
            "md" | "markdown" | "mdx" | "mkd" => return Some(Self::Markdown),
            "rs" => &tables::RUST,
            "py" | "pyi" | "pyw" => &tables::PYTHON,
            "ts" | "mts" | "cts" => &tables::TYPESCRIPT,
            "tsx" => &tables::TSX,
            "js" | "jsx" | "mjs" | "cjs" => &tables::JAVASCRIPT,
            "go" => &tables::GO,
            "java" => &tables::JAVA,
            "c" => &tables::C,
            "h" if !looks_like_cpp(text) => &tables::C,
            "h" | "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "inl" | "cu" | "cuh" => {
                &tables::CPP
            }
            "cs" => &tables::C_SHARP,
            "rb" | "rake" | "gemspec" | "ru" => &tables::RUBY,
            "php" | "phtml" | "php5" | "php7" => &tables::PHP,
            "sh" | "bash" | "bats" => &tables::BASH,
            _ => return of_first_line(name, text),
        };
        Some(Self::Code(grammar))
    }
}

/// A header that uses what only C++ has.
fn looks_like_cpp(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        ["class ", "namespace ", "template", "using ", "public:", "private:", "protected:", "constexpr ", "virtual "]
            .iter()
            .any(|word| line.starts_with(word))
    })
}

/// Files that are known by their whole name, and scripts that name their interpreter.
fn of_first_line(name: &str, text: &str) -> Option<Language> {
    match name {
        "Rakefile" | "Gemfile" | "Vagrantfile" | "Guardfile" | "Podfile" => return Some(Language::Code(&tables::RUBY)),
        ".bashrc" | ".bash_profile" | ".profile" | "PKGBUILD" => return Some(Language::Code(&tables::BASH)),
        _ => {}
    }
    let first = text.strip_prefix("#!")?.lines().next()?;
    let mut words = first.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = match words.next()? {
        "env" => words.find(|word| !word.starts_with('-') && !word.contains('='))?,
        program => program,
    };
    let grammar = match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "sh" | "bash" | "dash" | "ash" | "ksh" => &tables::BASH,
        "python" | "pypy" => &tables::PYTHON,
        "node" | "nodejs" | "bun" => &tables::JAVASCRIPT,
        "deno" | "ts-node" | "tsx" => &tables::TYPESCRIPT,
        "ruby" | "jruby" => &tables::RUBY,
        "php" => &tables::PHP,
        _ => return None,
    };
    Some(Language::Code(grammar))
}
