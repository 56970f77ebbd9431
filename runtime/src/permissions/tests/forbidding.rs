//! What rules that forbid see: a command anywhere in a script, as far as can be seen.

use super::{World, word};

/// Scripts that run `rm` or `git push`, in one way or another.
const DENIED: &[&str] = &[
    "rm x",
    "rm",
    "  rm -rf /",
    "/bin/rm x",
    "./rm",
    "\\rm x",
    "'rm' x",
    "\"rm\" x",
    "r'm' x",
    "r\"\"m x",
    "$'rm' x",
    "rm\tx",
    "rm \\\n x",
    "ls; rm x",
    "ls && rm x",
    "ls || rm x",
    "ls | rm x",
    "ls & rm x",
    "ls |& rm x",
    "ls\nrm x",
    "ls # x\nrm x",
    "ls #'\nrm x\n#'",
    "echo $(rm x)",
    "echo `rm x`",
    "echo \"$(rm x)\"",
    "echo \"a `rm x` b\"",
    "cat <(rm x)",
    "tee >(rm x)",
    "echo ${a:-$(rm x)}",
    "echo $(echo $(echo \"$(rm x)\"))",
    "(rm x)",
    "((1)); (cd y; rm x)",
    "{ rm x; }",
    "! rm x",
    "time rm x",
    "if true; then rm x; fi",
    "if rm x; then true; fi",
    "while ls; do rm x; done",
    "for f in *; do rm $f; done",
    "until rm x; do ls; done",
    "case a in a) rm x;; esac",
    "f() { rm x; }; f",
    "function f { rm x; }",
    "A=1 rm x",
    "A=1 B=$(rm x) ls",
    "A[0]=1 rm x",
    "rm x > out",
    "> out rm x",
    "2>&1 rm x",
    "ls > out; rm x",
    "ls &> out; rm x",
    "rm x &>/dev/null",
    "ls 2>&1 && rm x",
    "cat <<EOF\nhello\nEOF\nrm x",
    "cat <<-'E O'\n\tit's\n\tE O\nrm x",
    "cat <<EOF\n$(rm x)\nEOF",
    "cat <<A <<B\na\nA\nb\nB\nrm x",
    "echo $((1<<2))\nrm x",
    "((a<<2))\nrm x",
    "cat <<EOF; rm x\nEOF",
    "cat <<EOF && rm x\nit's\nEOF",
    "sudo rm x",
    "sudo -u root rm x",
    "sudo -n -- rm x",
    "sudo -E A=1 rm x",
    "env rm x",
    "env -i A=1 rm x",
    "env -u B rm x",
    "env -S 'rm x'",
    "/usr/bin/env rm x",
    "command rm x",
    "command -p rm x",
    "builtin command rm x",
    "exec rm x",
    "exec -a n rm x",
    "nohup rm x &",
    "nice rm x",
    "nice -n 5 rm x",
    "ionice -c 3 rm x",
    "timeout 5 rm x",
    "timeout -s KILL 5 rm x",
    "timeout --signal=KILL 5m rm x",
    "timeout --signal KILL 5m rm x",
    "stdbuf -oL rm x",
    "setsid rm x",
    "ls | xargs rm",
    "ls | xargs -I {} rm {}",
    "xargs -0 -n 1 rm",
    "find . -exec rm {} \\;",
    "find . -name x -execdir rm {} +",
    "watch -n 1 'rm x'",
    "flock /tmp/l rm x",
    "flock /tmp/l -c 'rm x'",
    "chroot /x rm y",
    "busybox rm x",
    "sudo env timeout 3 nice rm x",
    "parallel rm ::: x",
    "bash -c 'rm x'",
    "bash -lc \"rm x\"",
    "sh -ec 'ls; rm x'",
    "bash -c \"bash -c 'rm x'\"",
    "/bin/sh -c 'rm x'",
    "sudo bash -c 'rm x'",
    "bash --norc -c 'ls && rm x'",
    "su -c 'rm x'",
    "su root -c 'rm x'",
    "eval rm x",
    "eval 'rm x'",
    "eval \"ls; rm x\"",
    "trap 'rm x' EXIT",
    "alias l='rm x'",
    "bash <<< 'rm x'",
    "bash <<EOF\nrm x\nEOF",
    "echo 'rm x' | sh",
    "echo rm x | sudo bash -s",
    "sh -s <<'E'\n(rm x)\nE",
    "rm x; ((((",
    "rm x; echo 'open",
    "rm x && if",
    "rm x; $(",
    "rm x; `",
    "( rm x",
    "echo \"$(rm x",
    "rm x; )",
    "rm x }",
    "\0rm x",
    "$x rm y",
    "rm$x y",
    "``rm y",
    "$(true)rm y",
    "${x}rm y",
    "r${x#a}m y",
    "${x:-rm} y",
    "\"${x:=rm}\" y",
    "$SUDO $OPTIONS rm y",
    "{rm,-rf,x}",
    "a[1<<2]=3\nrm x\n2]=3",
    "((cat <<E\nit's\nE\n); rm x; echo ')')",
    "echo \"${x#'\"'}\"; rm x; echo \"'\" \"",
    "echo `echo \\`rm x\\``",
    "let a=1<<2\nrm x\n",
    "cat<<A\nit's\nA\nrm x",
    "git push",
    "git push origin main",
    "git -C dir push",
    "git -c a.b=c push -f",
    "git --git-dir=x push",
    "cd x; git --no-pager push",
];

#[test]
fn a_forbidden_command_is_found_wherever_it_is() {
    let world = World::new(&["allow bash", "deny bash(rm *)", "deny bash(git push *)"]);
    for script in DENIED {
        assert_eq!(word(&world.bash(script)), "deny", "{script:?}");
    }
}

#[test]
fn what_only_looks_like_it_is_left_alone() {
    let world = World::new(&["allow bash", "deny bash(rm *)", "deny bash(git push *)", "deny bash(curl *)"]);
    let fine = [
        "ls",
        "rmdir x",
        "echo rm x",
        "echo 'rm x; rm y'",
        "echo \"a; rm x\"",
        "grep 'a|rm x' f",
        "git commit -m 'fix; rm old $(x)'",
        "ls # ; rm x",
        "git status && git pull",
        "git log --grep push",
        "cat <<'EOF' > clean.sh\nrm -rf build\nrm x\nEOF",
        "cat <<EOF\nrm x; rm y\nit's\nEOF",
        "sudo ls rm",
        "env A=rm ls",
        "timeout 5 ls rm x",
        "bash script.sh rm",
        "bash -c 'ls rm'",
        "xargs grep rm",
        "find . -name rm",
        "python3 -c 'import os; rm = 3'",
        "echo a > rm",
        "ls 2> rm",
        "sed 's/;rm x;/y/' f",
        "echo \\; rm x",
        "curly x",
        "awk '{ rm x }' f",
        "test -f rm && ls",
        "for rm in a b; do ls $rm; done",
        "A='; rm x' ls",
        "git stash push",
    ];
    for script in fine {
        assert_eq!(word(&world.bash(script)), "allow", "{script:?}: {:?}", world.bash(script));
    }
}

#[test]
fn spaces_of_a_forbidding_pattern_fit_within_words_too() {
    let world = World::new(&["allow bash", "deny bash(git push *)"]);
    assert_eq!(word(&world.bash("'git push' x")), "deny");
}

#[test]
fn an_exact_rule_forbids_the_script_and_the_command_in_it() {
    let world = World::new(&["allow bash", "deny bash(=make && make install)", "deny bash(=cargo publish)"]);
    for script in [
        "make && make install",
        " make && make install\n",
        "cargo publish",
        "ls; cargo   publish",
        "sudo cargo publish",
    ] {
        assert_eq!(word(&world.bash(script)), "deny", "{script:?}");
    }
    for script in ["make", "make install", "cargo publish --dry-run", "echo 'cargo publish'"] {
        assert_eq!(word(&world.bash(script)), "allow", "{script:?}");
    }
}

#[test]
fn forbidden_paths_are_found_by_any_name() {
    let world = World::new(&["deny read_file(secrets/)", "deny read_file(/.env)", "deny edit_file(*.lock)"]);
    let denied = [
        ("read_file", "secrets/key"),
        ("read_file", "a/secrets/b/c"),
        ("read_file", "x/../secrets/key"),
        ("read_file", "/work/here/secrets/key"),
        ("read_file", "../here/secrets/key"),
        ("read_file", "./.env"),
        ("read_file", "/anywhere/.env"),
        ("read_file", "../../.env"),
        ("edit_file", "a/b/Cargo.lock"),
    ];
    for (tool, path) in denied {
        assert_eq!(word(&world.path(tool, path)), "deny", "{tool} {path}");
    }
    for (tool, path) in
        [("read_file", "secret"), ("read_file", "a/.env"), ("read_file", "Cargo.lock"), ("list_dir", "secrets")]
    {
        assert_eq!(word(&world.path(tool, path)), "allow", "{tool} {path}");
    }
}
