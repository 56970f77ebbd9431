//! The table: neighbours, deletion, reopening, upkeep, and that searching with an index finds what searching without it does.

use super::world::{prompt, row, unit};
use crate::document::Document;
use crate::query::Filter;
use crate::vector::VectorError;
use crate::vector::VectorTable;
use crate::vector::vector_filter::between;
use crate::vector::vector_row::VectorRow;
use std::collections::HashSet;

const DIMENSIONS: usize = 32;

fn rows(range: std::ops::Range<u64>) -> Vec<VectorRow> {
    let one = |number| row(&prompt("ev.t.p.session.s1", number, "text"), unit(number, DIMENSIONS));
    range.map(one).collect()
}

async fn table(folder: &std::path::Path) -> VectorTable {
    VectorTable::create(folder, "model", DIMENSIONS).await.unwrap()
}

#[tokio::test]
async fn the_nearest_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(folder.path()).await;
    table.put(&rows(0..200)).await.unwrap();
    let hits = table.search(&unit(77, DIMENSIONS), &Filter::default(), 10).await.unwrap();
    assert_eq!(hits.len(), 10);
    assert_eq!(hits[0].key, "ev.t.p.session.s1/77.0");
    assert_eq!((hits[0].position, hits[0].ordinal, hits[0].at_ms), (77, 77, 1077));
    assert!(hits[0].similarity > 0.9999);
    assert!(hits.windows(2).all(|pair| pair[0].similarity >= pair[1].similarity));
    let question = unit(77, DIMENSIONS);
    let exact: f32 = question.iter().zip(unit(hits[3].position, DIMENSIONS)).map(|(one, other)| one * other).sum();
    assert!((exact - hits[3].similarity).abs() < 1e-3);
}

#[tokio::test]
async fn nothing_comes_of_an_empty_table_or_a_limit_of_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(VectorTable::open(folder.path(), "model", DIMENSIONS).await.unwrap().is_none());
    let table = table(folder.path()).await;
    assert!(table.search(&unit(1, DIMENSIONS), &Filter::default(), 10).await.unwrap().is_empty());
    table.put(&rows(0..3)).await.unwrap();
    table.put(&[]).await.unwrap();
    assert!(table.search(&unit(1, DIMENSIONS), &Filter::default(), 0).await.unwrap().is_empty());
    assert_eq!(table.search(&unit(1, DIMENSIONS), &Filter::default(), usize::MAX).await.unwrap().len(), 3);
    assert!(table.search(&[f32::NAN; DIMENSIONS], &Filter::default(), 3).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_vector_of_another_length_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(folder.path()).await;
    let wrong = row(&prompt("s", 1, "text"), unit(1, 7));
    assert!(matches!(table.put(&[wrong]).await, Err(VectorError::Dimensions { wanted: DIMENSIONS, found: 7 })));
    let search = table.search(&unit(1, 7), &Filter::default(), 3).await;
    assert!(matches!(search, Err(VectorError::Dimensions { .. })));
    assert_eq!(table.count().await.unwrap(), 0);
}

#[tokio::test]
async fn what_was_deleted_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(folder.path()).await;
    table.put(&rows(0..20)).await.unwrap();
    let other = prompt("ev.t.p.session.s2", 500, "text");
    table.put(&[row(&other, unit(500, DIMENSIONS))]).await.unwrap();
    table.delete(&between(5, 14)).await.unwrap();
    assert_eq!(table.count().await.unwrap(), 11);
    table.delete_stream("ev.t.p.session.s1").await.unwrap();
    let hits = table.search(&unit(3, DIMENSIONS), &Filter::default(), 50).await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.key.as_str()).collect::<Vec<_>>(), [other.key.as_str()]);
    table.delete_stream("' OR 1 = 1 --").await.unwrap();
    assert_eq!(table.count().await.unwrap(), 1);
}

#[tokio::test]
async fn a_reader_sees_what_a_writer_adds() {
    let folder = tempfile::tempdir().unwrap();
    let writer = table(folder.path()).await;
    writer.put(&rows(0..5)).await.unwrap();
    let reader = VectorTable::open(folder.path(), "model", DIMENSIONS).await.unwrap().unwrap();
    assert_eq!(reader.count().await.unwrap(), 5);
    writer.put(&rows(5..9)).await.unwrap();
    let started = std::time::Instant::now();
    while reader.count().await.unwrap() != 9 {
        assert!(started.elapsed().as_secs() < 10, "the reader never sees the new rows");
        tokio::task::yield_now().await;
    }
    assert!(VectorTable::open(folder.path(), "another model", DIMENSIONS).await.unwrap().is_none());
}

#[tokio::test]
async fn a_reader_outlives_that_the_table_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let writer = table(folder.path()).await;
    writer.put(&rows(0..5)).await.unwrap();
    let reader = VectorTable::open(folder.path(), "model", DIMENSIONS).await.unwrap().unwrap();
    std::fs::remove_dir_all(writer.folder()).unwrap();
    let again = table(folder.path()).await;
    again.put(&rows(100..103)).await.unwrap();
    let started = std::time::Instant::now();
    loop {
        let hits = reader.search(&unit(101, DIMENSIONS), &Filter::default(), 9).await.unwrap_or_default();
        if hits.len() == 3 {
            assert_eq!(hits[0].position, 101);
            break;
        }
        assert!(started.elapsed().as_secs() < 10, "the reader never sees the new table: {hits:?}");
    }
}

#[tokio::test]
async fn upkeep_joins_small_pieces_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(folder.path()).await;
    for part in 0..12 {
        table.put(&rows(part * 10..part * 10 + 10)).await.unwrap();
    }
    table.delete(&between(30, 34)).await.unwrap();
    let done = table.optimize().await.unwrap();
    assert_eq!(done.joined, 12);
    assert!(!done.indexed);
    assert_eq!(table.count().await.unwrap(), 115);
    let hits = table.search(&unit(77, DIMENSIONS), &Filter::default(), 200).await.unwrap();
    assert_eq!(hits.len(), 115);
    assert_eq!(hits[0].position, 77);
    assert_eq!(table.optimize().await.unwrap().joined, 0);
    assert!(table.size_bytes() > 115 * 4 * DIMENSIONS as u64);
}

#[tokio::test]
async fn an_index_finds_what_a_full_comparison_finds() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(folder.path()).await;
    // Clusters, as gists have them: what is said about one thing is near to each other.
    let near = |number: u64| {
        let (centre, noise) = (unit(number % 40, DIMENSIONS), unit(number + 1000, DIMENSIONS));
        let mixed: Vec<f32> = centre.iter().zip(noise).map(|(centre, noise)| centre + 0.5 * noise).collect();
        let length = mixed.iter().map(|value| value * value).sum::<f32>().sqrt();
        mixed.into_iter().map(|value| value / length).collect::<Vec<_>>()
    };
    let all: Vec<VectorRow> =
        (0..3000).map(|number| row(&prompt("ev.t.p.session.s1", number, "text"), near(number))).collect();
    table.put(&all).await.unwrap();
    let questions: Vec<Vec<f32>> = (0..20).map(|number| near(number * 7 + 10_000)).collect();
    let mut exact = Vec::new();
    for question in &questions {
        exact.push(table.search(question, &Filter::default(), 10).await.unwrap());
    }
    assert!(!table.index(3000, 3001).await.unwrap());
    assert!(table.index(3000, 3000).await.unwrap());
    assert!(!table.index(3000, 3000).await.unwrap(), "it is there");
    table.put(&[row(&prompt("ev.t.p.session.s1", 9999, "new"), near(777_777))]).await.unwrap();
    let mut found = 0;
    for (question, exact) in questions.iter().zip(&exact) {
        let hits = table.search(question, &Filter::default(), 10).await.unwrap();
        let keys: HashSet<&str> = hits.iter().map(|hit| hit.key.as_str()).collect();
        found += exact.iter().filter(|hit| keys.contains(hit.key.as_str())).count();
    }
    assert!(found >= 190, "{found} of 200");
    let newest = table.search(&near(777_777), &Filter::default(), 1).await.unwrap();
    assert_eq!(newest[0].position, 9999, "rows outside the index are found, too");
    let filter = Filter { since_ms: Some(1_000 + 2_990), ..Filter::default() };
    let filtered = table.search(&questions[0], &filter, 100).await.unwrap();
    assert_eq!(filtered.len(), 11, "a filter is applied first, also with an index");
}

#[tokio::test]
async fn a_key_that_is_there_twice_is_found_once() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(folder.path()).await;
    let document: Document = prompt("ev.t.p.session.s1", 1, "text");
    table.put(&[row(&document, unit(1, DIMENSIONS)), row(&document, unit(2, DIMENSIONS))]).await.unwrap();
    assert_eq!(table.search(&unit(1, DIMENSIONS), &Filter::default(), 5).await.unwrap().len(), 1);
}
