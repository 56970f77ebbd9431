//! Lists of commands, places and names, and windows of outputs.

use super::super::lists::{Commands, Places};
use super::super::name_counts::NameCounts;
use super::super::outputs::Outputs;
use super::super::words::hash;
use std::collections::HashSet;

#[test]
fn a_command_stands_where_it_was_run_last() {
    let mut commands = Commands::default();
    for (seq, command) in ["make", "make test", "make"].into_iter().enumerate() {
        commands.add(command, seq as u64);
        commands.ended(command, Some(&format!("exit {seq}")));
    }
    commands.add("ls", 9);
    commands.ended("never run", Some("exit 1"));
    let found: Vec<_> = commands.newest().map(|c| (c.text.as_str(), c.ending.as_deref(), c.seq)).collect();
    assert_eq!(found, [("ls", None, 9), ("make", Some("exit 2"), 2), ("make test", Some("exit 1"), 1)]);
    for n in 0..1_000 {
        commands.add(&format!("{n} {}", "x".repeat(5_000)), n);
    }
    assert_eq!(commands.newest().count(), 300);
    assert!(commands.newest().all(|command| command.text.len() <= 1_000));
}

#[test]
fn places_are_listed_once_the_newest_first() {
    let mut places = Places::default();
    for place in ["/a/b.rs", "src/c.rs", "/a/b.rs", "no_folder", "x/\ny"] {
        places.add(place);
    }
    assert_eq!(places.text(100, ""), "/a/b.rs\nsrc/c.rs");
    assert_eq!(places.text(100, "## a/b.rs is there"), "src/c.rs");
    assert_eq!(places.text(9, ""), "/a/b.rs");
    assert_eq!(places.text(3, ""), "");
}

#[test]
fn names_count_by_how_often_and_how_lately() {
    let mut names = NameCounts::default();
    names.add(0, "old_name old_name never_again", 1.0);
    (1..4).for_each(|n| names.add(n, "often_said", 1.0));
    names.add(300, "new_name Users/me/x.rs", 1.0);
    let none = HashSet::new();
    assert_eq!(names.text(301, 100, &none), "new_name often_said old_name never_again");
    assert_eq!(names.text(301, 20, &none), "new_name often_said");
    let there = HashSet::from([hash("new_name")]);
    assert_eq!(names.text(301, 11, &there), "often_said");
}

#[test]
fn names_are_bounded_and_the_best_stay() {
    let mut names = NameCounts::default();
    for n in 0..50_000_u64 {
        names.add(n, &format!("name_{n:05} steady_one"), 1.0);
    }
    let all = names.text(50_000, usize::MAX, &HashSet::new());
    assert!(all.starts_with("steady_one "), "{}", &all[..40]);
    assert!(all.contains("name_49999") && !all.contains("name_00012"));
    assert!(all.split(' ').count() <= 20_000);
}

#[test]
fn outputs_are_cut_into_windows_of_ten_lines() {
    let mut outputs = Outputs::default();
    let lines: Vec<String> = (1..=25).map(|n| format!("output line {n}")).collect();
    outputs.add((3, 0), &lines.join("\n"), 7, false);
    outputs.add((4, 0), "short", 8, true);
    let found: Vec<_> =
        outputs.iter().map(|window| (window.number, window.first, window.text.lines().count())).collect();
    assert_eq!(found, [(3, 0, 10), (3, 10, 10), (3, 20, 5)]);
    let window = outputs.iter().next().unwrap();
    assert!(window.facts().0.counts.iter().any(|(word, count)| (*word, *count) == (hash("output"), 10)));
    for n in 0..40 {
        outputs.add((n, 0), &"a longer line of output\n".repeat(1_000), 9, false);
    }
    assert_eq!(outputs.iter().count(), 3_000);
    assert!(outputs.iter().all(|window| window.number >= 10));
}
