//! `list_dir`: the tree through a real sandbox, and its bounds.

use super::harness::Bench;
use crate::tools::list_dir::tree;
use expect_test::expect;
use proptest::prelude::*;
use retrace_sandbox::{Entry, EntryKind, ListDone, Truncation};
use serde_json::json;

const DONE: ListDone = ListDone { entries: 0, unreadable: 0, truncated: None };

#[tokio::test]
async fn a_tree_with_sizes_and_without_what_is_ignored() {
    let bench = Bench::new().await;
    bench.file("Cargo.toml", "x".repeat(1_234));
    bench.file("src/main.rs", "fn main() {}\n");
    bench.file("src/deep/er/far.rs", "");
    bench.file("target/debug/out", "1");
    bench.file(".gitignore", "target\n");
    bench.file(".git/HEAD", "ref: refs/heads/main\n");
    bench.file("odd\nname", "");
    std::os::unix::fs::symlink("src", bench.path("link")).unwrap();
    expect![[r#"
        .gitignore  7
        Cargo.toml  1,234
        link@ (symbolic link)
        odd\nname  0
        src/
          deep/
          main.rs  13
        [7 entries]"#]]
    .assert_eq(&bench.ok("list_dir", json!({})).await);
    expect![[r#"
        deep/
          er/
            far.rs  0
        main.rs  13
        [4 entries]"#]]
    .assert_eq(&bench.ok("list_dir", json!({"path": "./src/", "depth": 9})).await);
    let all = bench.ok("list_dir", json!({"include_ignored": true})).await;
    assert!(all.contains(".git/\n  HEAD  21\n") && all.contains("target/\n  debug/\n"), "{all}");
}

#[tokio::test]
async fn empty_missing_and_outside_folders_are_said() {
    let bench = Bench::new().await;
    assert_eq!(bench.ok("list_dir", json!({})).await, "[the folder is empty, or all in it is ignored]");
    bench.file("source/a.txt", "");
    std::os::unix::fs::symlink("..", bench.path("up")).unwrap();
    let table = [
        ("sorce", "hint: did you mean source?"),
        ("source/a.txt", ""),
        ("..", "leads out of the workspace"),
        ("up", "leads out of the workspace"),
        ("/etc", "leads out of the workspace"),
    ];
    for (path, expected) in table {
        let text = bench.fails("list_dir", json!({"path": path})).await;
        assert!(text.contains(expected) && !text.contains("outside.txt"), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_large_folder_shows_what_lies_higher_first() {
    let bench = Bench::new().await;
    for n in 0..1_500 {
        bench.file(&format!("a/{n:04}.txt"), "");
    }
    bench.file("z.txt", "last");
    let text = bench.ok("list_dir", json!({})).await;
    assert!(text.starts_with("a/  [502 more not shown]\n  0000.txt  0\n"), "{}", &text[..200]);
    assert!(text.ends_with("\nz.txt  4\n[1,502 entries; 502 not shown]"), "{}", &text[text.len() - 200..]);
}

#[test]
fn entries_missing_at_the_top_are_counted_too() {
    let entry = |n: u32| Entry { path: format!("sub/{n:05}").as_str().into(), kind: EntryKind::File, size_bytes: 1 };
    let entries: Vec<Entry> = (0..1_200).map(entry).collect();
    let text = tree("./sub/", &entries, &ListDone { unreadable: 2, truncated: Some(Truncation::Count), ..DONE });
    assert!(text.starts_with("00000  1\n"), "{}", &text[..100]);
    let footer = text.lines().last().unwrap();
    assert_eq!(
        footer,
        "[1,200 entries; 200 not shown; 200 of those directly here; there are more; list a folder below; 2 folders could not be read]"
    );
}

#[test]
fn a_listing_that_took_too_long_is_not_called_empty() {
    let text = tree("", &[], &ListDone { truncated: Some(Truncation::Time), ..DONE });
    assert_eq!(text, "[0 entries; not complete: it took too long; list a folder below]");
}

proptest! {
    /// Whatever a workspace looks like, every entry is either shown or counted as missing, exactly once.
    #[test]
    fn every_entry_is_shown_or_counted(folders in prop::collection::vec((0_usize..400, 0_usize..3), 1..8)) {
        let mut entries = Vec::new();
        let mut entry = |path: String, kind| entries.push(Entry { path: path.as_str().into(), kind, size_bytes: 0 });
        for (number, (files, depth)) in folders.iter().enumerate() {
            let mut folder = format!("d{number}");
            entry(folder.clone(), EntryKind::Directory);
            for level in 0..*depth {
                folder = format!("{folder}/e{level}");
                entry(folder.clone(), EntryKind::Directory);
            }
            (0..*files).for_each(|file| entry(format!("{folder}/f{file}"), EntryKind::File));
        }
        let text = tree("", &entries, &DONE);
        let (body, footer) = text.rsplit_once('\n').unwrap();
        let shown = body.lines().count();
        let missing = |line: &str| {
            let count = line.split_once("  [")?.1.strip_suffix(" more not shown]")?;
            count.replace(',', "").parse::<usize>().ok()
        };
        prop_assert!(shown <= 1_000);
        prop_assert_eq!(shown + body.lines().filter_map(missing).sum::<usize>(), entries.len());
        prop_assert_eq!(footer.contains("not shown"), shown < entries.len());
    }

    /// Names are the file system's, and hostile: none of them makes a line of its own.
    #[test]
    fn hostile_names_stay_in_their_line(names in prop::collection::btree_set("[a\n\r\t\u{1b} ]{1,6}", 1..6)) {
        let entry = |name: &String| Entry { path: name.as_str().into(), kind: EntryKind::File, size_bytes: 1 };
        let entries: Vec<Entry> = names.iter().map(entry).collect();
        let text = tree("", &entries, &DONE);
        prop_assert_eq!(text.lines().count(), entries.len() + 1);
        prop_assert!(!text.contains(['\r', '\t', '\x1b']));
    }
}
