//! Random sessions: scripts of random calls on few paths, so that they meet, and changes by hand between the turns.

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The paths that all operations are about.
const PATHS: [&str; 8] = ["a.txt", "b", "d/one", "d/two", "d/e/three", "run.sh", "über ñ.txt", "z/y/x"];

/// What a turn is made of.
pub(super) struct RandomWork {
    rng: SmallRng,
    number: u32,
}

impl RandomWork {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: SmallRng::seed_from_u64(seed), number: 0 }
    }

    /// How many turns there are.
    pub(super) fn turns(&mut self) -> usize {
        self.rng.random_range(1..=3)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.rng.random_range(0..end.max(1))
    }

    /// A script with answers for so many turns.
    pub(super) fn script(&mut self, turns: usize) -> String {
        let mut text = String::new();
        for _ in 0..turns {
            for _ in 0..self.rng.random_range(0..=3) {
                text.push_str("[[step]]\nblock = [\n");
                for _ in 0..self.rng.random_range(1..=3) {
                    let call = self.call();
                    let _ = writeln!(text, "  {{ type = 'tool_use', {call} }},");
                }
                text.push_str("]\n");
            }
            text.push_str("[[step]]\nblock = [{ type = 'text', text = 'done' }]\n");
        }
        text
    }

    fn path(&mut self) -> &'static str {
        PATHS.choose(&mut self.rng).copied().unwrap_or("a.txt")
    }

    fn call(&mut self) -> String {
        self.number += 1;
        let (path, number) = (self.path(), self.number);
        match self.rng.random_range(0..10) {
            0 => format!("name = 'read_file', input = {{ path = '{path}' }}"),
            1 => "name = 'list_dir', input = {}".to_owned(),
            2 => format!("name = 'write_file', input = {{ path = '{path}', content = 'written {number}' }}"),
            3 => "name = 'write_file', raw_input = '{\"path\": '".to_owned(),
            _ => {
                let command = self.command();
                format!("name = 'bash', input = {{ command = \"{command}\" }}")
            }
        }
    }

    /// A command that changes files, or does not, or fails half-way. No quotes and no backslashes: it stands in TOML and in sh.
    fn command(&mut self) -> String {
        let (one, other, number) = (self.path(), self.path(), self.number);
        let folder = Path::new(one).parent().and_then(Path::to_str).filter(|parent| !parent.is_empty()).unwrap_or(".");
        match self.rng.random_range(0..14) {
            0 => format!("mkdir -p '{folder}' && echo {number} >> '{one}'"),
            1 => format!("rm -rf '{one}'"),
            2 => format!("rm -rf '{folder}' 2>/dev/null; echo gone"),
            3 => format!("mkdir -p '{folder}'; mv '{other}' '{one}' 2>/dev/null; true"),
            4 => format!("chmod {} '{one}' 2>/dev/null; true", ["755", "600", "444", "640"][number as usize % 4]),
            5 => format!("mkdir -p '{folder}'; ln -sfn ../nowhere{number} '{one}'"),
            6 => format!("mkdir -p empty/{number}"),
            7 => format!("mkdir -p '{folder}'; head -c {} /dev/zero | tr '\\\\0' x > '{one}'; exit 3", number * 9_000),
            8 => "echo nothing is written".to_owned(),
            9 => format!("mkdir -p '{folder}' && cp -a '{other}' '{one}' 2>/dev/null; true"),
            10 => format!(
                "git init -q . 2>/dev/null; echo {number} > tracked; git add -A; git -c user.name=t -c user.email=t@t commit -qm {number} 2>/dev/null; true"
            ),
            11 => "git checkout -qb other 2>/dev/null; git gc -q 2>/dev/null; true".to_owned(),
            12 => format!("chmod {} . ; true", ["755", "700", "775"][number as usize % 3]),
            _ => format!("mkdir -p '{folder}' && printf '%s' {number} > '{one}' && touch -d @{number} '{one}'"),
        }
    }

    /// Changes files as somebody with an editor does, or nothing.
    pub(super) fn by_hand(&mut self, workspace: &Path) {
        if self.rng.random_bool(0.6) {
            self.number += 1;
            let command = self.command().replace("\\\\", "\\");
            let _ = Command::new("sh").arg("-c").arg(command).current_dir(workspace).output();
        }
    }
}
