//! What a score is made of.

/// The parts of a hit's score, already weighted: their sum is the score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScoreParts {
    /// Its words, and the words of its paths and symbols.
    pub keyword: f32,
    /// What its neighbours say.
    pub window: f32,
    /// What it means.
    pub vector: f32,
    /// A path that the query names.
    pub path: f32,
    /// A date that the query names.
    pub dated: f32,
    /// How much it says, and whether it only asks or thinks.
    pub substance: f32,
    /// How new it is.
    pub recency: f32,
    /// Whether it is of the session that asks, or of one that it was forked from.
    pub lineage: f32,
}

impl ScoreParts {
    /// The score.
    #[must_use]
    pub fn total(&self) -> f32 {
        self.named().iter().map(|(_, part)| part).sum()
    }

    /// The parts with their names, in the order in which they are shown.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, f32); 8] {
        [
            ("keyword", self.keyword),
            ("window", self.window),
            ("vector", self.vector),
            ("path", self.path),
            ("dated", self.dated),
            ("substance", self.substance),
            ("recency", self.recency),
            ("lineage", self.lineage),
        ]
    }
}
