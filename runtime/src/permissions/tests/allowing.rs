//! Which scripts rules that allow cover: those they understand to the last character, and no others.

use super::{World, word};

fn world() -> World {
    World::new(&[
        "allow bash(cargo test *)",
        "allow bash(ls *)",
        "allow bash(echo *)",
        "allow bash(git status)",
        "allow bash(cd *)",
        "allow bash(./run *)",
    ])
}

#[test]
fn lists_of_plain_commands_are_covered() {
    let covered = [
        "cargo test",
        "cargo test --all -- --nocapture",
        "  cargo   test  ",
        "cargo test && ls",
        "cargo test || ls; ls | ls",
        "cargo test\nls\n\n",
        "cargo test;",
        "cargo test 2>&1 | ls",
        "cargo test > /dev/null 2>&1",
        "cargo test >/dev/null 2>/dev/null",
        "cargo test &> /dev/null",
        "cargo test < /dev/null",
        "echo problem >&2",
        "# first the tests\ncargo test # all of them\n# done",
        "echo 'a; rm -rf / $(rm) `rm` > x' \"b && c | d\"",
        "echo \"say \\\"hi\\\" \\\\ \\$HOME\" a\\;b \\*",
        "echo 'two\nlines'",
        "cargo test \\\n  --all \\\n  --quiet",
        "'cargo' \"test\" --all",
        "ls *.rs src/[ab]?.rs ~/x a=b --c=d e@f,g%h^i",
        "git status",
        "ls 2",
        "cd sub && ls",
        "./run fast",
    ];
    for script in covered {
        assert_eq!(word(&world().bash(script)), "allow", "{script:?}: {:?}", world().bash(script));
    }
}

/// Scripts of which at least one part is not covered by the rules of [`world`], or not understood.
const ASKED: &[&str] = &[
    // Another command.
    "cargo testing",
    "cargo",
    "cargo build",
    "git status -s",
    "lsof",
    "cargo test && rm x",
    "rm x; cargo test",
    "ls | sh",
    // Operators that are not known.
    "ls &",
    "ls & ls",
    "ls |& ls",
    "ls;; ls",
    "&& ls",
    "ls &&",
    "ls | | ls",
    "; ls",
    "ls; ; ls",
    // Substitutions and expansions.
    "ls $(rm x)",
    "ls `rm x`",
    "ls \"$(rm x)\"",
    "ls <(rm x)",
    "ls >(rm x)",
    "ls $HOME",
    "ls ${x}",
    "ls \"$x\"",
    "echo $((1+1))",
    "ls $'a'",
    "ls $\"a\"",
    "ls {a,b}",
    "$x ls",
    "l$x",
    "`echo ls`",
    "l* x",
    "~/ls",
    "echo \"\\\n\"",
    // Files.
    "ls > out",
    "ls >> out",
    "ls >| out",
    "ls 2> out",
    "ls &> out",
    "ls &>> out",
    "ls > /dev/nullx",
    "ls > /dev/null/../x",
    "ls < in",
    "ls <> in",
    "ls << EOF\nx\nEOF",
    "ls <<< x",
    "ls > \"/dev/null\"",
    "> /dev/null",
    "3>&1 ls",
    "ls 3>/dev/null",
    "ls >&3",
    "ls 2>&-",
    "ls >/dev/null out",
    "ls 0</dev/null",
    // Other grammar.
    "FOO=1 ls",
    "FOO=1",
    "PATH=/tmp:$PATH cargo test",
    "LD_PRELOAD=./x.so ls",
    "(ls)",
    "{ ls; }",
    "! ls",
    "time ls",
    "coproc ls",
    "if ls; then ls; fi",
    "while ls; do ls; done",
    "for x in a; do ls; done",
    "case x in x) ls;; esac",
    "ls() { rm x; }; ls",
    "function ls { rm x; }",
    "[[ -f x ]]",
    "[ -f x ]",
    "export X=1; ls",
    "eval ls",
    "ls !x",
    // Wrappers are other programs.
    "env ls",
    "sudo ls",
    "timeout 5 ls",
    "xargs ls",
    "bash -c ls",
    "command ls",
    "nohup ls",
    "exec ls",
    // Not to be read.
    // The grammar takes this for two words.
    "ls a\\ b",
    "ls 'a",
    "ls \"a",
    "ls \\",
    "",
    "   ",
    "# only a comment",
    "ls\u{a0}x",
    "ls a\u{2003}b",
    "ls\rrm x",
    "ls a\u{1b}[0m",
    "ls x\u{0}y",
    // What `./run` is depends on the folder.
    "cd evil && ./run",
    "cd evil\n./run x",
];

#[test]
fn everything_else_is_asked_about() {
    for script in ASKED {
        assert_eq!(word(&world().bash(script)), "ask", "{script:?}: {:?}", world().bash(script));
    }
}

#[test]
fn patterns_are_about_words_without_their_quotes() {
    let cases: &[(&str, &str, bool)] = &[
        ("bash(git commit -m *)", "git commit -m 'a message'", true),
        ("bash(git commit -m *)", "git commit -m", true),
        ("bash(git * main)", "git push origin main", true),
        ("bash(git * main)", "git push main extra", false),
        ("bash(* --version)", "rustc --version", true),
        ("bash(npm run test:*)", "npm run test", true),
        ("bash(npm run test:*)", "npm run test --watch", true),
        ("bash(npm run test:*)", "npm run test:unit", false),
        ("bash(npm run test\\:*)", "npm run test:unit", true),
        ("bash(cargo test*)", "cargo testing", true),
        ("bash(cargo test *)", "'cargo test' x", false),
        ("bash(cargo test x)", "cargo 'test x'", false),
        ("bash(cargo test\\ x)", "cargo 'test x'", true),
        ("bash(echo \\*)", "echo '*'", true),
        ("bash(echo \\*)", "echo x", false),
        ("bash(*)", "anything at all | more", true),
        ("bash(*)", "anything > file", false),
        ("bash", "anything > file", true),
        ("*", "anything > file", true),
        ("bash(ls  -l   *)", "ls -l", true),
    ];
    for (rule, script, expected) in cases {
        let verdict = World::new(&[&format!("allow {rule}")]).bash(script);
        assert_eq!(word(&verdict) == "allow", *expected, "{rule} {script:?}: {verdict:?}");
    }
}

#[test]
fn an_exact_rule_covers_its_script_and_no_other() {
    let script = "cargo build && (cd x; make) > log \\\n\t\"$(date)\"";
    let rule = format!("bash(={})", script.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t"));
    let world = World::new(&[&format!("allow {rule}")]);
    assert_eq!(word(&world.bash(script)), "allow");
    for other in [format!("{script} "), format!("{script}; ls"), script.replace("build", "test"), format!("x{script}")]
    {
        assert_eq!(word(&world.bash(&other)), "ask", "{other:?}");
    }
    let elsewhere = serde_json::json!({ "command": script, "cwd": "vendor/evil" }).to_string();
    assert_eq!(word(&world.decide("bash", &elsewhere)), "ask");
    let here = serde_json::json!({ "command": script, "cwd": "./" }).to_string();
    assert_eq!(word(&world.decide("bash", &here)), "allow");
}

#[test]
fn programs_of_a_folder_are_only_those_of_the_workspace() {
    let world = World::new(&["allow bash(./run *)", "allow bash(ls *)"]);
    for (command, cwd, expected) in
        [("./run", "", "allow"), ("./run", "sub", "ask"), ("./run", "/x", "ask"), ("ls", "sub", "allow")]
    {
        let input = serde_json::json!({ "command": command, "cwd": cwd }).to_string();
        assert_eq!(word(&world.decide("bash", &input)), expected, "{command} {cwd}");
    }
}

#[test]
fn paths_are_matched_as_in_a_gitignore() {
    let cases: &[(&str, &str, bool)] = &[
        ("src/**", "src/a.rs", true),
        ("src/**", "src/deep/er/a.rs", true),
        ("src/**", "other/src/a.rs", false),
        ("src/**", "src2/a.rs", false),
        ("src/**", "./src//x/../a.rs", true),
        ("src/**", "src/../Cargo.toml", false),
        ("src/**", "../work/src/a.rs", false),
        ("src/**", "src/../../etc/passwd", false),
        ("src/**", "/work/src/a.rs", false),
        ("src/**", "/src/a.rs", false),
        ("**", "/etc/passwd", false),
        ("**", "..", false),
        ("**", "~/x", false),
        ("**", "a/b/c", true),
        ("docs/*.md", "docs/a.md", true),
        ("docs/*.md", "docs/a/b.md", false),
        ("*.md", "docs/deep/a.md", true),
        ("/*.md", "a.md", true),
        ("/*.md", "docs/a.md", false),
        ("./a.md", "a.md", true),
        ("./a.md", "x/a.md", false),
        ("docs", "docs/a/b", true),
        ("docs/", "x/docs/a", true),
        ("/docs/", "x/docs/a", false),
        ("src/{a,b}.rs", "src/b.rs", true),
        ("src/[ab].rs", "src/c.rs", false),
        ("src/\\*.rs", "src/*.rs", true),
        ("src/\\*.rs", "src/a.rs", false),
        ("**", "a\u{0}b", false),
        ("**", "a\nb", false),
    ];
    for (pattern, path, expected) in cases {
        let verdict = World::new(&[&format!("allow edit_file({pattern})")]).path("edit_file", path);
        assert_eq!(word(&verdict) == "allow", *expected, "{pattern} {path:?}: {verdict:?}");
    }
}

#[test]
fn a_rule_is_about_its_own_tool() {
    let world = World::new(&["allow edit_file(src/**)", "allow bash(src/a)"]);
    assert_eq!(word(&world.path("write_file", "src/a.rs")), "ask");
    assert_eq!(word(&world.decide("write_file", r#"{"path":"src/a","command":"src/a"}"#)), "ask");
    assert_eq!(word(&world.decide("edit_file", r#"{"path":["src/a"]}"#)), "ask", "a path that is none");
}
