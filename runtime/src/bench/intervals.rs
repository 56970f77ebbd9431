//! Means over points with intervals, bootstrapped over sessions: points of one session are alike, so sessions are drawn, not
//! points. Seeded: the same figures give the same interval.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// How often sessions are drawn.
const DRAWS: usize = 1_000;

/// The ends of the interval.
const ENDS: [f64; 2] = [0.025, 0.975];

/// A mean and the interval in which it lies 95 times of 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Over how many points.
    pub points: u64,
}

impl Estimate {
    /// Half the width of the interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The mean of the points of all sessions, each given as its sum and its number of points; `None` without points.
    #[must_use]
    pub fn of(sessions: &[(f64, u64)], seed: u64) -> Option<Self> {
        let sessions: Vec<(f64, u64)> = sessions.iter().copied().filter(|(_, points)| *points > 0).collect();
        let mean = mean_of(sessions.iter())?;
        let mut random = StdRng::seed_from_u64(seed);
        let mut means: Vec<f64> = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            let drawn = (0..sessions.len()).filter_map(|_| sessions.get(random.random_range(0..sessions.len())));
            means.extend(mean_of(drawn));
        }
        means.sort_by(f64::total_cmp);
        let [low, high] = ENDS.map(|part| quantile(&means, part).unwrap_or(mean));
        Some(Self { mean, low, high, points: sessions.iter().map(|(_, points)| points).sum() })
    }
}

fn mean_of<'a>(sessions: impl Iterator<Item = &'a (f64, u64)>) -> Option<f64> {
    let (sum, points) = sessions.fold((0.0, 0), |(sum, points), (more, count)| (sum + more, points + count));
    (points > 0).then(|| sum / points as f64)
}

/// The value below which `part` of `sorted` lies, between two values in proportion.
pub(super) fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let place = part * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted.get(place.floor() as usize)?, sorted.get(place.ceil() as usize)?);
    Some(low + (high - low) * place.fract())
}
