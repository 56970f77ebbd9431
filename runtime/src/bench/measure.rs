//! What is measured.

/// A kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Identifiers, paths, numbers.
    Id,
    /// Single lines.
    Line,
    /// Pairs of adjacent lines.
    Pair,
}

impl Measure {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Id, Self::Line, Self::Pair];
}

/// A column of figures: the share of evidence of one kind that is in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// The kind of evidence.
    pub measure: Measure,
    /// Only what the tail window of the same budget misses.
    pub old: bool,
}

impl Metric {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self { measure: Measure::Id, old: false },
        Self { measure: Measure::Id, old: true },
        Self { measure: Measure::Line, old: false },
        Self { measure: Measure::Line, old: true },
        Self { measure: Measure::Pair, old: false },
        Self { measure: Measure::Pair, old: true },
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match (self.measure, self.old) {
            (Measure::Id, false) => "id",
            (Measure::Id, true) => "id-old",
            (Measure::Line, false) => "line",
            (Measure::Line, true) => "line-old",
            (Measure::Pair, false) => "pair",
            (Measure::Pair, true) => "pair-old",
        }
    }
}
