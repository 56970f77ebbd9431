//! Paths in queries.

use crate::retrieve::named_paths::NamedPaths;
use crate::retrieve::weights::PATH_WORDS;
use proptest::prelude::*;

fn fit(query: &str, path: &str) -> f32 {
    let paths = [path.to_owned()];
    NamedPaths::in_text(query).fits([paths.as_slice()].into_iter())[0]
}

#[test]
fn a_path_is_meant_by_how_it_ends() {
    assert_eq!(fit("why does retrieve/mod.rs not compile?", "indexer/src/retrieve/mod.rs"), 1.0);
    assert_eq!(fit("see mod.rs", "indexer/src/retrieve/mod.rs"), 1.0);
    assert_eq!(fit("edit /home/me/work/indexer/src/retrieve/mod.rs:12", "indexer/src/retrieve/mod.rs"), 1.0);
    assert_eq!(fit("(`Cargo.TOML`)", "Cargo.toml"), 1.0);
    assert_eq!(fit(r"src\app\main.cs", "src/app/main.cs"), 1.0);
    // Of another folder: only a part agrees.
    assert_eq!(fit("keyword/mod.rs", "indexer/src/retrieve/mod.rs"), 0.5);
    assert_eq!(fit("keyword/mod.rs", "indexer/src/keyword/main.rs"), 0.0);
}

#[test]
fn words_may_mean_a_file_too() {
    assert_eq!(fit("how are the paths named?", "src/named_paths.rs"), PATH_WORDS);
    assert_eq!(fit("naming things", "src/named_paths.rs"), PATH_WORDS / 2.0);
    assert_eq!(fit("the manual commit hooks", "cmd/strategy/manualCommitHooks.go"), PATH_WORDS);
    assert_eq!(fit("something else", "src/named_paths.rs"), 0.0);
    assert_eq!(fit("", ""), 0.0);
}

#[test]
fn the_best_of_a_documents_paths_counts() {
    let (one, two, none) = (["a/b.rs".to_owned(), "c/d.rs".to_owned()], ["c/d.rs".to_owned()], []);
    let fits = NamedPaths::in_text("d.rs").fits([one.as_slice(), two.as_slice(), none.as_slice()].into_iter());
    assert_eq!(fits, [1.0, 1.0, 0.0]);
}

#[test]
fn patterns_are_of_files_and_short() {
    let named = NamedPaths::in_text("compare /srv/work/src/lib.rs with and/or, v1.2 and docs/, then lib.rs...");
    assert_eq!(named.patterns(2), ["src/lib.rs", "v1.2", "lib.rs"]);
}

proptest! {
    #[test]
    fn any_query_and_path_give_a_share(query in ".{0,200}", path in ".{0,80}") {
        prop_assert!((0.0..=1.0).contains(&fit(&query, &path)));
    }

    #[test]
    fn a_path_that_stands_in_the_query_is_found(path in "[a-z]{1,8}(/[a-z]{1,8}){0,4}\\.[a-z]{1,3}", before in "[a-z ]{0,20}") {
        prop_assert_eq!(fit(&format!("{before} {path}"), &path), 1.0);
    }
}
