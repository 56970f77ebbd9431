//! What each normaliser takes out, and what it must leave.

use crate::replaying::Normaliser;
use crate::replaying::normaliser::{self, Places, moved, normalised};
use proptest::prelude::*;
use std::path::Path;

fn places() -> Places {
    Places::new(&[Path::new("/home/ada/proj"), Path::new("/home/ada/.cache/retrace/replay/replay-x1/proj")])
}

fn after(normaliser: Normaliser, text: &str) -> String {
    normalised(text, &[normaliser], &places())
}

#[track_caller]
fn alike(normaliser: Normaliser, pairs: &[(&str, &str)]) {
    for (then, now) in pairs {
        assert_ne!(then, now);
        assert_eq!(after(normaliser, then), after(normaliser, now), "{normaliser:?}: {then:?} and {now:?}");
    }
}

#[track_caller]
fn different(normaliser: Normaliser, pairs: &[(&str, &str)]) {
    for (then, now) in pairs {
        assert_ne!(after(normaliser, then), after(normaliser, now), "{normaliser:?}: {then:?} and {now:?}");
    }
}

#[test]
fn every_pattern_compiles() {
    let all = [
        &normaliser::TIME_PATTERNS[..],
        &normaliser::PATH_PATTERNS,
        &normaliser::ID_PATTERNS,
        &normaliser::ADDRESS_PATTERNS,
        &normaliser::PORT_PATTERNS,
        &normaliser::PID_PATTERNS,
        &normaliser::PROGRESS_PATTERNS,
        &[(normaliser::ONE_LINE_PATTERN, "")],
    ];
    for (pattern, _) in all.concat() {
        regex::Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    }
}

#[test]
fn names_are_known_and_each_its_own() {
    let names: std::collections::BTreeSet<&str> = Normaliser::ALL.iter().map(|one| one.name()).collect();
    assert_eq!(names.len(), Normaliser::ALL.len());
}

#[test]
fn times() {
    alike(
        Normaliser::Times,
        &[
            ("at 2026-11-22T01:45:03Z", "at 2026-11-23T11:05:59Z"),
            ("2026-11-22T01:45:03.123+01:00 x", "2027-01-02T03:04:05.9+02:00 x"),
            ("2026-11-22 01:45:03 UTC", "2025-01-01 00:00:00 UTC"),
            ("built 2026-11-22", "built 2026-12-01"),
            ("Sun Nov 22 01:45:03 UTC 2026", "Mon Dec  7 21:05:13 CET 2026"),
            ("Sun, 22 Nov 2026 01:45:03 +0000", "Mon, 07 Dec 2026 21:05:13 +0100"),
            ("-rw-r--r-- 1 a a 5 Nov 22 01:45 x", "-rw-r--r-- 1 a a 5 Dec 12 11:05 x"),
            ("[01:45:03] go", "[23:59:59.5] go"),
            ("ok. 3 passed; finished in 0.03s", "ok. 3 passed; finished in 12.5s"),
            ("Finished in 340ms", "Finished in 1.2 seconds"),
            ("real\t0m0.003s", "real\t2m13.250s"),
            ("took 2m 03s", "took 1h 2m"),
            ("took 5 µs", "took 17 ns"),
            ("stamp 1795312345", "stamp 1795399999.25"),
            ("stamp 1795312345678", "stamp 1795399999000"),
            ("stamp 1795312345678901234", "stamp 1795399999000111222"),
        ],
    );
    different(
        Normaliser::Times,
        &[
            ("3 passed", "4 passed"),
            ("exit code: 0", "exit code: 1"),
            ("v1.2.3", "v1.2.4"),
            ("port 8080", "port 8081"),
            ("2 files", "3 files"),
            ("line 12:34", "line 12:35"),
            ("5 sheep", "6 sheep"),
            ("10:20", "10:21"),
        ],
    );
}

#[test]
fn paths_of_the_workspace_and_of_temporary_files() {
    alike(
        Normaliser::Paths,
        &[
            ("Compiling x (/home/ada/proj)", "Compiling x (/home/ada/.cache/retrace/replay/replay-x1/proj)"),
            ("/home/ada/proj/src/a.rs:3", "/home/ada/.cache/retrace/replay/replay-x1/proj/src/a.rs:3"),
            ("file:///home/ada/proj/x", "file:///home/ada/.cache/retrace/replay/replay-x1/proj/x"),
            ("made /tmp/tmp.AbC123", "made /tmp/tmp.Zz9Qx1"),
            ("made /tmp/.tmpAb12/x", "made /tmp/.tmpZ9/x"),
            ("/var/tmp/x93/y", "/var/tmp/x12/y"),
        ],
    );
    different(
        Normaliser::Paths,
        &[
            ("/home/ada/proj/a", "/home/ada/proj/b"),
            ("/home/ada/proj2/a", "/home/ada/.cache/retrace/replay/replay-x1/proj/a"),
            ("/home/ada/proj.bak", "/home/ada/.cache/retrace/replay/replay-x1/proj"),
            ("/tmp/input", "/tmp/output"),
            ("/opt/a1", "/opt/a2"),
        ],
    );
}

#[test]
fn ids() {
    alike(
        Normaliser::Ids,
        &[
            ("id 0b5cd6b2-5f3c-4f5e-9f4c-1c4f0d8d3c11", "id 7e5cd6b2-1f3c-4f5e-8f4c-2c4f0d8d3c00"),
            ("[main 1a2b3c4] Fix it", "[main 9f8e7d6] Fix it"),
            ("[main (root-commit) 1a2b3c4] Fix", "[main (root-commit) 9f8e7d6] Fix"),
            ("commit 1a2b3c4d5e6f", "commit 9f8e7d6c5b4a"),
            ("HEAD is now at 1a2b3c4 Fix", "HEAD is now at 9f8e7d6 Fix"),
            ("1a2b3c4 Fix it\n", "9f8e7d6 Fix it\n"),
            ("* 1a2b3c4 Fix it\n", "* 9f8e7d6 Fix it\n"),
            ("(target/debug/deps/x-0123456789abcdef)", "(target/debug/deps/x-fedcba9876543210)"),
        ],
    );
    different(
        Normaliser::Ids,
        &[
            ("12 passed", "13 passed"),
            ("1234567 bytes", "1234568 bytes"),
            ("deadbee is a word", "effaced is a word"),
            ("d41d8cd98f00b204e9800998ecf8427e  x", "0cc175b9c0f1b6a831c399e269772661  x"),
            ("commit it", "commit them"),
        ],
    );
}

#[test]
fn addresses_ports_and_pids() {
    alike(
        Normaliser::Addresses,
        &[("at 0x7ffd3a2b1c00", "at 0x55d0aa11"), ("<X object at 0x7f00aa>", "<X object at 0x7fffff>")],
    );
    different(
        Normaliser::Addresses,
        &[("0x1f", "0x2f"), ("0xAB is a byte", "0xAC is a byte"), ("7ffd3a2b1c00", "7ffd3a2b1c01")],
    );
    alike(
        Normaliser::Ports,
        &[
            ("listening on 127.0.0.1:43121", "listening on 127.0.0.1:35001"),
            ("http://localhost:8000/x", "http://localhost:9123/x"),
            ("on [::1]:5000", "on [::1]:5001"),
            ("Listening on port 40001", "Listening on port 40002"),
        ],
    );
    different(
        Normaliser::Ports,
        &[("error.rs:12", "error.rs:13"), ("support 12", "support 13"), ("10.0.0.7:80", "10.0.0.8:80")],
    );
    alike(
        Normaliser::Pids,
        &[
            ("pid 123 started", "pid 4567 started"),
            ("PID=1", "PID=99"),
            ("\"pid\": 17", "\"pid\": 18"),
            ("thread 'main' (123) panicked", "thread 'main' (98765) panicked"),
            ("[1] 1234\n", "[1] 77\n"),
            ("/proc/12/fd", "/proc/13/fd"),
            ("sh: line 1:    12 Killed   x", "sh: line 1:   999 Killed   x"),
            ("cron[12]: ran", "cron[99]: ran"),
        ],
    );
    different(
        Normaliser::Pids,
        &[("12 rapids", "13 rapids"), ("[2/3] x", "[3/3] x"), ("a[1] = 2", "a[2] = 2"), ("line 1: x", "line 2: x")],
    );
}

#[test]
fn redraws_keep_the_last_state() {
    alike(
        Normaliser::Redraws,
        &[
            ("Downloading 10%\nDownloading 60%\nDownloading 100%\ndone", "Downloading 33%\nDownloading 100%\ndone"),
            ("Building [==>   ] 1/9: a\nBuilding [====> ] 1/9: a\nok", "Building [====> ] 1/9: a\nok"),
            ("⠋ working\n⠙ working\n⠹ working\nok", "⠹ working\nok"),
        ],
    );
    different(
        Normaliser::Redraws,
        &[
            ("a.py 80%\nb.py 90%", "a.py 70%\nb.py 90%"),
            ("coverage: 80%", "coverage: 81%"),
            ("line 1\nline 2", "line 2"),
            ("Downloading 50%\nfailed", "Downloading 100%\nok"),
        ],
    );
}

#[test]
fn a_path_is_moved_only_where_it_is_one() {
    let to_b = |text: &str| moved(text, "/w/a", "/w/b").into_owned();
    for (text, moved) in [
        ("/w/a", "/w/b"),
        ("cd /w/a && ls /w/a/x", "cd /w/b && ls /w/b/x"),
        ("\"/w/a\"", "\"/w/b\""),
        ("-I/w/a/include", "-I/w/b/include"),
        ("DIR=/w/a", "DIR=/w/b"),
        ("PATH=/bin:/w/a/bin", "PATH=/bin:/w/b/bin"),
        ("It is in /w/a.", "It is in /w/b."),
        ("/w/a/../c", "/w/b/../c"),
        ("file:///w/a", "file:///w/b"),
    ] {
        assert_eq!(to_b(text), moved);
    }
    for other in ["/w/ab", "/w/a-b", "/w/a.bak", "/mnt/w/a", "../w/a", "~/w/a", "$ROOT/w/a", "${ROOT}/w/a", "x/y/w/a"] {
        assert_eq!(to_b(other), other);
    }
}

#[test]
fn the_longer_of_two_folders_is_found() {
    let places = Places::new(&[Path::new("/w"), Path::new("/w/deep/er"), Path::new("/")]);
    let text = normalised("/w/deep/er/x /w/y /", &[Normaliser::Paths], &places);
    assert_eq!(text, "<workspace>/x <workspace>/y /");
}

proptest! {
    #[test]
    fn whatever_comes_is_taken(text in ".{0,400}", lines in proptest::collection::vec("[ -~⠋█]{0,30}", 0..12)) {
        let text = format!("{text}\n{}", lines.join("\n"));
        for normaliser in Normaliser::ALL {
            let once = after(normaliser, &text);
            // What stands for something is not taken for something again.
            prop_assert_eq!(after(normaliser, &once), once.clone(), "{:?}", normaliser);
        }
    }

    #[test]
    fn what_names_no_folder_is_not_moved(text in "[a-z /.=-]{0,80}") {
        prop_assume!(!text.contains("/w/a"));
        prop_assert_eq!(moved(&text, "/w/a", "/elsewhere").into_owned(), text.clone());
    }

    #[test]
    fn moving_there_and_back_changes_nothing(parts in proptest::collection::vec("( |/w/a|/w/a/x|y|=|\")", 0..12)) {
        let text = parts.concat();
        let there = moved(&text, "/w/a", "/there/q").into_owned();
        prop_assert_eq!(moved(&there, "/there/q", "/w/a").into_owned(), text);
    }
}
