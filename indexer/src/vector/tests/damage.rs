//! A folder that is not what was written: noticed, made again, and never the end of the process.

use super::filling::{ignore, keys, worker};
use super::world::{Sessions, embedder, prompt, unit};
use crate::document::Document;
use crate::query::Filter;
use crate::vector::{SessionSource, VectorError, VectorTable};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const STREAM: &str = "ev.t.p.session.s1";

fn source() -> (Arc<dyn SessionSource>, Vec<String>) {
    let documents: Vec<Document> =
        (0..12).map(|number| prompt(STREAM, number, &format!("prompt number {number}"))).collect();
    let mut keys: Vec<String> = documents.iter().map(|document| document.key.clone()).collect();
    keys.sort();
    (Sessions::of(documents), keys)
}

/// All files beneath a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

async fn filled() -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (source, keys) = source();
    let mut worker = worker(folder.path()).await;
    // Two batches, so that there are several files.
    worker.fill_sessions(&source, 5, &mut ignore()).await.unwrap();
    worker.fill_sessions(&source, 20, &mut ignore()).await.unwrap();
    (folder, keys)
}

#[tokio::test]
async fn any_file_missing_cut_or_overwritten_is_noticed_or_harmless() {
    let (folder, expected) = filled().await;
    let all = files(folder.path());
    assert!(all.len() >= 6, "{all:?}");
    let mut rebuilt = 0;
    for path in all.iter().filter(|path| !path.ends_with("worker.lock")) {
        let whole = std::fs::read(path).unwrap();
        for damage in ["missing", "empty", "half", "rubbish"] {
            let (folder, _) = filled().await;
            // The names of data files are random: take the one in the same place.
            let same_place = files(folder.path())[all.iter().position(|other| other == path).unwrap()].clone();
            match damage {
                "missing" => std::fs::remove_file(&same_place).unwrap(),
                "empty" => std::fs::write(&same_place, "").unwrap(),
                "half" => std::fs::write(&same_place, &whole[..whole.len() / 2]).unwrap(),
                _ => std::fs::write(&same_place, b"\xff rubbish \0".repeat(whole.len() / 11 + 1)).unwrap(),
            }
            let mut worker = worker(folder.path()).await;
            let filling = worker.fill_sessions(&source().0, 20, &mut ignore()).await;
            let filling = filling.unwrap_or_else(|error| panic!("{damage} {}: {error}", same_place.display()));
            rebuilt += u32::from(filling.vectors == 12);
            assert_eq!(keys(worker.table()).await, expected, "{damage} {}", same_place.display());
        }
    }
    assert!(rebuilt >= 8, "only {rebuilt} damages were noticed");
}

#[tokio::test]
async fn a_reader_gets_an_error_in_one_line() {
    let (folder, _) = filled().await;
    for path in files(folder.path()) {
        if path.extension().is_some_and(|extension| extension == "lance" || extension == "manifest") {
            std::fs::write(&path, "rubbish").unwrap();
        }
    }
    let error = VectorTable::open(folder.path(), embedder().id(), 384).await.unwrap_err();
    assert!(error.is_damage(), "{error:?}");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    assert!(error.to_string().contains("they are made again"), "{error}");
}

#[tokio::test]
async fn data_that_goes_while_a_table_is_open_is_an_error_of_the_search() {
    let (folder, _) = filled().await;
    let table = VectorTable::open(folder.path(), embedder().id(), 384).await.unwrap().unwrap();
    for path in files(folder.path()) {
        if path.extension().is_some_and(|extension| extension == "lance") {
            std::fs::remove_file(&path).unwrap();
        }
    }
    let error = table.search(&unit(1, 384), &Filter::default(), 5).await.unwrap_err();
    assert!(error.is_damage(), "{error:?}");
}

#[tokio::test]
async fn a_table_that_lost_its_newest_versions_is_made_again() {
    let (folder, expected) = filled().await;
    let manifests: Vec<PathBuf> =
        files(folder.path()).into_iter().filter(|path| path.extension().is_some_and(|end| end == "manifest")).collect();
    // The newest is the first by name: names count down.
    std::fs::remove_file(manifests.first().unwrap()).unwrap();
    let mut worker = worker(folder.path()).await;
    worker.fill_sessions(&source().0, 20, &mut ignore()).await.unwrap();
    assert_eq!(keys(worker.table()).await, expected);
}

#[tokio::test]
async fn a_table_with_other_columns_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    VectorTable::create(folder.path(), embedder().id(), 8).await.unwrap();
    let error = VectorTable::open(folder.path(), embedder().id(), 384).await.unwrap_err();
    assert!(matches!(&error, VectorError::Damaged { reason, .. } if reason.contains("columns")), "{error:?}");
    assert_eq!(keys(worker(folder.path()).await.table()).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_file_in_the_place_of_the_table_is_made_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let (source, expected) = source();
    let place = worker(folder.path()).await.table().folder().to_path_buf();
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("gists.lance"), "a file").unwrap();
    let mut worker = worker(folder.path()).await;
    worker.fill_sessions(&source, 20, &mut ignore()).await.unwrap();
    assert_eq!(keys(worker.table()).await, expected);
}

#[tokio::test]
async fn what_a_killed_removal_left_is_removed() {
    let (folder, expected) = filled().await;
    let table = worker(folder.path()).await.table().folder().to_path_buf();
    // Killed after the damaged table was put aside, and before it was gone.
    let aside = table.with_extension("gone");
    std::fs::create_dir_all(aside.join("gists.lance/data")).unwrap();
    std::fs::write(table.join("journal.json"), "damaged once more").unwrap();
    let mut worker = worker(folder.path()).await;
    worker.fill_sessions(&source().0, 20, &mut ignore()).await.unwrap();
    assert_eq!(keys(worker.table()).await, expected);
    assert!(!aside.exists());
}

#[tokio::test]
async fn a_table_that_is_damaged_while_it_is_filled_is_made_again() {
    let (folder, expected) = filled().await;
    let mut worker = worker(folder.path()).await;
    for path in files(folder.path()) {
        if path.extension().is_some_and(|extension| extension == "manifest") {
            std::fs::remove_file(&path).unwrap();
        }
    }
    let mut documents: Vec<Document> =
        (0..12).map(|number| prompt(STREAM, number, &format!("prompt number {number}"))).collect();
    documents.push(prompt(STREAM, 30, "one more"));
    worker.fill_sessions(&Sessions::of(documents), 40, &mut ignore()).await.unwrap();
    assert_eq!(keys(worker.table()).await.len(), expected.len() + 1);
}
