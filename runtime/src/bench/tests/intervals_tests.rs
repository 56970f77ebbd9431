//! Intervals over sessions.

use super::super::Estimate;
use super::super::intervals::quantile;
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_mean_lies_in_its_interval_and_points_count(sessions in prop::collection::vec((0.0_f64..1.0, 0_u64..9), 1..30), seed: u64) {
        // Each point is a share, so a session's sum is at most its points.
        let sessions: Vec<(f64, u64)> = sessions.into_iter().map(|(share, points)| (share * points as f64, points)).collect();
        let points: u64 = sessions.iter().map(|(_, points)| points).sum();
        match Estimate::of(&sessions, seed) {
            None => prop_assert_eq!(points, 0),
            Some(it) => {
                prop_assert_eq!(it.points, points);
                let mean = sessions.iter().map(|(sum, _)| sum).sum::<f64>() / points as f64;
                prop_assert!((it.mean - mean).abs() < 1e-9);
                prop_assert!(0.0 <= it.low && it.low <= it.high && it.high <= 1.0 + 1e-9);
                prop_assert_eq!(Estimate::of(&sessions, seed), Some(it));
            }
        }
    }
}

#[test]
fn sessions_are_drawn_and_not_points() {
    // A hundred points of one session are one draw: there is no width.
    let one = Estimate::of(&[(50.0, 100)], 7).unwrap();
    assert_eq!((one.mean, one.half_width()), (0.5, 0.0));
    // Two sessions that disagree: the interval reaches from one to the other.
    let two = Estimate::of(&[(0.0, 10), (10.0, 10)], 7).unwrap();
    assert_eq!((two.mean, two.low, two.high), (0.5, 0.0, 1.0));
    // More sessions make it narrower.
    let many: Vec<(f64, u64)> = (0..200).map(|n| (f64::from(n % 2), 1)).collect();
    assert!(Estimate::of(&many, 7).unwrap().half_width() < 0.1);
    assert_eq!(Estimate::of(&[], 7), None);
}

#[test]
fn quantiles_lie_between_values() {
    assert_eq!(quantile(&[], 0.5), None);
    assert_eq!(quantile(&[3.0], 0.99), Some(3.0));
    assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.5));
    assert_eq!((quantile(&[1.0, 2.0], 0.0), quantile(&[1.0, 2.0], 1.0)), (Some(1.0), Some(2.0)));
}
