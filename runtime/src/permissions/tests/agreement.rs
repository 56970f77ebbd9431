//! The strict readers against bash itself: what they take a script for is what bash runs, word for word.
//!
//! The scripts are put together at random from what makes bash interesting; only those that the readers accept are run,
//! with no program to be found, so that each command only tells its words.

use crate::permissions::script::Script;
use rand::prelude::*;
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPTS: usize = 250;

const PARTS: &[&str] = &[
    "zz",
    "zza",
    "a",
    "b",
    " ",
    " ",
    " ",
    ";",
    "\n",
    " | ",
    "&&",
    "&",
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "#",
    "2>&1",
    ">/dev/null",
    ">",
    "1",
    "2",
    "=",
    "-",
    "/dev/null",
    "$",
    "\t",
    "]",
    "[",
    "x y",
    "%",
    "^",
    "@",
    ":",
    ",",
    "+",
    "{",
    "}",
    "(",
    ")",
    "!",
    "if",
    "\\\n",
    "''",
    "é",
    "  zz",
];

/// Each command that bash runs of `script`, as its words in angle brackets.
fn run_by_bash(script: &str, out: &Path) -> Vec<String> {
    std::fs::write(out, "").unwrap();
    let tell = format!(
        "set -f; command_not_found_handle() {{ printf -v line '<%s>' \"$@\"; printf '%s\\0' \"$line\" >> '{}'; }}; eval \"$1\"",
        out.display()
    );
    let mut bash = Command::new("/bin/bash");
    bash.args(["--norc", "-c", &tell, "bash", script]).env_clear().env("PATH", "/nonexistent");
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let told = std::fs::read_to_string(out).unwrap();
    let mut told: Vec<String> = told.split_terminator('\0').map(str::to_owned).collect();
    told.sort();
    told
}

#[test]
fn what_is_accepted_is_what_bash_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(3);
    let mut accepted = 0;
    while accepted < SCRIPTS {
        let count = random.random_range(1..14);
        let script: String = (0..count).fold("zz".to_owned(), |script, _| script + PARTS.choose(&mut random).unwrap());
        let Some(plain) = Script::read(&script).plain else { continue };
        // Names with a slash are no news to bash's handler, and nothing fails that `||` could wait for.
        let plain_names = plain.iter().all(|command| !command.words[0].text.contains('/'));
        if !plain_names || script.contains("||") || plain.len() + plain[0].words.len() < 3 {
            continue;
        }
        accepted += 1;
        let shown =
            |words: &[crate::permissions::plain::Word]| words.iter().map(|word| format!("<{}>", word.text)).collect();
        let mut commands: Vec<String> = plain.iter().map(|command| shown(&command.words)).collect();
        commands.sort();
        assert_eq!(commands, run_by_bash(&script, &folder.path().join("out")), "{script:?}");
    }
}
