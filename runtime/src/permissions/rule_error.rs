//! Why a text is no rule.

/// Why a text is no rule. In words that follow "`the rule`".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// There is nothing.
    #[error("is empty")]
    Empty,
    /// Nobody could read such a rule.
    #[error("is longer than {max_bytes} bytes")]
    TooLong {
        /// The limit.
        max_bytes: usize,
    },
    /// A character nobody sees.
    #[error("has a control character")]
    Control,
    /// The part before the parenthesis is no name.
    #[error("must begin with the name of a tool, like `bash(cargo test *)` or `read_file`, or be `*`")]
    ToolName,
    /// There is no such tool.
    #[error("names a tool that does not exist{}", similar.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    UnknownTool {
        /// The tool most like it.
        similar: Option<&'static str>,
    },
    /// The tool has nothing a pattern could be compared with.
    #[error("has a pattern, but this tool has no path and no command; write only its name")]
    NoPattern,
    /// `(` without `)` at the end.
    #[error("must end with `)`")]
    Unclosed,
    /// `bash()`.
    #[error("has an empty pattern; without parentheses it is about all calls of the tool")]
    EmptyPattern,
    /// `*(…)`.
    #[error("is about all tools and cannot have a pattern")]
    PatternForAll,
    /// A quote in a command pattern.
    #[error(
        "has a quote ({0}); commands are compared with their quotes removed, so leave it out (or write \\{0} for a real one)"
    )]
    Quote(char),
    /// A backslash before nothing, or before a letter that means nothing.
    #[error("has a backslash that stands before nothing it could mean")]
    LoneBackslash,
    /// `!src`.
    #[error("begins with `!`; say what is meant, not what is not")]
    Negated,
    /// A path pattern that leads out.
    #[error("must be a pattern relative to the workspace, without `..` and `~`")]
    NotRelative,
    /// No glob.
    #[error("is no pattern: {0}")]
    Glob(String),
}
