//! What an epoch lacks of the best windows.

use super::super::missing::{FoundIn, FoundLines, FoundRun, MissingRoom};
use super::super::results::numbered;
use super::super::standing::{LinesOf, Standing};
use super::super::working_set::WorkingSet;
use super::{lines_of, read, say, shown, work};
use proptest::prelude::*;
use serde_json::json;

const MUCH: MissingRoom = MissingRoom { bytes: 100_000, horizon_bytes: 100_000, place_bytes: 60 };

fn set() -> WorkingSet {
    let mut set = WorkingSet::default();
    read(&mut set, "src/alpha.rs", &lines_of("alpha", 40));
    read(&mut set, "src/beta.rs", &lines_of("beta", 40));
    work(&mut set, "bash", &json!({ "command": "cargo test" }), "exit code: 101\nerror in the zebra module\nof alpha");
    say(&mut set, "Now compute_alpha(17) in alpha.rs.");
    set
}

fn name<'a>(found: &'a FoundLines<'_>) -> &'a str {
    match found.within {
        FoundIn::File { known, .. } => known,
        FoundIn::Output { .. } => "output",
    }
}

fn lines(found: &[FoundLines<'_>]) -> usize {
    found.iter().flat_map(|found| &found.runs).map(|run| run.lines.len()).sum()
}

fn bytes(found: &[FoundLines<'_>]) -> usize {
    found.iter().flat_map(|found| &found.runs).flat_map(|run| &run.lines).map(|line| line.len() + 1).sum()
}

fn marked(found: &[FoundLines<'_>], mut standing: Standing) -> Standing {
    for FoundLines { within, runs, .. } in found {
        runs.iter().for_each(|run| standing.mark(within.lines(), run.lines.iter().copied(), 1));
    }
    standing
}

#[test]
fn all_that_does_not_stand_is_found_best_first_and_once() {
    let set = set();
    let found = set.windows_now().missing(&Standing::default(), MUCH, 0);
    assert_eq!(name(&found[0]), "src/alpha.rs", "it is spoken of");
    assert!(
        found.iter().any(|found| name(found) == "output") && found.iter().any(|found| name(found) == "src/beta.rs")
    );
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score), "{found:?}");
    let alpha: Vec<Option<u32>> = found[0].runs.iter().map(|run| run.first).collect();
    assert_eq!(alpha, [Some(1), Some(10), Some(20), Some(30), Some(40)], "windows of ten lines");
    // What was shown is not shown again.
    let standing = marked(&found, Standing::default());
    assert_eq!(set.windows_now().missing(&standing, MUCH, 0), []);
}

#[test]
fn what_stands_is_left_out_and_what_is_new_comes_with_the_line_before() {
    let set = set();
    let alpha = lines_of("alpha", 40);
    let mut standing = Standing::default();
    standing.mark(LinesOf::file("src/alpha.rs"), alpha[..24].iter().map(String::as_str), 1);
    let found = set.windows_now().missing(&standing, MUCH, 0);
    let found = found.iter().find(|found| name(found) == "src/alpha.rs").unwrap();
    let run = |first: u32, from: usize, to: usize| FoundRun {
        first: Some(first),
        lines: alpha[from..to].iter().map(String::as_str).collect(),
    };
    assert_eq!(found.runs, [run(24, 23, 29), run(30, 29, 39), run(40, 39, 40)]);
}

#[test]
fn what_was_said_in_the_epoch_stands_there() {
    let set = set();
    let said = |since| {
        let found = set.windows_now().missing(&Standing::default(), MUCH, since);
        found.iter().flat_map(|found| &found.runs).any(|run| run.lines[0].contains("Now compute_alpha"))
    };
    assert!(said(set.moment()) && !said(0));
}

#[test]
fn neither_room_nor_horizon_is_passed() {
    let set = set();
    let found = |bytes, horizon_bytes| {
        set.windows_now().missing(&Standing::default(), MissingRoom { bytes, horizon_bytes, place_bytes: 60 }, 0)
    };
    assert_eq!(found(0, 100_000), []);
    assert_eq!(found(100_000, 0), []);
    assert_eq!(found(100_000, 500).len(), 1, "one window of ten lines is looked at");
    assert!(lines(&found(1_000, 100_000)) < lines(&found(3_000, 100_000)));
    // The horizon counts what stands, too: with its best windows standing, nothing is looked for behind it.
    let standing = marked(&found(100_000, 1_000), Standing::default());
    let behind = MissingRoom { bytes: 100_000, horizon_bytes: 1_000, place_bytes: 60 };
    assert_eq!(set.windows_now().missing(&standing, behind, 0), []);
}

#[test]
fn of_a_file_that_is_read_the_best_is_shown() {
    let mut set = set();
    let alpha = lines_of("alpha", 40);
    let texts: Vec<&str> = alpha.iter().map(String::as_str).collect();
    let text = shown(1, &texts);
    let views = numbered(&text);
    say(&mut set, "compute_alpha(17)");
    let of = |standing: &Standing, whole: usize, room: usize| {
        let runs = set.windows_now();
        let runs = runs.missing_of(standing, "src/alpha.rs", &views, whole, room);
        runs.iter().map(|run| (run.first.unwrap(), run.lines.len())).collect::<Vec<_>>()
    };
    assert_eq!(of(&Standing::default(), 100_000, 0), [(1, 40)], "a short one is shown whole");
    let best = of(&Standing::default(), 100, 900);
    assert!(!best.is_empty() && best.iter().map(|(_, lines)| lines).sum::<usize>() < 30, "{best:?}");
    assert!(best.iter().any(|(first, lines)| (*first..*first + *lines as u32).contains(&17)), "{best:?}");
    assert!(best.is_sorted());
    let mut standing = Standing::default();
    standing.mark(LinesOf::file("src/alpha.rs"), texts.iter().copied(), 1);
    assert_eq!(of(&standing, 100_000, 900), []);
    assert_eq!(of(&standing, 100, 900), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever stands and however much room there is: no more than the room is taken, and asked again and again all of the horizon
    /// stands in the end.
    #[test]
    fn little_by_little_everything_comes(room in 700_usize..4_000, horizon in 0_usize..6_000, stands in 0_usize..40) {
        let set = set();
        let mut standing = Standing::default();
        standing.mark(LinesOf::file("src/beta.rs"), lines_of("beta", 40)[..stands].iter().map(String::as_str), 1);
        let room = MissingRoom { bytes: room, horizon_bytes: horizon, place_bytes: 60 };
        for _ in 0..40 {
            let found = set.windows_now().missing(&standing, room, 0);
            prop_assert!(bytes(&found) <= room.bytes);
            if found.is_empty() {
                let all = MissingRoom { bytes: 100_000, ..room };
                prop_assert_eq!(set.windows_now().missing(&standing, all, 0), vec![]);
                return Ok(());
            }
            standing = marked(&found, standing);
        }
        prop_assert!(false, "it does not come to an end");
    }
}
