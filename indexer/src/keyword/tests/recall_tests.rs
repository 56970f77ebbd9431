//! What people and models look for in a session of work, each among the first five.

use super::{code, document, index_of, query};
use crate::document::{Document, DocumentKind};
use crate::keyword::KeywordIndex;
use crate::query::{Filter, Query};

/// A session in which much is said, and a few things once.
fn session() -> Vec<Document> {
    let noise = [
        "running the tests again, all green so far",
        "$ cargo check\n    Finished `dev` profile in 2.31s",
        "let me look at the file and see what the function does",
        "error: test failed, to rerun pass `--lib`",
        "fn handle(request: &Request) -> Result<Response, Error> { todo!() }",
        "the path src/lib.rs is fine, I will change the module next",
    ];
    let mut documents: Vec<Document> =
        (0..400).map(|n| document(n, &format!("{} ({n})", noise[n as usize % noise.len()]))).collect();
    let said = [
        (
            31,
            DocumentKind::Prompt,
            "please make the retry policy of the uploader exponential, with at most five attempts",
        ),
        (77, DocumentKind::Call, "{\"command\":\"rg -n 'max_attempts' crates/uploader/src/retry_policy.rs\"}"),
        (78, DocumentKind::Result, "crates/uploader/src/retry_policy.rs:41:    max_attempts: NonZeroU8,"),
        (
            140,
            DocumentKind::Result,
            "error[E0277]: the trait bound `Backoff: Clone` is not satisfied\n  --> crates/uploader/src/retry_policy.rs:58:14",
        ),
        (215, DocumentKind::Answer, "We decided against jitter: the server already spreads its clients over time."),
        (333, DocumentKind::Result, "thread 'upload::tests::gives_up' panicked at 'assertion failed: left == right'"),
    ];
    for (n, kind, text) in said {
        documents[n] = Document { kind, ..document(n as u64, text) };
    }
    documents
}

fn among_the_first_five(index: &KeywordIndex, text: &str, wanted: u64) {
    let hits = index.search(&query(text), &Filter::default(), 5).unwrap();
    let found: Vec<u64> = hits.iter().map(|hit| hit.ordinal).collect();
    assert!(found.contains(&wanted), "{text}: {found:?}");
}

#[test]
fn each_way_of_asking_finds_its_event() {
    let (_folder, index) = index_of(&session());
    among_the_first_five(&index, "retry policy exponential", 31);
    among_the_first_five(&index, "uploader retries", 31);
    among_the_first_five(&index, "retry_policy.rs", 78);
    among_the_first_five(&index, "crates/uploader/src/retry_policy.rs", 140);
    among_the_first_five(&index, "max_attempts", 77);
    among_the_first_five(&index, "attempts NonZeroU8", 78);
    among_the_first_five(&index, "trait bound Backoff: Clone not satisfied", 140);
    among_the_first_five(&index, "E0277", 140);
    among_the_first_five(&index, "\"is not satisfied\"", 140);
    among_the_first_five(&index, "why no jitter", 215);
    among_the_first_five(&index, "assertion failed gives_up", 333);
    among_the_first_five(&index, "upload::tests::gives_up", 333);
    among_the_first_five(&index, "kind:prompt", 31);
    among_the_first_five(&index, "kind:result Backoff", 140);
}

#[test]
fn a_pasted_error_finds_where_it_came_up() {
    let (_folder, index) = index_of(&session());
    let pasted =
        "error[E0277]: the trait bound `Backoff: Clone` is not satisfied --> src/retry_policy.rs:58:14 \"help\" -v";
    let hits = index.search(&Query::plain(pasted), &Filter::default(), 1).unwrap();
    assert_eq!(hits[0].ordinal, 140);
}

#[test]
fn code_is_found_by_what_it_defines_and_where_it_is() {
    let mut documents = session();
    documents.push(code(
        "crates/uploader/src/retry_policy.rs",
        "RetryPolicy::next_delay",
        "pub fn next_delay(&mut self) {}",
    ));
    documents.push(code("crates/uploader/src/client.rs", "Client::upload", "let delay = policy.next_delay();"));
    let (_folder, index) = index_of(&documents);
    let first = |text: &str| index.search_names(&query(text), &Filter::default(), 1).unwrap()[0].key.clone();
    assert_eq!(first("RetryPolicy"), "code/crates/uploader/src/retry_policy.rs#1");
    assert_eq!(first("Client::upload"), "code/crates/uploader/src/client.rs#1");
    assert_eq!(first("client.rs"), "code/crates/uploader/src/client.rs#1");
    let in_code = index.search(&query("in:code next_delay"), &Filter::default(), 5).unwrap();
    assert_eq!(in_code.len(), 2);
    assert!(in_code.iter().all(|hit| hit.kind == DocumentKind::Code));
    let there = index.search(&query("path:uploader/src/client.rs delay"), &Filter::default(), 5).unwrap();
    assert_eq!(there.len(), 1);
}
