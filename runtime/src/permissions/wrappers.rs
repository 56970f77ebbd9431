//! Commands that run other commands: `sudo`, `env`, `timeout`, `xargs`, `bash -c`, `find -exec`, keywords of the shell.
//!
//! For rules that forbid: it returns all that may be meant, since which option takes a value is not always known.
//! Nothing here is ever used to allow something.

/// Names of shells.
const SHELLS: &[&str] = &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "su", "runuser"];

/// Programs and keywords that run the command they are given, with how many operands come before it.
const WRAPPERS: &[(&str, usize)] = &[
    ("!", 0),
    ("builtin", 0),
    ("busybox", 0),
    ("chpst", 0),
    ("chroot", 1),
    ("chrt", 1),
    ("command", 0),
    ("coproc", 1),
    ("do", 0),
    ("doas", 0),
    ("elif", 0),
    ("else", 0),
    ("env", 0),
    ("exec", 0),
    ("fakeroot", 0),
    ("flock", 1),
    ("function", 1),
    ("if", 0),
    ("ionice", 0),
    ("ltrace", 0),
    ("nice", 0),
    ("nohup", 0),
    ("nsenter", 0),
    ("numactl", 0),
    ("parallel", 0),
    ("prlimit", 0),
    ("runuser", 0),
    ("script", 0),
    ("setarch", 1),
    ("setpriv", 0),
    ("setsid", 0),
    ("stdbuf", 0),
    ("strace", 0),
    ("su", 1),
    ("sudo", 0),
    ("taskset", 1),
    ("then", 0),
    ("time", 0),
    ("timeout", 1),
    ("toybox", 0),
    ("unbuffer", 0),
    ("unshare", 0),
    ("until", 0),
    ("valgrind", 0),
    ("watch", 0),
    ("while", 0),
    ("xargs", 0),
];

/// Programs with subcommands, whose own options may stand before it.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt",
    "apt-get",
    "aws",
    "az",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "gcloud",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "ip",
    "just",
    "kubectl",
    "make",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];

/// The most commands that are taken out of one another.
const MAX_ROUNDS: usize = 64;
/// How many words of a command are kept where it can only be guessed at.
const MAX_CUT: usize = 16;

/// What a command may come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Unwrapped {
    /// It and the commands it runs.
    pub(super) commands: Vec<Vec<String>>,
    /// Scripts it runs.
    pub(super) scripts: Vec<String>,
}

/// All that the command `words` may run.
pub(super) fn unwrap(words: &[String]) -> Unwrapped {
    let mut found = Unwrapped::default();
    let mut rounds = 0;
    let mut todo = vec![words];
    while let Some(words) = todo.pop() {
        let words = without_assignments(words);
        let Some(first) = words.first() else { continue };
        rounds += 1;
        if rounds > MAX_ROUNDS {
            // Nobody means this; whatever could be a command is taken for one.
            found.commands.extend(tails(words).map(<[String]>::to_vec));
            break;
        }
        found.commands.push(words.to_vec());
        // `{rm,x}` is `rm x`.
        if first.starts_with('{') && first.contains(',') {
            let parts = first.split(['{', ',', '}']).filter(|part| !part.is_empty());
            found.commands.push(parts.map(str::to_owned).chain(words[1..].iter().cloned()).collect());
        }
        let name = base_name(first);
        if WITH_SUBCOMMANDS.contains(&name) {
            let short = |at: usize| [&words[..1], &words[at..]].concat();
            found.commands.extend(starts(words, 0).into_iter().filter(|at| *at > 1).map(short));
        }
        found.scripts.extend(scripts(name, words));
        if let Some((_, operands)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            for at in starts(words, *operands) {
                found.scripts.extend(words.get(at).filter(|word| word.contains(char::is_whitespace)).cloned());
                todo.push(&words[at..]);
            }
        }
        let runs = |word: &String| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        let inner = words.iter().enumerate().filter(|(_, word)| runs(word)).map(|(at, _)| &words[at + 1..]);
        todo.extend(inner.take(MAX_ROUNDS));
    }
    found
}

/// The command that may begin at each of the words, as far as it can be guessed at.
pub(super) fn tails(words: &[String]) -> impl Iterator<Item = &[String]> {
    (0..words.len()).map(|at| &words[at..words.len().min(at + MAX_CUT)])
}

/// Whether the command is a shell that takes its commands from its input.
pub(super) fn reads_commands(words: &[String]) -> bool {
    unwrap(words).commands.iter().any(|words| {
        let shell = words.first().is_some_and(|first| SHELLS.contains(&base_name(first)));
        shell && words[1..].iter().all(|word| word.starts_with('-') || word == "/dev/stdin")
    })
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Without `NAME=value` before the command.
fn without_assignments(words: &[String]) -> &[String] {
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    &words[count..]
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.as_bytes()[0].is_ascii_digit()
}

/// Where, behind the first word, the inner command may begin. An option may or may not take the word after it as its
/// value, so both are taken to be possible.
fn starts(words: &[String], operands: usize) -> Vec<usize> {
    let mut left = operands + 1;
    let mut starts = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1).take(MAX_ROUNDS) {
        if word.starts_with('-') || word.starts_with('+') {
            left += usize::from(word.len() == 2 || (word.starts_with("--") && word.len() > 2 && !word.contains('=')));
        } else if !is_assignment(word) {
            starts.push(at);
            left -= 1;
            if left == 0 {
                break;
            }
        }
    }
    starts
}

/// Scripts among the arguments of a program that is known to run some.
fn scripts(name: &str, words: &[String]) -> Vec<String> {
    let rest = &words[1..];
    let is_option = |word: &&String| word.starts_with('-') || word.starts_with('+');
    match name {
        "eval" => vec![rest.join(" ")],
        "trap" => rest.first().cloned().into_iter().collect(),
        "alias" => rest.iter().filter_map(|word| word.split_once('=')).map(|(_, text)| text.to_owned()).collect(),
        "env" => rest
            .iter()
            .filter(|word| word.contains(char::is_whitespace) && !is_assignment(word))
            .map(|word| split_string(word))
            .collect(),
        _ if SHELLS.contains(&name) || name == "script" => {
            let takes = |word: &String| {
                word == "--command" || (word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
            };
            if !rest.iter().any(takes) {
                return Vec::new();
            }
            rest.iter().filter(|word| !is_option(word)).take(MAX_ROUNDS).cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// The value of `--split-string=…` or `-S…`.
fn split_string(word: &str) -> String {
    let text = word.strip_prefix("--split-string=").or_else(|| word.strip_prefix("-S")).unwrap_or(word);
    text.to_owned()
}
