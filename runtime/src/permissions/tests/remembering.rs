//! Rules that are added to the user's file.

use crate::config::bounded::{self, Author};
use crate::permissions::{ApprovalMode, Permissions, RememberError, RuleSet, read_user};
use expect_test::expect;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Home {
    _root: tempfile::TempDir,
    file: PathBuf,
}

impl Home {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("config/retrace/permissions.toml");
        Self { _root: root, file }
    }

    fn with(text: &str) -> Self {
        let home = Self::new();
        std::fs::create_dir_all(home.file.parent().unwrap()).unwrap();
        std::fs::write(&home.file, text).unwrap();
        home
    }

    fn permissions(&self) -> Permissions {
        Permissions::new(ApprovalMode::Auto, false, RuleSet::default(), Some(self.file.clone()))
    }

    fn remember(&self, rule: &str) -> Result<(), RememberError> {
        self.permissions().remember(rule)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.file).unwrap()
    }
}

fn allowed(file: &Path) -> Vec<String> {
    read_user(file).unwrap().allow.iter().map(|given| given.rule.to_string()).collect()
}

#[test]
fn a_file_is_made_for_its_owner_alone() {
    let home = Home::new();
    home.remember("bash(cargo test *)").unwrap();
    home.remember(" edit_file(src/**) ").unwrap();
    expect![[r#"
        allow = [
            "bash(cargo test *)",
            "edit_file(src/**)",
        ]
    "#]]
    .assert_eq(&home.text());
    let mode = std::fs::metadata(&home.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let left: Vec<_> =
        std::fs::read_dir(home.file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the file and its lock: {left:?}");
}

#[test]
fn comments_and_order_stay() {
    let home = Home::with(
        "# mine\n\ndeny = [\"bash(rm *)\"] # never\n\nallow = [\n  # tests\n  \"bash(cargo test *)\", # always\n  \"read_file\" # last\n  # end\n] # done\n\n# ask\nask = [ \"bash(git push *)\" ]\n# bye\n",
    );
    home.remember("bash(make *)").unwrap();
    home.remember("bash(=a && b\\\\n)").unwrap();
    expect![[r##"
        # mine

        deny = ["bash(rm *)"] # never

        allow = [
          # tests
          "bash(cargo test *)", # always
          "read_file", # last
          # end
          "bash(make *)",
          'bash(=a && b\\n)',
        ] # done

        # ask
        ask = [ "bash(git push *)" ]
        # bye
    "##]]
    .assert_eq(&home.text());
}

#[test]
fn lists_of_any_form_take_one_more() {
    for text in [
        "allow=[]",
        "allow = [ ]\n",
        "allow = ['read_file','list_dir',]",
        "allow = [\"read_file\"] # x",
        "deny=[]",
        "",
        "# only\n",
        "\"allow\" = [\n]",
    ] {
        let home = Home::with(text);
        let before = allowed(&home.file);
        home.remember("bash(make *)").unwrap();
        assert_eq!(
            allowed(&home.file),
            [before, vec!["bash(make *)".to_owned()]].concat(),
            "{text:?}: {}",
            home.text()
        );
        for comment in text.lines().filter_map(|line| line.split_once('#')) {
            assert!(home.text().contains(comment.1), "{text:?}: {}", home.text());
        }
    }
}

#[test]
fn the_same_rule_is_written_once() {
    let home = Home::with("allow = ['bash( cargo  test * )']\n");
    home.remember("bash(cargo test *)").unwrap();
    home.remember("bash(cargo test:*)").unwrap();
    assert_eq!(home.text(), "allow = ['bash( cargo  test * )']\n");
}

#[test]
fn what_cannot_be_done_changes_nothing() {
    let says = |home: &Home, rule: &str| {
        let error = home.remember(rule).unwrap_err();
        let hint = error.hint().map(|hint| format!(" | {hint}")).unwrap_or_default();
        format!("{error}{hint}").replace(home.file.to_str().unwrap(), "FILE")
    };
    let home = Home::with("allow = [\"bash(ls\"]\n");
    assert_eq!(says(&home, "bash(make *)"), "FILE:1: `permissions.allow` has a rule `bash(ls` that must end with `)`");
    assert_eq!(home.text(), "allow = [\"bash(ls\"]\n");
    let home = Home::with("\nallow = [\n");
    assert!(says(&home, "bash(make *)").starts_with("FILE:"), "{}", says(&home, "bash(make *)"));
    assert_eq!(says(&home, ""), "`` cannot be remembered: as a rule it is empty");
    assert_eq!(says(&home, "bash("), "`bash(` cannot be remembered: as a rule it must end with `)`");
    assert!(says(&home, "no_tool").contains("names a tool that does not exist"));
    assert_eq!(home.text(), "\nallow = [\n");
    let full = Home::with(&format!("#{}\n", "x".repeat(256 * 1024 - 20)));
    assert_eq!(says(&full, "bash(make *)"), "FILE: would grow beyond 262144 bytes");
    assert!(matches!(Permissions::builtin(true).remember("bash"), Err(RememberError::NoFile)));
    let exposed = Home::with("");
    std::fs::set_permissions(&exposed.file, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(says(&exposed, "bash(make *)").contains("other users may write it"));
}

#[test]
fn links_are_not_written_through() {
    let home = Home::with("");
    let target = home.file.with_file_name("elsewhere.toml");
    std::fs::write(&target, "").unwrap();
    std::fs::remove_file(&home.file).unwrap();
    std::os::unix::fs::symlink(&target, &home.file).unwrap();
    let error = home.remember("bash(make *)").unwrap_err();
    assert!(matches!(error, RememberError::Link { .. }), "{error}");
    assert_eq!(error.hint().unwrap(), "add `bash(make *)` to its list `allow` by hand");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "");

    let home = Home::with("");
    let lock = home.file.with_file_name(".permissions.toml.lock");
    std::os::unix::fs::symlink(&target, &lock).unwrap();
    assert!(home.remember("bash(make *)").is_err());
    assert_eq!(home.text(), "");

    let home = Home::with("");
    std::fs::remove_file(&home.file).unwrap();
    std::fs::create_dir(&home.file).unwrap();
    assert!(home.remember("bash(make *)").is_err());
}

#[test]
fn many_writers_at_once_lose_nothing_and_no_reader_sees_half() {
    const WRITERS: usize = 8;
    const RULES: usize = 12;
    let home = Arc::new(Home::with("# kept\ndeny = [\"bash(rm *)\"]\n"));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let home = Arc::clone(&home);
            std::thread::spawn(move || {
                for rule in 0..RULES {
                    // Half of them by all writers.
                    let rule = if rule % 2 == 0 {
                        format!("bash(shared{rule} *)")
                    } else {
                        format!("bash(own{writer}-{rule} *)")
                    };
                    home.remember(&rule).unwrap();
                    assert!(allowed(&home.file).contains(&rule));
                }
            })
        })
        .collect();
    while !writers.iter().all(std::thread::JoinHandle::is_finished) {
        let text = bounded::read(&home.file, Author::User).unwrap().unwrap().text;
        assert!(text.starts_with("# kept\n"));
        assert_eq!(read_user(&home.file).unwrap().deny.len(), 1);
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let rules = allowed(&home.file);
    assert_eq!(rules.len(), RULES / 2 + WRITERS * RULES / 2, "{rules:?}");
    assert_eq!(rules.iter().collect::<std::collections::BTreeSet<_>>().len(), rules.len());
}

/// A list with comments and white space wherever they may be.
fn list() -> impl Strategy<Value = (String, Vec<String>)> {
    let rule = prop::sample::select(&["bash(a *)", "read_file", "edit_file(x/**)", "bash(=b && c)"][..]);
    let blank = prop::sample::select(&["", " ", "\n", " # note\n", "\n  # one\n # two\n\t", "\n\n"][..]);
    let item = (blank.clone(), rule, blank.clone());
    (prop::collection::vec(item, 0..4), blank, any::<bool>()).prop_map(|(items, end, comma)| {
        let mut text = "# top\nallow = [".to_owned();
        let count = items.len();
        for (at, (before, rule, after)) in items.iter().enumerate() {
            let comma = if at + 1 < count || comma { "," } else { "" };
            text.push_str(&format!("{before}\"{rule}\"{after}{comma}"));
        }
        text.push_str(&format!("{end}] # tail\nask = [\"bash(z)\"]\n"));
        (text, items.iter().map(|(_, rule, _)| (*rule).to_owned()).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_list_keeps_its_rules_and_its_comments((text, rules) in list()) {
        let home = Home::with(&text);
        home.remember("bash(new *)").unwrap();
        let now = home.text();
        prop_assert_eq!(allowed(&home.file), [rules, vec!["bash(new *)".to_owned()]].concat(), "{}\n{}", text, now);
        for word in ["# top", "# note", "# one", "# two", "# tail", "ask = [\"bash(z)\"]"] {
            prop_assert_eq!(text.matches(word).count(), now.matches(word).count(), "{}: {}\n{}", word, text, now);
        }
    }
}
