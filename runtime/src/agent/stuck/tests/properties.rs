//! What holds of any turn.

use super::{detect, drive, step};
use proptest::prelude::*;
use retrace_events::fold::StepRecord;

/// Steps of few kinds, so that all sorts of repetitions come about.
fn steps(longest: usize) -> impl Strategy<Value = Vec<StepRecord>> {
    let call = ("[A-D]", prop::option::weighted(0.3, 0..3u8), "[!*~]{0,1}");
    let call = call.prop_map(|(name, result, signs)| match result {
        Some(result) => format!("{name}={result}{signs}"),
        None => format!("{name}{signs}"),
    });
    let calls = prop::collection::vec(call, 0..3).prop_map(|calls| calls.join("+"));
    let one = ("(hm|so)?", calls).prop_map(|(said, calls)| step(&format!("{said}:{calls}")));
    // A few rounds of something short, several times over: loops that are broken and taken up again.
    let rounds = (prop::collection::vec(one, 1..5), 1..8usize).prop_map(|(round, times)| {
        let length = round.len() * times;
        round.into_iter().cycle().take(length).collect::<Vec<_>>()
    });
    prop::collection::vec(rounds, 0..8).prop_map(move |parts| parts.concat().into_iter().take(longest).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn calls_that_all_differ_are_never_stopped(results in prop::collection::vec((0..3u8, any::<bool>()), 0..100)) {
        let calls = results.iter().enumerate().map(|(n, (result, wrote))| {
            step(&format!("call{n}={result}{}", if *wrote { "*" } else { "" }))
        });
        let driven = drive(calls);
        prop_assert_eq!(driven.stopped, None);
        prop_assert_eq!(driven.warned, vec![]);
    }

    #[test]
    fn results_that_all_differ_are_never_stopped(calls in prop::collection::vec(("[A-C]", "[*~]{0,1}", "(hm:)?"), 0..100)) {
        let calls = calls.iter().enumerate().map(|(n, (name, sign, said))| step(&format!("{said}{name}={n}{sign}")));
        let driven = drive(calls);
        prop_assert_eq!(driven.stopped, None);
        prop_assert_eq!(driven.warned, vec![]);
    }

    #[test]
    fn the_same_steps_are_judged_the_same(steps in steps(80)) {
        prop_assert_eq!(detect(steps.iter()), detect(steps.clone().iter()));
    }

    #[test]
    fn a_stop_follows_a_warning_of_its_rule_at_an_earlier_step(steps in steps(40)) {
        for end in 1..=steps.len() {
            let Some(stuck) = detect(steps[..end].iter()).filter(|stuck| stuck.stop) else { continue };
            let warns = |end: usize| {
                detect(steps[..end].iter()).is_some_and(|earlier| !earlier.stop && earlier.rule == stuck.rule)
            };
            prop_assert!((1..end).any(warns), "{} at {end} came unannounced", stuck.rule);
        }
    }

    #[test]
    fn whatever_goes_round_is_stopped(steps in steps(20).prop_filter("nothing", |steps| !steps.is_empty())) {
        // A cycle of up to 20 steps has no more than 21 new ones before it repeats, and waits have five times the patience.
        let forever = steps.iter().cycle().take(steps.len() * 2 + 60);
        let driven = drive(forever.cloned());
        prop_assert!(driven.stopped.is_some(), "{driven:?}");
    }

    #[test]
    fn a_new_step_that_succeeds_is_never_the_one_to_stop_at(steps in steps(40)) {
        let steps: Vec<_> = steps.into_iter().chain([step("brand=new")]).collect();
        prop_assert_eq!(detect(steps.iter()), None);
    }
}
