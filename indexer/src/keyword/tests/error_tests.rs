//! Errors: of which kind they are, and what people read.

use crate::keyword::KeywordError;
use crate::keyword::guard::guarded;
use expect_test::{Expect, expect};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenReadError};
use tantivy::error::DataCorruption;

fn check(error: TantivyError, rebuild: bool, expected: Expect) {
    let error = KeywordError::engine(Path::new("/state/index"), error);
    assert_eq!(error.needs_rebuild(), rebuild, "{error}");
    expected.assert_eq(&error.to_string());
}

#[test]
fn what_the_engine_says_is_sorted_by_what_to_do() {
    check(
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(PathBuf::from("a.store"))),
        true,
        expect![
            "the keyword index in /state/index is damaged: a.store is missing; hint: it is built again from the log"
        ],
    );
    check(
        TantivyError::DataCorruption(DataCorruption::comment_only("two\nlines\u{1b}[31m")),
        true,
        expect![[
            r#"the keyword index in /state/index is damaged: Data corruption: two lines [31m.; hint: it is built again from the log"#
        ]],
    );
    check(
        TantivyError::LockFailure(LockError::LockBusy, None),
        false,
        expect!["the keyword index in /state/index is being written by another process"],
    );
    check(
        TantivyError::IoError(Arc::new(io::Error::from_raw_os_error(28))),
        false,
        expect!["cannot use the keyword index in /state/index: No space left on device (os error 28)"],
    );
    check(
        TantivyError::IoError(Arc::new(io::Error::new(io::ErrorKind::UnexpectedEof, "ends too soon"))),
        true,
        expect!["the keyword index in /state/index is damaged: ends too soon; hint: it is built again from the log"],
    );
    check(
        TantivyError::ErrorInThread("a thread died".to_owned()),
        false,
        expect!["the keyword index in /state/index failed: An error occurred in a thread: 'a thread died'"],
    );
}

#[test]
fn a_long_description_is_cut() {
    let error = KeywordError::damaged(Path::new("/x"), "word ".repeat(10_000));
    assert!(error.to_string().len() < 400);
}

#[test]
fn a_panic_of_the_engine_is_damage() {
    let folder = Path::new("/x");
    let with_text: Result<(), _> = guarded(folder, || panic!("a {}", "broken block"));
    assert!(matches!(&with_text, Err(KeywordError::Damaged { what, .. }) if what == "a broken block"), "{with_text:?}");
    let with_constant: Result<(), _> = guarded(folder, || panic!("constant"));
    assert!(matches!(&with_constant, Err(KeywordError::Damaged { what, .. }) if what == "constant"));
    let with_other: Result<(), _> = guarded(folder, || std::panic::panic_any(7));
    assert!(matches!(with_other, Err(KeywordError::Damaged { .. })));
    assert!(matches!(guarded(folder, || Ok(5)), Ok(5)));
    let failed: Result<(), _> = guarded(folder, || Err(TantivyError::Poisoned));
    assert!(matches!(failed, Err(KeywordError::Engine { .. })));
}
