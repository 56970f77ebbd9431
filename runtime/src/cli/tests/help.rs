//! The help texts, so that every change of the command line is seen.

use crate::cli::command;
use expect_test::expect_file;

#[test]
fn help_of_every_command() {
    let mut all = String::new();
    let mut root = command().term_width(100);
    root.build();
    all.push_str(&format!("{}\n", root.render_help()));
    let names: Vec<String> =
        root.get_subcommands().map(|command| command.get_name().to_owned()).filter(|name| name != "help").collect();
    for name in names {
        let sub = root.find_subcommand_mut(&name).unwrap();
        all.push_str(&format!("==== retrace {name}\n{}\n", own(&sub.render_help().to_string())));
        let inner: Vec<String> =
            sub.get_subcommands().map(|command| command.get_name().to_owned()).filter(|name| name != "help").collect();
        for inner in inner {
            let help = sub.find_subcommand_mut(&inner).unwrap().render_help();
            all.push_str(&format!("==== retrace {name} {inner}\n{}\n", own(&help.to_string())));
        }
    }
    let trimmed: String = all.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    expect_file!["help.txt"].assert_eq(&trimmed);
}

/// A command's help without the options that all commands have.
fn own(help: &str) -> String {
    let (own, _) = help.split_once("\nGlobal options:\n").unwrap();
    own.to_owned()
}

#[test]
fn the_definition_is_sound() {
    command().debug_assert();
}

#[test]
fn usage_errors_are_two() {
    for line in [
        &["retrace", "nonsense"][..],
        &["retrace", "run"],
        &["retrace", "export"],
        &["retrace", "replay", "x", "--speed", "-1"],
        &["retrace", "replay", "x", "--verify", "--speed", "2"],
        &["retrace", "replay", "x", "--verify", "--execute"],
        &["retrace", "replay", "x", "--show", "--what-if", "model=m"],
        &["retrace", "replay", "x", "--sandbox", "none"],
        &["retrace", "replay", "x", "--verify", "--all"],
    ] {
        assert_eq!(command().try_get_matches_from(line).unwrap_err().exit_code(), 2, "{line:?}");
    }
    assert_eq!(command().try_get_matches_from(["retrace", "--help"]).unwrap_err().exit_code(), 0);
}
