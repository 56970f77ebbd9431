//! What an epoch begins with.

use super::*;

#[tokio::test]
async fn the_users_files_come_first_and_the_roots_after_them() {
    let bench = Bench::new().await;
    assert_eq!(bench.collect().await, Instructions::default(), "there is nothing");
    bench.put("CLAUDE.md", "root claude\n");
    bench.put("AGENTS.md", "root agents\n");
    bench.put("sub/AGENTS.md", "nested");
    bench.put_user("CLAUDE.md", "user claude");
    bench.put_user("AGENTS.md", "user agents");
    let found = bench.collect().await;
    assert_eq!(
        told(&found),
        [
            ("AGENTS.md", "user agents"),
            ("CLAUDE.md", "user claude"),
            ("AGENTS.md", "root agents\n"),
            ("CLAUDE.md", "root claude\n"),
        ]
    );
    assert!(path_of(&found.passages[0]).starts_with('/'), "the user's are told from the repository's by their path");
    assert_eq!(path_of(&found.passages[2]), "AGENTS.md");
    assert!(found.passages.iter().all(|passage| passage.tokens > 0));
    assert_eq!(found.notices, [""; 0]);
}

#[tokio::test]
async fn two_files_that_say_the_same_are_taken_once() {
    let bench = Bench::new().await;
    bench.put("AGENTS.md", "the same");
    symlink("AGENTS.md", bench.ws("CLAUDE.md")).unwrap();
    bench.put_user("AGENTS.md", "alike");
    bench.put_user("CLAUDE.md", "alike");
    let found = bench.collect().await;
    assert_eq!(told(&found), [("AGENTS.md", "alike"), ("AGENTS.md", "the same")]);
    assert_eq!(found.notices, [""; 0]);
}

#[tokio::test]
async fn a_file_that_only_names_the_other_adds_nothing_and_an_import_is_not_followed() {
    let bench = Bench::new().await;
    bench.put("AGENTS.md", "see @other.md");
    bench.put("other.md", "never shown");
    bench.put("CLAUDE.md", " @AGENTS.md\n");
    assert_eq!(told(&bench.collect().await), [("AGENTS.md", "see @other.md")]);
    std::fs::remove_file(bench.ws("AGENTS.md")).unwrap();
    assert_eq!(told(&bench.collect().await), [("CLAUDE.md", " @AGENTS.md\n")], "there is no other");
}

#[tokio::test]
async fn blank_files_are_left_out() {
    let bench = Bench::new().await;
    bench.put("AGENTS.md", "");
    bench.put("CLAUDE.md", " \n\n");
    bench.put_user("AGENTS.md", "\u{FEFF}\n");
    assert_eq!(bench.collect().await, Instructions::default());
}

#[tokio::test]
async fn the_users_own_links_are_followed() {
    let bench = Bench::new().await;
    std::fs::write(bench.folder.path().join("dotfiles.md"), "mine").unwrap();
    symlink(bench.folder.path().join("dotfiles.md"), bench.user("AGENTS.md")).unwrap();
    assert_eq!(told(&bench.collect().await), [("AGENTS.md", "mine")]);
}

#[tokio::test]
async fn a_user_folder_that_is_none_is_no_trouble() {
    let bench = Bench::new().await;
    bench.put("AGENTS.md", "root");
    bench.put("file", "");
    for folder in ["nowhere", "ws/file"] {
        let found = collect(&bench.sandbox, &bench.folder.path().join(folder), &bench.redactor).await;
        assert_eq!((told(&found), found.notices.len()), (vec![("AGENTS.md", "root")], 0), "{folder}");
    }
}

#[tokio::test]
async fn without_a_sandbox_it_is_said_and_the_users_files_are_there() {
    let bench = Bench::new().await;
    bench.put("AGENTS.md", "root");
    bench.put_user("AGENTS.md", "mine");
    bench.sandbox.shutdown().await;
    let found = bench.collect().await;
    assert_eq!(told(&found), [("AGENTS.md", "mine")]);
    assert_eq!(found.notices.len(), 1, "{:?}", found.notices);
    assert!(found.notices[0].starts_with("the instruction files cannot be read: "), "{:?}", found.notices);
}
