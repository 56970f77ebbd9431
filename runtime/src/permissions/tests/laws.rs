//! Properties that hold for whatever rules and scripts there are.

use super::{World, word};
use crate::permissions::{Permissions, parse_rule};
use proptest::prelude::*;
use serde_json::json;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A word as it may stand in a plain command.
fn plain_word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z][a-z0-9_./=-]{0,6}",
        1 => "'[a-z ;&|$`\"()<>*#\n]{0,8}'",
        1 => "\"[a-z ;&|()<>*#']{0,8}\"",
        1 => "-{1,2}[a-z]{1,4}",
        1 => "[a-z]\\\\[*;&'\"()$][a-z]",
    ]
}

fn plain_command() -> impl Strategy<Value = String> {
    ("[a-z]{2,6}", prop::collection::vec(plain_word(), 0..4))
        .prop_filter("a keyword", |(name, _)| {
            ![
                "if", "fi", "do", "in", "then", "else", "elif", "done", "case", "esac", "for", "while", "until",
                "select", "time", "coproc",
            ]
            .contains(&name.as_str())
        })
        .prop_map(|(name, words)| [vec![name], words].concat().join(" "))
}

fn plain_script() -> impl Strategy<Value = String> {
    let join = prop::sample::select(&[" && ", " || ", "; ", " | ", "\n", " 2>&1 | ", " >/dev/null; "][..]);
    (plain_command(), prop::collection::vec((join, plain_command()), 0..3))
        .prop_map(|(first, rest)| rest.into_iter().fold(first, |script, (join, next)| script + join + &next))
}

/// Something that runs `zap` when it is put behind a script.
fn addition() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "; zap",
            "&& zap",
            "|| zap",
            "| zap",
            "& zap",
            "\nzap",
            " $(zap)",
            " `zap`",
            " <(zap)",
            " >(zap)",
            " \"$(zap)\"",
            ";zap",
            "&&zap",
            "|zap",
            "&zap",
            "$(zap)",
            "`zap`",
            "|& zap",
            " > $(zap)",
            " # x\nzap",
            " ; (zap)",
            "; { zap; }",
            "; ! zap",
            "; A=1 zap",
            "; sudo zap",
            "; if zap; then ls; fi",
            "; for x in a; do zap; done",
            "; bash -c 'zap'",
            "; f() { zap; }",
            " 2>&1; zap",
            " <<E\n$(zap)\nE",
            " ${x:-$(zap)}",
            "\\\n; zap",
            " \\\n&& zap",
            "; eval zap",
            "; case x in x) zap;; esac",
            "; xargs zap",
            "; echo $((1<<2)); zap",
        ][..],
    )
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_rule_is_read_as_it_is_shown(tool in "bash|edit_file|read_file|\\*", inner in prop::option::of("\\PC{0,12}|[a-z*=: \\\\\\\\/!.\\[\\]{},()]{0,12}")) {
        let text = match inner { Some(inner) => format!("{tool}({inner})"), None => tool };
        if let Ok(rule) = parse_rule(&text) {
            let shown = rule.to_string();
            prop_assert_eq!(parse_rule(&shown), Ok(rule.clone()), "{} as {}", text, shown);
            prop_assert_eq!(parse_rule(&shown).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn any_script_has_an_exact_rule(script in "(?s).{1,40}") {
        let input = json!({ "command": script }).to_string();
        let rule = Permissions::builtin(false).rule_like("bash", &input);
        prop_assert!(!rule.is_empty());
        let exact = World::new(&[]).session(&[&rule]);
        prop_assert_eq!(word(&exact.bash(&script)), "allow", "{}", rule);
    }

    #[test]
    fn what_a_call_is_remembered_by_covers_it(script in plain_script()) {
        let rule = Permissions::builtin(false).rule_like("bash", &json!({ "command": script }).to_string());
        let world = World::new(&[]).session(&[&rule]);
        prop_assert_eq!(word(&world.bash(&script)), "allow", "{}", rule);
    }

    /// Whatever is allowed of a script is never allowed of it with one more command that no rule allows.
    #[test]
    fn nothing_hides_behind_what_is_allowed(script in plain_script(), addition in addition()) {
        let rules: Vec<String> = script
            .split(|c: char| !c.is_ascii_lowercase())
            .filter(|word| !word.is_empty() && *word != "zap")
            .map(|word| format!("allow bash({word} *)"))
            .collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let world = World::new(&rules);
        prop_assume!(!script.contains("zap"));
        let longer = format!("{script}{addition}");
        prop_assert_ne!(word(&world.bash(&longer)), "allow", "{:?}", longer);
        // And the addition is seen by a rule that forbids it.
        let strict = World::new(&["allow bash", "deny bash(zap *)"]);
        prop_assert_eq!(word(&strict.bash(&longer)), "deny", "{:?}", longer);
        let exact = World::new(&[]).session(&[&Permissions::builtin(false).rule_like("bash", &json!({ "command": script }).to_string())]);
        prop_assert_ne!(word(&exact.bash(&longer)), "allow", "{:?}", longer);
    }

    /// Whatever text comes behind a forbidden command, or before it with an end of its own, it stays forbidden.
    #[test]
    fn more_text_never_undoes_a_denial(
        before in prop::collection::vec(plain_command(), 0..3),
        after in "[;&|\n](?s:.{0,60})|[;&|\n][ '\"$(){}<>`\\\\a-z#\n;&|=\\[\\]!]{0,60}",
    ) {
        let world = World::new(&["allow bash", "deny bash(zap *)"]);
        let script = format!("{}zap x{after}", before.iter().map(|command| format!("{command}\n")).collect::<String>());
        prop_assert_eq!(word(&world.bash(&script)), "deny", "{:?}", script);
    }

    /// The strict readers see what a plain script is made of.
    #[test]
    fn plain_scripts_are_covered_by_a_rule_for_each_command(script in plain_script()) {
        prop_assert_eq!(word(&World::new(&["allow bash(*)"]).bash(&script)), "allow", "{:?}", script);
    }

    #[test]
    fn anything_is_decided(tool in "bash|edit_file|list_dir|x", input in "\\PC{0,40}|\\{\"(command|path|cwd)\": ?\".{0,20}\"\\}") {
        let world = World::new(&["allow bash(ls *)", "ask edit_file(a*)", "deny bash(rm *)", "deny *"]);
        prop_assert_eq!(word(&world.decide(&tool, &input)), "deny");
    }

    /// A path rule never allows what leads out, however it is written.
    #[test]
    fn no_path_leads_out(parts in prop::collection::vec(prop::sample::select(&["..", ".", "", "a", "b"][..]), 1..8), absolute: bool) {
        let path = format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"));
        let mut depth = 0_i32;
        let mut out = path.starts_with('/');
        for part in path.split('/') {
            depth += match part { ".." => -1, "" | "." => 0, _ => 1 };
            out |= depth < 0;
        }
        let world = World::new(&["allow edit_file(**)", "allow edit_file(*)", "allow edit_file(a/**)"]);
        prop_assert_eq!(word(&world.path("edit_file", &path)) == "allow", !out, "{}", path);
    }
}
