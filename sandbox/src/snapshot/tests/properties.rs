//! Whatever is done to a workspace: every snapshot gives back what was there, byte for byte and mode for mode.

use super::operations::{Operation, open_up, operation};
use super::{Bench, BringOptions, assert_same, differing, survey};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::os::unix::ffi::OsStrExt as _;

/// The same cases every time; more of them with `PROPTEST_CASES`.
fn run(seed: u8, cases: u32, strategy: &impl Strategy<Value = Vec<Operation>>, test: impl Fn(Vec<Operation>)) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let result = TestRunner::new_with_rng(config, rng).run(strategy, |operations| {
        test(operations);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn every_snapshot_gives_back_what_was_there() {
    run(1, 24, &prop::collection::vec(operation(), 1..16), |operations| {
        let bench = Bench::new();
        let mut kept = Vec::new();
        for operation in &operations {
            operation.apply(&bench.work());
            let before = survey(&bench.work());
            let snapshot = bench.take();
            assert_same(&before, &survey(&bench.work()), "the workspace itself");
            kept.push((snapshot.tree, before));
        }
        let again = bench.take();
        assert_eq!((again.tree, again.new_bytes), (kept.last().unwrap().0, 0), "nothing changed, nothing written");
        for (n, (tree, before)) in kept.iter().enumerate() {
            let restored = bench.restore(tree, &format!("restored{n}"));
            assert_same(before, &survey(&restored), &format!("snapshot {n}"));
        }
        // A copy kept aside, an untouched original: restoring changed neither.
        assert_same(&kept.last().unwrap().1, &survey(&bench.work()), "the workspace after restoring");
        open_up(bench.dir.path());
    });
}

#[test]
fn a_folder_is_brought_from_any_snapshot_to_any_other() {
    run(2, 16, &prop::collection::vec(operation(), 4..20), |operations| {
        let bench = Bench::new();
        let mut kept = Vec::new();
        for some in operations.chunks(4) {
            some.iter().for_each(|operation| operation.apply(&bench.work()));
            kept.push((bench.take().tree, survey(&bench.work())));
        }
        let order = (0..kept.len()).rev().chain([0, kept.len() - 1, kept.len() / 2]);
        for n in order {
            let (tree, before) = &kept[n];
            let brought = bench.store.bring(tree, &bench.work(), &bench.options, BringOptions::default()).unwrap();
            if brought.left_out.total == 0 && brought.put_aside.is_empty() {
                assert_eq!(brought.after, *tree);
                assert_same(before, &survey(&bench.work()), &format!("brought to {n}"));
            } else {
                // What is left out is still there, and may keep a folder alive; all that the snapshot holds is as it was.
                let now = survey(&bench.work());
                for (path, what) in before {
                    assert_eq!(now.get(path), Some(what), "{}", String::from_utf8_lossy(path));
                }
            }
        }
        open_up(bench.dir.path());
    });
}

#[test]
fn changes_name_exactly_what_differs() {
    run(3, 16, &prop::collection::vec(operation(), 2..16), |operations| {
        let bench = Bench::new();
        let mut kept = vec![(bench.take().tree, survey(&bench.work()))];
        for some in operations.chunks(3) {
            some.iter().for_each(|operation| operation.apply(&bench.work()));
            kept.push((bench.take().tree, survey(&bench.work())));
        }
        for (one, was) in &kept {
            for (other, is) in &kept {
                let changes = bench.store.changes(Some(one), other).unwrap();
                let named: Vec<Vec<u8>> = changes
                    .iter()
                    .map(|change| change.path.as_os_str().as_bytes().to_vec())
                    .map(|path| if path == b"." { Vec::new() } else { path })
                    .collect();
                assert_eq!(named, differing(was, is));
            }
        }
        open_up(bench.dir.path());
    });
}
