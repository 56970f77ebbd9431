//! Damaged, half-written and foreign folders: an error of the right kind, never a panic, never a wrong answer that looks right.

use super::{MEMORY, document, found, index_of, open, query, writer};
use crate::document::Document;
use crate::keyword::{KeywordError, KeywordIndex, KeywordWriter};
use crate::query::Filter;
use std::fs;
use std::path::{Path, PathBuf};

fn index() -> tempfile::TempDir {
    let documents: Vec<Document> = (0..300).map(|n| document(n, &format!("word{} some text of it", n % 17))).collect();
    let (folder, index) = index_of(&documents);
    let mut writer = writer(folder.path());
    (0..50).for_each(|n| writer.delete_key(&documents[n].key));
    writer.put_record("cursor", b"x").unwrap();
    writer.commit("note").unwrap();
    writer.wait_merges().unwrap();
    drop(index);
    folder
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| !path.file_name().unwrap().to_str().unwrap().starts_with('.')).collect();
    files.sort();
    files
}

fn copy_of(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    files(folder).iter().for_each(|file| {
        fs::copy(file, copy.path().join(file.file_name().unwrap())).unwrap();
    });
    copy
}

/// Everything that can be asked; `Ok` if all of it is answered.
fn ask_everything(folder: &Path) -> Result<u64, KeywordError> {
    let Some(index) = KeywordIndex::open(folder)? else { return Ok(0) };
    for text in ["word3 text", "\"some text\"", "text -word1", "", "since:1970-01-01 path:x"] {
        let hits = index.search(&query(text), &Filter::default(), 500)?;
        index.documents(&hits.into_iter().map(|hit| hit.address).collect::<Vec<_>>())?;
    }
    index.search_names(&query("a"), &Filter::default(), 5)?;
    index.documents_of("ev.t.p.session.one")?;
    index.documents_between(0..=u64::MAX, &[])?;
    index.by_key(&document(99, "").key)?;
    index.record("cursor")?;
    index.records("")?;
    index.broken_files()?;
    index.count()
}

fn must_be_rebuilt(error: &KeywordError) -> bool {
    error.needs_rebuild() && error.to_string().contains("hint:") && !error.to_string().contains('\n')
}

#[test]
fn a_sound_index_answers() {
    assert_eq!(ask_everything(index().path()).unwrap(), 250);
}

#[test]
fn each_missing_file_is_noticed() {
    let sound = index();
    let all = files(sound.path());
    assert!(all.len() >= 7, "{all:?}");
    for file in all {
        let copy = copy_of(sound.path());
        fs::remove_file(copy.path().join(file.file_name().unwrap())).unwrap();
        let error = KeywordIndex::open(copy.path()).expect_err(file.to_str().unwrap());
        assert!(must_be_rebuilt(&error), "{file:?}: {error}");
        let writing = KeywordWriter::open_or_create(copy.path(), MEMORY, 1).map(drop).unwrap_err();
        assert!(must_be_rebuilt(&writing), "{file:?}: {writing}");
    }
}

#[test]
fn each_truncated_file_is_noticed() {
    let sound = index();
    for file in files(sound.path()) {
        let size = fs::metadata(&file).unwrap().len();
        for left in [0, 1, 7, size / 3, size / 2, size - 2] {
            let copy = copy_of(sound.path());
            let cut = fs::File::options().write(true).open(copy.path().join(file.file_name().unwrap())).unwrap();
            cut.set_len(left).unwrap();
            let error = KeywordIndex::open(copy.path()).map(drop).expect_err(file.to_str().unwrap());
            assert!(must_be_rebuilt(&error), "{file:?} cut to {left}: {error}");
        }
    }
}

#[test]
fn other_content_never_panics_and_is_found_by_its_checksum() {
    let sound = index();
    for file in files(sound.path()).iter().filter(|file| file.extension().unwrap() != "json") {
        let bytes = fs::read(file).unwrap();
        for seed in 0..8_usize {
            let copy = copy_of(sound.path());
            let mut broken = bytes.clone();
            // Everything but the footer, which is told apart already when the file is opened.
            let body = broken.len() - 120.min(broken.len() / 2);
            for step in 0..=seed {
                let at = (seed * 7919 + step * 104_729) % body;
                broken[at] ^= 0xA5;
            }
            fs::write(copy.path().join(file.file_name().unwrap()), broken).unwrap();
            match ask_everything(copy.path()) {
                Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
                Ok(_) => {
                    let broken = open(copy.path()).broken_files().unwrap();
                    assert_eq!(broken, [file.file_name().unwrap().to_str().unwrap()]);
                }
            }
        }
    }
}

#[test]
fn another_version_is_told_apart_from_damage() {
    let sound = index();
    let meta = fs::read_to_string(sound.path().join("meta.json")).unwrap();
    let versions = [
        meta.replace("\"1\\nnote\"", "\"0\\nnote\""),
        meta.replace("\"1\\nnote\"", "\"something else\""),
        meta.replace("retrace_words_1", "retrace_words_0"),
        meta.replace("\"payload\"", "\"pay_load\""),
    ];
    for version in versions {
        assert_ne!(version, meta);
        let copy = copy_of(sound.path());
        fs::write(copy.path().join("meta.json"), version).unwrap();
        let error = KeywordIndex::open(copy.path()).map(drop).unwrap_err();
        assert!(matches!(error, KeywordError::OtherVersion { .. }) && must_be_rebuilt(&error), "{error}");
        let writing = KeywordWriter::open_or_create(copy.path(), MEMORY, 1).map(drop).unwrap_err();
        assert!(matches!(writing, KeywordError::OtherVersion { .. }), "{writing}");
    }
}

#[test]
fn nonsense_in_the_list_is_damage() {
    let sound = index();
    for content in ["", "{", "null", "[]", "{}", "\u{0}\u{0}", "{\"segments\": 7}"] {
        let copy = copy_of(sound.path());
        fs::write(copy.path().join("meta.json"), content).unwrap();
        let error = KeywordIndex::open(copy.path()).map(drop).unwrap_err();
        assert!(must_be_rebuilt(&error) && error.to_string().len() < 600, "{content:?}: {error}");
    }
    let copy = copy_of(sound.path());
    fs::write(copy.path().join("meta.json"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(must_be_rebuilt(&KeywordIndex::open(copy.path()).map(drop).unwrap_err()));
}

#[test]
fn a_folder_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = KeywordIndex::open(&file).map(drop).unwrap_err();
    assert!(matches!(error, KeywordError::Io { .. }), "{error}");
    assert!(matches!(KeywordWriter::open_or_create(&file, MEMORY, 1).map(drop), Err(KeywordError::Io { .. })));
}

/// While it is open, an index whose folder is emptied and built again goes on answering, and then sees the new one.
#[test]
fn an_index_that_is_built_again_under_its_readers() {
    let folder = index();
    let reader = open(folder.path());
    files(folder.path()).iter().for_each(|file| fs::remove_file(file).unwrap());
    assert!(reader.reload().is_err_and(|error| must_be_rebuilt(&error)));
    assert_eq!(found(&reader, "word3").len(), 15);
    fs::remove_file(folder.path().join(".managed.json")).unwrap();
    let mut writer = writer(folder.path());
    writer.put(&document(7, "word3 anew")).unwrap();
    writer.commit("again").unwrap();
    reader.reload().unwrap();
    assert_eq!((found(&reader, "word3"), reader.note().as_str()), (vec![7], "again"));
}
