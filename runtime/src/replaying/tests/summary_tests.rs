//! Calls in numbers.

use crate::replaying::{
    CallVerdict, ExecutionSummary, FileDifference, FilesApart, FilesLikeness, Likeness, Normaliser, NotCompared,
    ReplayedCall,
};
use retrace_events::CallId;
use retrace_events::testing::example_stream;

fn call(verdict: CallVerdict, files: FilesLikeness) -> ReplayedCall {
    ReplayedCall {
        event: (example_stream("replayed"), 7),
        call: CallId("toolu_1".to_owned()),
        tool: "bash".to_owned(),
        input: "{}".to_owned(),
        verdict,
        files,
        outcomes: None,
        difference: String::new(),
        duration_ms: (10, 20),
    }
}

fn differ() -> FilesLikeness {
    FilesLikeness::Differ { named: vec![FileDifference { path: "a".into(), how: "added" }], total: 1 }
}

#[test]
fn every_call_is_counted_once() {
    let (same, alike) = (FilesLikeness::NotCompared, FilesLikeness::Alike(vec![FilesApart::Caches]));
    let times = || Likeness::Normalised(vec![Normaliser::Times]);
    let mut summary = ExecutionSummary::default();
    for call in [
        call(CallVerdict::Compared(Likeness::Same), same.clone()),
        call(CallVerdict::Compared(times()), alike.clone()),
        call(CallVerdict::Compared(times()), differ()),
        call(CallVerdict::Compared(Likeness::Reordered(vec![Normaliser::Pids])), same.clone()),
        call(CallVerdict::Compared(Likeness::Differs), alike),
        call(CallVerdict::NotCompared(NotCompared::Denied), same.clone()),
        call(CallVerdict::NotCompared(NotCompared::Background), differ()),
    ] {
        summary.add(&call);
    }
    assert_eq!((summary.calls, summary.same, summary.normalised, summary.reordered), (7, 1, 1, 1));
    assert_eq!((summary.diverging, summary.only_files), (3, 2));
    assert_eq!(summary.not_compared.iter().collect::<Vec<_>>(), [(&NotCompared::Denied, &1)]);
    assert_eq!((summary.trees, summary.trees_alike), (4, 2));
    assert_eq!(summary.by_normaliser.values().sum::<u64>(), 2, "of those that came to the same");
    assert_eq!((summary.reproduced(), summary.compared(), summary.reproduced_permille()), (3, 6, Some(500)));
    assert_eq!(summary.duration_ms, (70, 140));
}

#[test]
fn where_nothing_was_compared_nothing_is_claimed() {
    let mut summary = ExecutionSummary::default();
    assert_eq!(summary.reproduced_permille(), None);
    summary.add(&call(CallVerdict::NotCompared(NotCompared::Asked), FilesLikeness::NotCompared));
    assert_eq!((summary.compared(), summary.reproduced_permille()), (0, None));
}
