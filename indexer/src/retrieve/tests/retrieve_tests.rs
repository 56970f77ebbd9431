//! All of retrieval, on a real index in a folder of its own.

use super::{DAY_MS, NOW_MS, document, index, names, request, result, sources, stream};
use crate::document::{Document, DocumentKind};
use crate::query::{Filter, Query};
use crate::retrieve::{Found, HitSource, Notice, SearchRequest, Source, Sources, retrieve};
use expect_test::expect;

/// A session about a time-out, one about cooking, and what the first was forked from.
fn session() -> Vec<Document> {
    let about = |ordinal, kind, text: &str| document("work", ordinal, kind, text);
    let mut documents = vec![
        about(0, DocumentKind::Prompt, "why does the upload stop after a while?"),
        about(1, DocumentKind::Thinking, "The upload probably meets the timeout of the proxy."),
        about(2, DocumentKind::Call, "grep -rn timeout src"),
        result("work", 3, "src/proxy/limits.rs", "src/proxy/limits.rs:12: const UPLOAD_TIMEOUT_MS: u64 = 30_000;"),
        about(4, DocumentKind::Answer, "The proxy gives an upload thirty seconds."),
        about(5, DocumentKind::Prompt, "make it five minutes then"),
        result("work", 6, "src/proxy/limits.rs", "edited: const UPLOAD_TIMEOUT_MS: u64 = 300_000;"),
        about(7, DocumentKind::Answer, "Done, and the tests pass."),
    ];
    documents.push(document("kitchen", 0, DocumentKind::Prompt, "how long does bread stay in the oven?"));
    documents.push(document("kitchen", 1, DocumentKind::Answer, "About forty minutes, then look at it."));
    documents.push(document("parent", 0, DocumentKind::Answer, "The upload goes through a proxy."));
    documents
}

async fn ask(request: &SearchRequest) -> Found {
    let folder = tempfile::tempdir().unwrap();
    retrieve(&sources(folder.path(), &session()), request).await
}

#[tokio::test]
async fn words_find_what_was_said_and_what_was_said_around_it() {
    let found = ask(&request("upload timeout")).await;
    expect![[r#"
        [
            "work/2.0",
            "work/3.0",
            "work/1.0",
            "work/0.0",
            "work/4.0",
            "parent/0.0",
            "work/6.0",
            "work/5.0",
        ]
    "#]]
    .assert_debug_eq(&names(&found));
    // "make it five minutes then" has none of the words.
    let neighbour = found.hits.iter().find(|hit| hit.key.ends_with("work/5.0")).unwrap();
    assert!(neighbour.parts.keyword == 0.0 && neighbour.parts.window > 0.0, "{:?}", neighbour.parts);
    assert_eq!(found.notices, [Notice::WordsOnly]);
}

#[tokio::test]
async fn a_hit_says_all_about_itself() {
    let found = ask(&request("UPLOAD_TIMEOUT_MS 30_000")).await;
    let hit = &found.hits[0];
    assert_eq!(hit.source, HitSource::Event { stream: stream("work"), seq: 3, event: "event-3".to_owned() });
    assert_eq!((hit.kind, hit.paths.as_slice()), (DocumentKind::Result, ["src/proxy/limits.rs".to_owned()].as_slice()));
    assert!(hit.text.starts_with("src/proxy/limits.rs:12:"));
    let marked: Vec<&str> = hit.snippet.highlights.iter().map(|span| &hit.snippet.text[span.clone()]).collect();
    assert!(marked.contains(&"UPLOAD_TIMEOUT_MS"), "{marked:?}");
    assert!((hit.score - hit.parts.total()).abs() < 1e-6 && hit.parts.keyword == 1.0);
}

#[tokio::test]
async fn function_words_and_a_path_do_what_is_meant() {
    let found = ask(&request("what did we do about src/proxy/limits.rs?")).await;
    assert_eq!(names(&found)[..2].iter().filter(|name| ["work/3.0", "work/6.0"].contains(&name.as_str())).count(), 2);
    assert!(found.hits[0].parts.path > 1.0);
}

#[tokio::test]
async fn what_is_required_or_excluded_holds_for_everything() {
    let phrase = ask(&request("timeout \"thirty seconds\"")).await;
    assert_eq!(names(&phrase), ["work/4.0"]);
    let without = ask(&request("upload -proxy -\"after a while\"")).await;
    // The name is in the path and not in the text: exclusions are about the text.
    assert!(without.hits.iter().all(|hit| !hit.text.contains(" proxy") && !hit.text.contains("after a while")));
    assert!(!without.hits.is_empty());
}

#[tokio::test]
async fn filters_hold_for_everything_too() {
    let filter = Filter { kinds: vec![DocumentKind::Prompt, DocumentKind::Answer], ..Filter::default() };
    let found = ask(&SearchRequest { filter, ..request("upload timeout session:work") }).await;
    assert!(found.hits.len() >= 3);
    for hit in found.hits {
        assert!(matches!(hit.kind, DocumentKind::Prompt | DocumentKind::Answer), "{:?}", hit.kind);
        assert!(hit.key.starts_with(&stream("work")));
    }
    let contradiction = Filter { kinds: vec![DocumentKind::Note], ..Filter::default() };
    let nothing = ask(&SearchRequest { filter: contradiction, ..request("upload kind:prompt") }).await;
    assert_eq!(nothing.hits, []);
}

#[tokio::test]
async fn a_filter_without_words_lists_the_newest_first() {
    let found = ask(&request("session:work kind:prompt,answer")).await;
    assert_eq!(names(&found), ["work/7.0", "work/5.0", "work/4.0", "work/0.0"]);
    assert!(found.hits.iter().all(|hit| hit.score == hit.parts.recency && hit.score > 0.0));
    let two = ask(&SearchRequest { limit: 2, ..request("session:work") }).await;
    assert_eq!(names(&two), ["work/7.0", "work/6.0"]);
}

#[tokio::test]
async fn nothing_asked_is_nothing_found() {
    for words in ["", "   ", "\"\""] {
        let found = ask(&request(words)).await;
        assert_eq!(found.hits, [], "{words:?}");
    }
    assert_eq!(ask(&SearchRequest { limit: 0, ..request("upload") }).await.hits, []);
    assert_eq!(ask(&request("kaleidoscope")).await.hits, []);
}

#[tokio::test]
async fn the_own_session_comes_first_then_its_parents() {
    let folder = tempfile::tempdir().unwrap();
    let say = |name: &str| document(name, 0, DocumentKind::Answer, &format!("the limit of {name} is thirty"));
    let documents = ["a", "own", "b", "parent", "c"].map(say);
    let sources = sources(folder.path(), &documents);
    let lineage = vec![stream("parent")];
    let own = SearchRequest { own: Some(stream("own")), lineage, ..request("limit thirty") };
    let found = retrieve(&sources, &own).await;
    assert_eq!(names(&found)[..2], ["own/0.0", "parent/0.0"]);
    assert!(found.hits[0].parts.lineage > found.hits[1].parts.lineage);
}

#[tokio::test]
async fn the_own_past_is_found_among_ever_so_many_others() {
    let folder = tempfile::tempdir().unwrap();
    let other = |number: u64| document("busy", number * 3, DocumentKind::Answer, "deploy failed deploy failed");
    let mut documents: Vec<Document> = (0..400).map(other).collect();
    let long = "deploy then a long story about many other things ".repeat(20);
    documents.push(document("own", 0, DocumentKind::Answer, &long));
    let sources = sources(folder.path(), &documents);
    let found = retrieve(&sources, &SearchRequest { own: Some(stream("own")), ..request("deploy failed") }).await;
    assert!(names(&found).contains(&"own/0.0".to_owned()));
}

#[tokio::test]
async fn a_named_day_speaks_for_what_happened_then() {
    let folder = tempfile::tempdir().unwrap();
    let day = |ordinal: u64, days: i64| {
        let text = format!("the weekly build number {ordinal} was red");
        Document { at_ms: NOW_MS - days * DAY_MS, ..document("builds", ordinal * 5, DocumentKind::Answer, &text) }
    };
    let documents: Vec<Document> = (0..10_u8).map(|week| day(week.into(), i64::from(week) * 7)).collect();
    let date = jiff::Timestamp::from_millisecond(documents[6].at_ms).unwrap().to_zoned(jiff::tz::TimeZone::UTC).date();
    let found = retrieve(&sources(folder.path(), &documents), &request(&format!("weekly build red on {date}"))).await;
    assert_eq!(found.hits[0].at_ms, documents[6].at_ms);
}

#[tokio::test]
async fn a_budget_is_kept_and_long_texts_are_cut_to_what_fits_best() {
    let folder = tempfile::tempdir().unwrap();
    let text = |number: u64| format!("{} the needle number {number} {}", "straw ".repeat(400), "straw ".repeat(400));
    let documents: Vec<Document> =
        (0..12).map(|number| result("barn", number * 4, &format!("{number}.txt"), &text(number))).collect();
    let sources = sources(folder.path(), &documents);
    for budget_tokens in [0, 10, 399, 400, 1000, 2000] {
        let asked = SearchRequest { budget_tokens: Some(budget_tokens), ..request("needle") };
        let found = retrieve(&sources, &asked).await;
        let used: usize = found.hits.iter().map(|hit| hit.text.len() / 4 + 1).sum();
        assert!(used <= budget_tokens, "{used} of {budget_tokens}");
        assert_eq!(found.hits.len(), budget_tokens / SearchRequest::MAX_PASSAGE_TOKENS);
        assert!(found.hits.iter().all(|hit| hit.text.contains("the needle number")));
    }
    let whole = retrieve(&sources, &request("needle")).await;
    assert!(whole.hits.iter().all(|hit| hit.text.len() > 4000) && whole.hits.len() == 10);
}

#[tokio::test]
async fn the_same_question_has_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut documents = session();
    documents.extend((0..50).map(|number| document("same", number, DocumentKind::Answer, "the upload timeout again")));
    let sources = sources(folder.path(), &documents);
    let asked = SearchRequest { limit: 40, budget_tokens: Some(300), ..request("upload timeout") };
    let first = retrieve(&sources, &asked).await;
    for _ in 0..5 {
        assert_eq!(retrieve(&sources, &asked).await, first);
    }
    // Nor does it matter in which order and in how many commits things were indexed.
    let folder = tempfile::tempdir().unwrap();
    documents.reverse();
    let again = Sources {
        sessions: Some(Source { keyword: index(folder.path(), &documents), vectors: None }),
        ..Sources::default()
    };
    assert_eq!(names(&retrieve(&again, &asked).await), names(&first));
}

#[tokio::test]
async fn a_prompt_of_any_length_is_a_query() {
    let long =
        format!("UPLOAD_TIMEOUT_MS in limits.rs: {}", "please consider that many things matter here. ".repeat(2000));
    let asked = SearchRequest { query: Query::plain(&long), ..request("") };
    let found = ask(&asked).await;
    assert!(found.hits.iter().take(3).any(|hit| hit.key.ends_with("work/3.0") || hit.key.ends_with("work/6.0")));
    // What was left out of it is said.
    assert!(found.notices.iter().any(|notice| matches!(notice, Notice::Query(_))), "{:?}", found.notices);
}

#[tokio::test]
async fn it_explains_itself_when_asked() {
    let found = ask(&SearchRequest { explain: true, ..request("upload") }).await;
    let traces: Vec<String> =
        found.notices.iter().filter(|notice| matches!(notice, Notice::Trace(_))).map(ToString::to_string).collect();
    assert_eq!(traces.len(), 2, "{traces:?}");
    assert!(traces[1].contains("candidates"), "{traces:?}");
}
