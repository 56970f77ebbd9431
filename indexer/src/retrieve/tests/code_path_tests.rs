//! What a file is by its path.

use crate::retrieve::code_path::CodeRole;

fn all_are(role: CodeRole, paths: &[&str]) {
    for path in paths {
        assert_eq!(CodeRole::of_path(path), role, "{path}");
    }
}

#[test]
fn tests_are_told_by_their_folders_and_names_in_many_languages() {
    all_are(
        CodeRole::Test,
        &[
            "tests/forms/test_urls.py",
            "tests/forms/models.py",
            "sklearn/tests/helpers.py",
            "testing/plugins.py",
            "src/test/java/org/Thing.java",
            "app/__tests__/view.js",
            "spec/models/user.rb",
            "conftest.py",
            "lib/test_this.py",
            "lib/log_test.go",
            "indexer/src/retrieve/tests.rs",
            "indexer/src/retrieve/dates_tests.rs",
            "src/view.test.ts",
            "src/view.spec.ts",
            "src/ThingTest.java",
            "tests/data/big.json",
        ],
    );
}

#[test]
fn what_others_test_with_is_no_test() {
    let product =
        ["django/test/client.py", "numpy/testing/utils.py", "src/attestation.rs", "latest.py", "contest/a.py"];
    all_are(CodeRole::Product, &product);
    all_are(
        CodeRole::Product,
        &["src/_pytest/python.py", "src/lib.rs", "Makefile", "Cargo.toml", "a/b.yaml", "deploy.sh", ""],
    );
}

#[test]
fn prose_and_data_are_told_by_their_extensions() {
    all_are(
        CodeRole::Prose,
        &["README.md", "docs/index.RST", "locale/de/django.po", "a.json", "b/c.min.css", "notes.txt"],
    );
    // A folder of documents may hold programs.
    all_are(CodeRole::Product, &["docs/conf.py", "txt", ".json/a.rs", "md.py"]);
}
