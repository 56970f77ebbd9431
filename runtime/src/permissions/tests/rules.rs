//! Rules as text.

use crate::config::Origin;
use crate::permissions::{GivenRule, MAX_RULE_BYTES, RuleList, parse_rule};

#[test]
fn rules_are_shown_as_they_can_be_read() {
    let cases = [
        ("bash", "bash"),
        (" * ", "*"),
        ("bash( cargo   test  * )", "bash(cargo test *)"),
        ("bash (ls)", "bash(ls)"),
        ("bash(cargo:*)", "bash(cargo *)"),
        ("bash(cargo\\:*)", "bash(cargo\\:*)"),
        ("bash(echo \\*\\\\\\\"\\')", "bash(echo \\*\\\\\\\"\\')"),
        ("bash(echo (a) b)", "bash(echo (a) b)"),
        ("bash(\\=x)", "bash(\\=x)"),
        ("bash(=cargo build && cargo test)", "bash(=cargo build && cargo test)"),
        ("bash(= a )", "bash(= a )"),
        ("bash(=a\\n\\tb\\\\c\\u{1b}(d))", "bash(=a\\n\\tb\\\\c\\u{1b}(d))"),
        ("edit_file(./a//b/)", "edit_file(/a/b/)"),
        ("edit_file( src/** )", "edit_file(src/**)"),
        ("some-tool2", "some-tool2"),
    ];
    for (text, shown) in cases {
        let rule = parse_rule(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(rule.to_string(), shown);
        assert_eq!(parse_rule(shown).as_ref(), Ok(&rule), "{shown}");
    }
}

#[test]
fn what_is_no_rule_is_told_why() {
    let cases = [
        ("", "is empty"),
        ("  ", "is empty"),
        ("bash(ls", "must end with `)`"),
        ("bash(ls) x", "must end with `)`"),
        ("bash()", "has an empty pattern; without parentheses it is about all calls of the tool"),
        ("bash( )", "has an empty pattern; without parentheses it is about all calls of the tool"),
        ("bash(=)", "has an empty pattern; without parentheses it is about all calls of the tool"),
        ("edit_file(/)", "has an empty pattern; without parentheses it is about all calls of the tool"),
        ("edit_file(./)", "has an empty pattern; without parentheses it is about all calls of the tool"),
        ("*(ls)", "is about all tools and cannot have a pattern"),
        ("(ls)", "must begin with the name of a tool, like `bash(cargo test *)` or `read_file`, or be `*`"),
        ("cargo test", "must begin with the name of a tool, like `bash(cargo test *)` or `read_file`, or be `*`"),
        ("bash(a \\)", "has a backslash that stands before nothing it could mean"),
        ("bash(=a\\x)", "has a backslash that stands before nothing it could mean"),
        ("bash(=a\\u{d800})", "has a backslash that stands before nothing it could mean"),
        ("bash(=a\\)", "has a backslash that stands before nothing it could mean"),
        ("bash(a\nb)", "has a control character"),
        ("edit_file(../x)", "must be a pattern relative to the workspace, without `..` and `~`"),
        ("edit_file(a/../b)", "must be a pattern relative to the workspace, without `..` and `~`"),
        ("edit_file(~/x)", "must be a pattern relative to the workspace, without `..` and `~`"),
        ("edit_file(!x)", "begins with `!`; say what is meant, not what is not"),
        ("edit_file(a[)", "is no pattern: unclosed character class; missing ']'"),
    ];
    for (text, why) in cases {
        assert_eq!(
            parse_rule(text).map(|rule| rule.to_string()).map_err(|error| error.to_string()),
            Err(why.to_owned()),
            "{text}"
        );
    }
    let long = format!("bash({})", "x".repeat(MAX_RULE_BYTES));
    assert!(parse_rule(&long).unwrap_err().to_string().contains("is longer than"));
    assert!(parse_rule("bash(echo \"x\")").unwrap_err().to_string().starts_with("has a quote (\")"));
}

#[test]
fn rules_of_the_user_must_be_about_tools_that_exist() {
    let read =
        |text: &str| GivenRule::read(RuleList::Deny, text, Origin::Flag("--deny")).map_err(|error| error.to_string());
    assert!(read("list_dir(src)").is_ok() && read("*").is_ok() && read("read_output").is_ok());
    let unknown = read("raed_file(x)").unwrap_err();
    assert_eq!(
        unknown,
        "flag --deny: `permissions.deny` has a rule `raed_file(x)` that names a tool that does not exist; did you mean `read_file`?"
    );
    assert!(read("zzz").unwrap_err().ends_with("does not exist"));
    assert!(read("read_output(x)").unwrap_err().contains("this tool has no path and no command"));
    let long = format!("bash({}\u{1b}[31m", "y".repeat(500));
    assert!(read(&long).unwrap_err().len() < 250 && !read(&long).unwrap_err().contains('\u{1b}'));
}
