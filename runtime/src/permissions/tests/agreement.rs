//! The readers against bash itself: what the strict ones take a script for is what bash runs, word for word, and what bash runs
//! is seen by the generous one.
//!
//! The scripts are put together at random from what makes bash interesting, and run with no program to be found, so that
//! each command only tells its words.

use super::{World, word};
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

const HOSTILE_SCRIPTS: usize = 120;

/// What could hide a command from a reader.
const HOSTILE_PARTS: &[&str] = &[
    "zap",
    "zap",
    "zap",
    "a",
    "b",
    " ",
    " ",
    " ",
    " ",
    ";",
    "\n",
    "\n",
    "|",
    "&&",
    "'",
    "\"",
    "\\",
    "#",
    "2>&1",
    ">o",
    "<",
    "1",
    "=",
    "$",
    "$x",
    "$(",
    ")",
    "`",
    "`",
    "\\`",
    "${x:-",
    "${x#",
    "}",
    "{ ",
    "; }",
    "((",
    "))",
    "$((",
    "<<E",
    "<<-'E'",
    "\nE\n",
    "<<<",
    "eval ",
    "!",
    "if ",
    "; then ",
    "; fi",
    "\\\n",
    "x=1 ",
    "a[1",
    "]",
    "[[ ",
    " ]]",
    "case a in a) ",
    ";;",
    " esac",
    "$'",
    "$\"",
    "|&",
    "&>o",
    "<(",
    "( ",
    "for i in a; do ",
    "; done",
    "{zap,",
    "command ",
    "builtin ",
    "exec ",
    "*",
    "\t",
    "trap ",
    " EXIT",
    "local ",
    "let ",
    "$[",
    "time ",
];

/// Each command that bash runs of `script`, as its words in angle brackets.
fn run_by_bash(script: &str, folder: &Path) -> Vec<String> {
    let out = folder.join("told");
    std::fs::write(&out, "").unwrap();
    let tell = format!(
        "set -f; ulimit -t 5; command_not_found_handle() {{ printf -v line '<%s>' \"$@\"; printf '%s\\0' \"$line\" >> '{}'; }}; \
         eval \"$1\"",
        out.display()
    );
    let mut bash = Command::new("/bin/bash");
    bash.args(["--norc", "-c", &tell, "bash", script]).env_clear().env("PATH", "/nonexistent").current_dir(folder);
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let told = String::from_utf8_lossy(&std::fs::read(out).unwrap()).into_owned();
    let mut told: Vec<String> = told.split_terminator('\0').map(str::to_owned).collect();
    told.sort();
    told
}

fn script(random: &mut StdRng, parts: &[&str]) -> String {
    let count = random.random_range(1..16);
    (0..count).fold(String::new(), |script, _| script + parts.choose(random).unwrap())
}

#[test]
fn what_is_accepted_is_what_bash_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(3);
    let mut accepted = 0;
    while accepted < SCRIPTS {
        let script = format!("zz{}", script(&mut random, PARTS));
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
        assert_eq!(commands, run_by_bash(&script, folder.path()), "{script:?}");
    }
}

/// The generous reader: a command that it does not see in a script, bash does not run.
#[test]
fn what_bash_runs_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&["allow bash", "deny bash(zap *)"]);
    let mut random = StdRng::seed_from_u64(5);
    let mut run = 0;
    while run < HOSTILE_SCRIPTS {
        let script = script(&mut random, HOSTILE_PARTS);
        let dense: String = script.chars().filter(|c| !c.is_whitespace()).collect();
        // A function could call itself for ever.
        if !script.contains("zap") || dense.contains("()") || word(&world.bash(&script)) == "deny" {
            continue;
        }
        run += 1;
        let told = run_by_bash(&script, folder.path());
        assert!(
            !told.iter().any(|command| command == "<zap>" || command.starts_with("<zap><")),
            "{script:?}: {told:?}"
        );
    }
}
