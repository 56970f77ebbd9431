//! Which failures mean a damaged table, and how errors read.

use crate::vector::VectorError;
use crate::vector::embed_error::one_line;
use crate::vector::vector_worker::{BATCH_DOCUMENTS, fitting};
use proptest::prelude::*;
use std::io;
use std::path::Path;

fn of(kind: io::Error) -> VectorError {
    let wrapped = io::Error::other(lancedb::Error::External { source: Box::new(kind) });
    VectorError::of_store(Path::new("/index/vectors"), &lancedb::Error::External { source: Box::new(wrapped) })
}

#[test]
fn what_the_system_refuses_is_no_damage() {
    for code in [28, 13, 30, 122, 24, 23, 12] {
        let error = of(io::Error::from_raw_os_error(code));
        assert!(!error.is_damage(), "{code}: {error:?}");
        assert_eq!(error.to_string(), "the vectors in /index/vectors cannot be used");
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains(&format!("os error {code}")), "{source}");
    }
    for code in [2, 5, 20, 21] {
        assert!(of(io::Error::from_raw_os_error(code)).is_damage(), "{code}");
    }
    assert!(of(io::ErrorKind::UnexpectedEof.into()).is_damage());
}

#[test]
fn what_a_library_says_in_many_lines_is_one() {
    let error = VectorError::damaged(Path::new("/v"), "\n\n  bad \u{1b}[31mpage\u{7}\nat src/lance.rs:17\n");
    assert_eq!(error.to_string(), "the vectors in /v are damaged: bad [31mpage; they are made again");
    assert_eq!(one_line(&""), "unknown error");
    assert_eq!(one_line(&"x".repeat(10_000)).len(), 300);
}

proptest! {
    #[test]
    fn a_batch_grows_and_shrinks_within_bounds(width in 1_u64..100_000, documents: u64) {
        let next = fitting(width, documents);
        prop_assert!((1..=1 << 16).contains(&next));
        prop_assert!(next <= width.saturating_mul(4));
        if documents > 4 * BATCH_DOCUMENTS && width > 4 {
            prop_assert!(next < width);
        }
    }
}
