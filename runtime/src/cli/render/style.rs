//! Colours, or none.

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// No colours: pipes, files, `NO_COLOR`.
    Plain,
    /// Colours by escape sequences.
    Coloured,
}

impl Style {
    /// `text` in the look of an escape sequence's numbers, such as `1;36`.
    #[must_use]
    pub(super) fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// What matters less.
    #[must_use]
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// What matters more.
    #[must_use]
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What went wrong.
    #[must_use]
    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// What went well.
    #[must_use]
    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// What to look out for.
    #[must_use]
    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// What people wrote.
    #[must_use]
    pub(crate) fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }
}
