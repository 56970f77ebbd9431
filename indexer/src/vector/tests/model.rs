//! The model: what is near and what is not, and what happens when its files, or the library that runs it, are not what they
//! should be.

use super::world::{embedder, model_folder};
use crate::vector::onnx_runtime::{check, find};
use crate::vector::{EmbedError, Embedder, EmbedderOptions, ModelChoice};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const FILES: [&str; 5] =
    ["model.onnx", "tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// A folder with links to the model's files, in which one can be replaced.
fn copy_of_model() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        std::os::unix::fs::symlink(model_folder().join(file), folder.path().join(file)).unwrap();
    }
    folder
}

fn options() -> EmbedderOptions {
    EmbedderOptions { library_folders: vec![model_folder()], ..EmbedderOptions::default() }
}

fn refused(folder: &Path) -> EmbedError {
    let error = Embedder::open(&ModelChoice::Folder(folder.to_path_buf()), &options()).unwrap_err();
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    error
}

#[test]
fn what_means_the_same_is_near_and_what_does_not_is_far() {
    let embedder = embedder();
    let texts: Vec<String> = [
        "the test fails with connection refused",
        "cannot reach the server, tests are red",
        "rename the column of the users table",
        "ein Hund schläft",
    ]
    .map(str::to_owned)
    .into();
    let vectors = embedder.embed(&texts).unwrap();
    assert_eq!(embedder.dimensions(), 384);
    for vector in &vectors {
        assert_eq!(vector.len(), 384);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-4);
    }
    assert!(cosine(&vectors[0], &vectors[1]) > 0.45, "{}", cosine(&vectors[0], &vectors[1]));
    assert!(cosine(&vectors[0], &vectors[2]) < 0.25, "{}", cosine(&vectors[0], &vectors[2]));
    let question = embedder.query("why can the tests not connect?").unwrap();
    assert!(cosine(&question, &vectors[0]) > cosine(&question, &vectors[3]) + 0.2);
}

#[test]
fn vectors_come_in_the_order_of_the_texts_whatever_their_lengths() {
    let embedder = embedder();
    let texts: Vec<String> =
        (0..40).map(|index| format!("{} number {index}", "word ".repeat(index * 7 % 23))).collect();
    let together = embedder.embed(&texts).unwrap();
    for index in [0, 1, 17, 39] {
        let alone = embedder.query(&texts[index]).unwrap();
        // An int8 model rounds by what else is in the batch.
        assert!(cosine(&alone, &together[index]) > 0.98, "{index}: {}", cosine(&alone, &together[index]));
    }
    assert!(embedder.embed(&[]).unwrap().is_empty());
}

#[test]
fn any_text_gets_a_vector() {
    let texts = ["", " ", "\0\u{1}\u{7f}", "\u{202e}\u{feff}", "🦀🦀🦀", "[CLS] [SEP] [PAD] [MASK]"].map(str::to_owned);
    let huge = ["a".repeat(1 << 20), "é ".repeat(1 << 20)];
    for text in texts.iter().chain(&huge) {
        let vector = embedder().query(text).unwrap();
        assert!(vector.iter().all(|value| value.is_finite()), "{:?}", text.get(..20));
    }
}

#[test]
fn a_question_goes_ahead_of_the_background() {
    let embedder = embedder();
    let texts: Vec<String> = (0..160).map(|index| format!("text number {index} of the background")).collect();
    let is_done = Arc::new(AtomicBool::new(false));
    let background = std::thread::spawn({
        let (embedder, is_done) = (Arc::clone(&embedder), Arc::clone(&is_done));
        move || {
            embedder.embed(&texts).unwrap();
            is_done.store(true, Ordering::SeqCst);
        }
    });
    let mut answered = 0;
    while !is_done.load(Ordering::SeqCst) {
        embedder.query("a question").unwrap();
        answered += usize::from(!is_done.load(Ordering::SeqCst));
    }
    background.join().unwrap();
    assert!(answered >= 5, "{answered} questions were answered while 10 batches ran");
}

#[test]
fn its_name_is_that_of_its_files() {
    let folder = copy_of_model();
    let open = || Embedder::open(&ModelChoice::Folder(folder.path().to_path_buf()), &options()).unwrap().unwrap();
    assert_eq!(open().id(), embedder().id());
    let config = std::fs::read_to_string(model_folder().join("config.json")).unwrap();
    std::fs::remove_file(folder.path().join("config.json")).unwrap();
    std::fs::write(folder.path().join("config.json"), config + "\n").unwrap();
    assert_ne!(open().id(), embedder().id());
}

#[test]
fn no_model_is_no_error() {
    assert!(Embedder::open(&ModelChoice::None, &EmbedderOptions::default()).unwrap().is_none());
}

#[test]
fn each_missing_file_is_named() {
    for file in FILES {
        let folder = copy_of_model();
        std::fs::remove_file(folder.path().join(file)).unwrap();
        let error = refused(folder.path());
        assert!(matches!(error, EmbedError::Unreadable { .. }) && error.to_string().contains(file), "{error}");
    }
    let error = refused(Path::new("/nowhere/at/all"));
    assert!(error.to_string().contains("hint: RETRACE_EMBED_MODEL"), "{error}");
}

#[test]
fn each_damaged_file_is_an_error() {
    for file in FILES {
        let whole = std::fs::read(model_folder().join(file)).unwrap();
        let half = whole.len() / 2;
        for damaged in [&[] as &[u8], b"\0\xff\xfe rubbish", &whole[..half]] {
            let folder = copy_of_model();
            std::fs::remove_file(folder.path().join(file)).unwrap();
            std::fs::write(folder.path().join(file), damaged).unwrap();
            let error = refused(folder.path());
            assert!(matches!(error, EmbedError::Damaged { .. } | EmbedError::Load { .. }), "{file}: {error:?}");
        }
    }
}

#[test]
fn files_that_are_well_formed_and_make_no_sense_are_errors() {
    for (file, text) in [
        ("tokenizer.json", r#"{"version":"1.0","model":{"type":"Nonsense"}}"#),
        ("tokenizer.json", "[]"),
        ("tokenizer_config.json", r#"{"model_max_length":"many"}"#),
        ("tokenizer_config.json", r#"{"model_max_length":512}"#),
    ] {
        let folder = copy_of_model();
        std::fs::remove_file(folder.path().join(file)).unwrap();
        std::fs::write(folder.path().join(file), text).unwrap();
        assert!(matches!(refused(folder.path()), EmbedError::Load { .. }), "{file} {text}");
    }
    let folder = copy_of_model();
    std::fs::remove_file(folder.path().join("model.onnx")).unwrap();
    std::fs::create_dir(folder.path().join("model.onnx")).unwrap();
    assert!(matches!(refused(folder.path()), EmbedError::Damaged { .. } | EmbedError::Unreadable { .. }));
}

#[test]
fn a_name_that_no_model_has_is_an_error() {
    let choice = ModelChoice::Download("NoSuch\u{1b}[31mModel".to_owned());
    let error = Embedder::open(&choice, &options()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no embedding model 'NoSuch[31mModel'; hint: give a folder, or a name such as AllMiniLML6V2Q"
    );
}

#[test]
fn a_library_is_looked_at_before_it_is_loaded() {
    let whole = std::fs::read(model_folder().join("libonnxruntime.so")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libonnxruntime.so");
    assert!(check(&path).is_err());
    let mut other_machine = whole.clone();
    other_machine[18] = 40;
    let mut many_headers = whole.clone();
    many_headers[56..58].copy_from_slice(&[0xff, 0xff]);
    let mut far_headers = whole.clone();
    far_headers[32..40].copy_from_slice(&[0xff; 8]);
    let program = std::fs::read("/bin/sh").unwrap();
    let cut = |length: usize| whole[..length].to_vec();
    for (bytes, reason) in [
        (Vec::new(), "not a shared library"),
        (b"not a library at all".to_vec(), "not a shared library"),
        (program[..63].to_vec(), "not a shared library"),
        (cut(64), "cut short"),
        (cut(4096), "cut short"),
        (cut(whole.len() / 2), "cut short"),
        (cut(whole.len() - 1), "cut short"),
        (other_machine, "another kind of machine"),
        (many_headers, "damaged"),
        (far_headers, "cut short"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let error = check(&path).unwrap_err().to_string();
        assert!(error.contains(reason), "{error} is not {reason}");
    }
    std::fs::write(&path, &whole).unwrap();
    check(&path).unwrap();
}

#[test]
fn a_named_library_is_taken_and_otherwise_the_first_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    std::fs::create_dir_all(&one).unwrap();
    std::fs::create_dir_all(&two).unwrap();
    std::fs::write(two.join("libonnxruntime.so"), "x").unwrap();
    let folders = [one, two.clone()];
    assert_eq!(find(None, &folders), Some(two.join("libonnxruntime.so")));
    let named = Path::new("/else/where.so");
    assert_eq!(find(Some(named), &folders), Some(named.to_path_buf()));
}

#[test]
fn a_setting_says_which_model() {
    let of = |setting| ModelChoice::from_setting(Some(setting));
    for none in ["", "  ", "none", "None", "OFF"] {
        assert_eq!(of(none), ModelChoice::None);
    }
    assert_eq!(ModelChoice::from_setting(None), ModelChoice::None);
    assert_eq!(of("/models/minilm"), ModelChoice::Folder(PathBuf::from("/models/minilm")));
    assert_eq!(of("./minilm"), ModelChoice::Folder(PathBuf::from("./minilm")));
    assert_eq!(of(".."), ModelChoice::Folder(PathBuf::from("..")));
    assert_eq!(of("~/minilm"), ModelChoice::Folder(std::env::home_dir().unwrap().join("minilm")));
    assert_eq!(of(" AllMiniLML6V2Q "), ModelChoice::Download("AllMiniLML6V2Q".to_owned()));
}

/// What opening the model says in a process that has not loaded a library yet: `library` is what `ORT_DYLIB_PATH` names.
fn opened_with(test: &str, library: &Path) -> String {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env(LIBRARY_OF_CHILD, library);
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}: {output:?}", library.display());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.split_once("OPENED ")).unwrap_or_else(|| panic!("{text}")).1.to_owned()
}

const LIBRARY_OF_CHILD: &str = "RETRACE_TEST_RUNTIME_LIBRARY";

#[test]
fn a_library_that_cannot_be_used_is_an_error_and_not_the_end() {
    if let Some(library) = std::env::var_os(LIBRARY_OF_CHILD) {
        let options = EmbedderOptions { runtime_library: Some(PathBuf::from(library)), ..EmbedderOptions::default() };
        let opened = Embedder::open(&ModelChoice::Folder(model_folder()), &options);
        let said = opened
            .map_or_else(|error| error.to_string(), |model| format!("{} dimensions", model.unwrap().dimensions()));
        writeln!(std::io::stdout(), "\nOPENED {said}").unwrap();
        return;
    }
    let this = std::thread::current().name().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let half = folder.path().join("half.so");
    let whole = std::fs::read(model_folder().join("libonnxruntime.so")).unwrap();
    std::fs::write(&half, &whole[..whole.len() / 2]).unwrap();
    // A whole one that is no library: the test's own program.
    let program = std::env::current_exe().unwrap();
    for (library, reason) in [
        (folder.path().join("missing.so"), "No such file"),
        (text, "not a shared library"),
        (half, "it is cut short"),
        (program, "failed to load"),
    ] {
        let said = opened_with(&this, &library);
        assert!(said.starts_with("the ONNX runtime ") && said.contains(reason), "{said}");
    }
    let right = opened_with(&this, &model_folder().join("libonnxruntime.so"));
    assert_eq!(right, "384 dimensions");
}
