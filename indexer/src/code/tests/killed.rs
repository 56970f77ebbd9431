//! `kill -9` at any moment, damage, and older versions: the next update makes it whole.

use super::{Place, assert_like_new, documents, update};
use crate::code::CodeIndex;
use crate::code::output::Batches;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Tells the process that is to be killed where to work.
const PLACE: &str = "RETRACE_TEST_KILLED_PLACE";
const FILES: usize = 40;

/// What runs in the process that is killed: it says each time something was read, and never ends by itself.
#[test]
fn the_one_that_is_killed() {
    let Some(dir) = std::env::var_os(PLACE).map(PathBuf::from) else {
        assert!(std::env::var_os(PLACE).is_none(), "only the test below starts it with a place");
        return;
    };
    // A commit every five files or so.
    let batches = Batches { every: Duration::from_secs(3_600), text_bytes: 60 };
    let index = CodeIndex::open(&dir.join("index"), &dir.join("workspace")).unwrap().with_batches(batches);
    let mut out = std::io::stderr();
    loop {
        let report = index.update(&mut |_| {
            out.write_all(b"#").unwrap();
            ControlFlow::Continue(())
        });
        assert!(report.is_ok(), "{report:?}");
        for file in 0..FILES {
            fs::write(dir.join(format!("workspace/f{file}.rs")), format!("fn g{file}() {{}}\n")).unwrap();
        }
    }
}

#[test]
fn killed_at_many_moments_it_is_whole_after_the_next_update() {
    for moment in [1_usize, 2, 7, 20, 39, 41, 44, 60, 90] {
        let place = Place::new();
        for file in 0..FILES {
            place.write(&format!("f{file}.rs"), format!("fn f{file}() {{}}\n"));
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                concat!(module_path!(), "::the_one_that_is_killed").split_once("::").unwrap().1,
            ])
            .env(PLACE, place.dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = vec![0; moment];
        child.stderr.take().unwrap().read_exact(&mut said).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(said, vec![b'#'; moment]);
        assert_like_after_update(&place);
    }
}

fn assert_like_after_update(place: &Place) {
    let index = place.index();
    let report = update(&index);
    assert_eq!(report.files as usize, FILES);
    assert_like_new(&index, &place.root());
}

#[test]
fn a_damaged_index_is_built_again() {
    let place = Place::new();
    for file in 0..20 {
        place.write(&format!("f{file}.rs"), format!("fn f{file}() {{}}\n"));
    }
    update(&place.index());
    let folder = place.index().keyword_folder();
    let files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut rebuilt = 0;
    for file in &files {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with('.') || !file.exists() {
            continue;
        }
        File::options().write(true).open(file).unwrap().set_len(3).unwrap();
        let index = place.index();
        rebuilt += u64::from(update(&index).indexed == 20);
        assert_like_new(&index, &place.root());
    }
    assert!(rebuilt >= 1, "of {files:?}");
}

#[test]
fn an_index_of_another_workspace_is_not_taken_for_ours() {
    let (one, other) = (Place::new(), Place::new());
    one.write("a.rs", "fn one() {}\n");
    other.write("a.rs", "fn other() {}\n");
    update(&one.index());
    let index = CodeIndex::open(&one.dir.path().join("index"), &other.root()).unwrap();
    update(&index);
    assert!(documents(&index)[0].text.contains("other"));
    assert_like_new(&index, &other.root());
}
