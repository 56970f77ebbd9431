//! How many tests passed and failed, read from what test programs print at their end.
//!
//! Known are the last lines of `cargo test` and `cargo nextest`, pytest, unittest, Jest, Vitest, Mocha, and `go test`. What a
//! command printed is only read, never believed to be more than a figure in a table.

use serde::Serialize;

/// The outcome of a run of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct TestCounts {
    /// How many passed.
    pub(crate) passed: u64,
    /// How many failed.
    pub(crate) failed: u64,
}

impl TestCounts {
    /// What `output` says at its end; `None` when it is not that of a test program that is known here. Several summaries (one a
    /// test binary) are added up.
    pub(crate) fn of(output: &str) -> Option<Self> {
        let mut found: Option<Self> = None;
        let (mut go_passed, mut go_failed) = (0, 0);
        for line in output.lines() {
            let line = line.trim();
            if let Some(counts) = summary(line) {
                let sum = found.unwrap_or_default();
                found = Some(Self { passed: sum.passed + counts.passed, failed: sum.failed + counts.failed });
            }
            go_passed += u64::from(line.starts_with("--- PASS: "));
            go_failed += u64::from(line.starts_with("--- FAIL: "));
        }
        let go = (go_passed + go_failed > 0).then_some(Self { passed: go_passed, failed: go_failed });
        found.or(go)
    }
}

/// The figures of a line that sums a run up.
fn summary(line: &str) -> Option<TestCounts> {
    if let Some(rest) = line.strip_prefix("test result: ") {
        // cargo test: `ok. 12 passed; 0 failed; 1 ignored`
        return counts(rest.split_once(". ").map_or(rest, |(_, figures)| figures), &[';']);
    }
    if let Some((_, rest)) = line.split_once("tests run: ") {
        // nextest: `Summary [0.1s] 12 tests run: 11 passed, 1 failed`
        return counts(rest, &[',']);
    }
    if let Some(rest) = line.strip_prefix("Tests:").or_else(|| line.strip_prefix("Tests ")) {
        // Jest: `Tests:  1 failed, 5 passed, 6 total`; Vitest: `Tests  1 failed | 5 passed (6)`
        return counts(rest, &[',', '|']);
    }
    if let Some(rest) = line.strip_prefix('=').map(|rest| rest.trim_matches(|c| c == '=' || c == ' ')) {
        // pytest: `=== 1 failed, 5 passed, 1 skipped in 0.03s ===`
        return rest
            .contains(" in ")
            .then(|| counts(rest.split_once(" in ").map_or(rest, |(figures, _)| figures), &[',']))?;
    }
    if let Some((figures, _)) = line.split_once(" in ") {
        // pytest -q: `5 passed in 0.03s`
        let plain = figures.split(',').all(|part| part.split_whitespace().count() == 2);
        return plain.then(|| counts(figures, &[',']))?;
    }
    None
}

/// `12 passed` and `1 failed` among parts between `separators`; `None` when neither is there.
fn counts(text: &str, separators: &[char]) -> Option<TestCounts> {
    let (mut passed, mut failed) = (None, None);
    for part in text.split(separators) {
        let mut words = part.split_whitespace();
        let (Some(number), Some(word)) = (words.next().and_then(|word| word.parse::<u64>().ok()), words.next()) else {
            continue;
        };
        match word {
            "passed" => passed = Some(number),
            "failed" | "error" | "errors" => failed = Some(failed.unwrap_or(0) + number),
            _ => {}
        }
    }
    (passed.is_some() || failed.is_some())
        .then(|| TestCounts { passed: passed.unwrap_or(0), failed: failed.unwrap_or(0) })
}
