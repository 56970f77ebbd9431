//! The tables of the README and of ARCHITECTURE.md say what the code says: settings, exit codes, dependencies.
//!
//! The code's side is read from its text; where a rule cannot find what it looks for there, that is a finding too, so
//! that a renamed constant does not switch the rule off.

use crate::tree::{Finding, Tree};
use crate::{finds, keeps};
use expect_test::expect;
use regex::Regex;
use std::collections::BTreeSet;
use toml::Table;

const KEYS: &str = "runtime/src/config/key.rs";
const EXITS: &str = "runtime/src/cli/exit.rs";

/// Every setting, with the environment variables it is read from, is in the README's table, and nothing else is.
fn settings(tree: &Tree) -> Vec<Finding> {
    let row = Regex::new(r#"row\(\s*Key::\w+,\s*"([\w.]+)",\s*&\[([^\]]*)\]"#).expect("regex");
    let mut expected = BTreeSet::new();
    for captures in row.captures_iter(tree.text(KEYS)) {
        let variables: Vec<String> = quoted(&captures[2]).map(|name| format!("`{name}`")).collect();
        expected.insert(format!("| `{}` | {} |", &captures[1], variables.join(", ")));
    }
    let section = section(tree.text("README.md"), "## Settings", "\n###");
    let line = Regex::new(r"(?m)^\| `[\w.]+` \|[^|\n]*\|").expect("regex");
    let shown = line.find_iter(section).map(|hit| hit.as_str().to_owned()).collect();
    compare("README.md", "settings", KEYS, &expected, &shown)
}

/// `.env.example` has the names that are taken from a `.env` file, and no others.
fn env_example(tree: &Tree) -> Vec<Finding> {
    let row = Regex::new(r#"Some\("(\w+)"\),\s*Home::"#).expect("regex");
    let expected = row.captures_iter(tree.text(KEYS)).map(|captures| captures[1].to_owned()).collect();
    let line = Regex::new(r"(?m)^#?([A-Z_]+)=").expect("regex");
    let shown = line.captures_iter(tree.text(".env.example")).map(|captures| captures[1].to_owned()).collect();
    compare(".env.example", "names", KEYS, &expected, &shown)
}

/// The README's exit codes are those of the command.
fn exit_codes(tree: &Tree) -> Vec<Finding> {
    let code = Regex::new(r"Self::(\w+) => (\d+),").expect("regex");
    let meaning = Regex::new(r#"\(Self::(\w+), "([^"]+)"\)"#).expect("regex");
    let text = tree.text(EXITS);
    let mut expected = BTreeSet::new();
    for name in meaning.captures_iter(text) {
        let number =
            code.captures_iter(text).find(|number| number[1] == name[1]).map_or("?".to_owned(), |it| it[2].to_owned());
        expected.insert(format!("| {number} | {} |", &name[2]));
    }
    let section = section(tree.text("README.md"), "### Exit codes", "\n#");
    let line = Regex::new(r"(?m)^\| \d+ \|.*\|$").expect("regex");
    let shown = line.find_iter(section).map(|hit| hit.as_str().to_owned()).collect();
    compare("README.md", "exit codes", EXITS, &expected, &shown)
}

/// Every dependency has its reason in ARCHITECTURE.md.
fn reasons(tree: &Tree) -> Vec<Finding> {
    let manifest: Table = tree.text("Cargo.toml").parse().expect("Cargo.toml is TOML");
    let all = manifest["workspace"]["dependencies"].as_table().expect("a table").keys();
    let expected = all.filter(|name| !name.starts_with("retrace-")).cloned().collect();
    let section = section(tree.text("ARCHITECTURE.md"), "## Dependencies", "\n## ");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")).filter_map(|line| line.split_once(" | "));
    let names = rows.filter(|(names, _)| *names != "crate").flat_map(|(names, _)| names.split(", "));
    let shown = names.map(str::to_owned).collect();
    compare("ARCHITECTURE.md", "dependencies", "Cargo.toml", &expected, &shown)
}

/// What one side has and the other has not.
fn compare(
    page: &str,
    what: &str,
    source: &str,
    expected: &BTreeSet<String>,
    shown: &BTreeSet<String>,
) -> Vec<Finding> {
    if expected.is_empty() {
        return vec![Finding::file(source, format!("the {what} are not found there any more; mend this rule"))];
    }
    let missing = expected
        .difference(shown)
        .map(|it| Finding::file(page, format!("{what}: {source} has `{it}`, this page has not")));
    let extra = shown
        .difference(expected)
        .map(|it| Finding::file(page, format!("{what}: this page has `{it}`, {source} has not")));
    missing.chain(extra).collect()
}

/// The part of a page from a heading to the next one.
fn section<'a>(text: &'a str, heading: &str, end: &str) -> &'a str {
    let body = text.split_once(&format!("{heading}\n")).map_or("", |(_, body)| body);
    body.split(end).next().unwrap_or("")
}

fn quoted(list: &str) -> impl Iterator<Item = &str> {
    list.split('"').skip(1).step_by(2)
}

#[test]
fn the_settings_are_documented() {
    keeps(settings);
    let keys = "row(Key::A, \"a.b\", &[\"X\", \"Y\"], None, Home::C),\n row(Key::B, \"b\", &[], Some(\"B\"), Home::C),";
    let readme = "## Settings\n\n| `a.b` | `X`, `Y` | 1 | |\n| `old` | `O` | 2 | |\n### More\n| `b` |  |\n";
    finds(
        settings,
        &[(KEYS, keys), ("README.md", readme)],
        expect![[r#"
            README.md: settings: runtime/src/config/key.rs has `| `b` |  |`, this page has not
            README.md: settings: this page has `| `old` | `O` |`, runtime/src/config/key.rs has not
        "#]],
    );
    let gone = expect![[r#"
        runtime/src/config/key.rs: the settings are not found there any more; mend this rule
    "#]];
    finds(settings, &[("README.md", readme)], gone);
}

#[test]
fn the_example_has_the_names_that_are_read() {
    keeps(env_example);
    let keys = "row(Key::A, \"a\", &[\"X\"], None, Home::C),\n row(Key::B, \"b\", &[], Some(\"B_C\"), Home::C),";
    finds(
        env_example,
        &[(KEYS, keys), (".env.example", "# A=1 in words\n#X=1\n")],
        expect![[r#"
            .env.example: names: runtime/src/config/key.rs has `B_C`, this page has not
            .env.example: names: this page has `X`, runtime/src/config/key.rs has not
        "#]],
    );
}

#[test]
fn the_exit_codes_are_documented() {
    keeps(exit_codes);
    let exits = "(Self::Done, \"done\"), (Self::Lost, \"lost\") ... Self::Done => 0,\n Self::Lost => 9,\n";
    finds(
        exit_codes,
        &[(EXITS, exits), ("README.md", "### Exit codes\n\n| code | meaning |\n| 0 | done |\n| 8 | lost |\n")],
        expect![[r#"
            README.md: exit codes: runtime/src/cli/exit.rs has `| 9 | lost |`, this page has not
            README.md: exit codes: this page has `| 8 | lost |`, runtime/src/cli/exit.rs has not
        "#]],
    );
}

#[test]
fn each_dependency_has_its_reason() {
    keeps(reasons);
    let manifest = "[workspace.dependencies]\na = \"1\"\nb = \"1\"\nretrace-events = { path = \"events\" }\n";
    finds(
        reasons,
        &[
            ("Cargo.toml", manifest),
            ("ARCHITECTURE.md", "## Dependencies\n\n| crate | why |\n|---|---|\n| a, c | x |\n"),
        ],
        expect![[r#"
            ARCHITECTURE.md: dependencies: Cargo.toml has `b`, this page has not
            ARCHITECTURE.md: dependencies: this page has `c`, Cargo.toml has not
        "#]],
    );
}
