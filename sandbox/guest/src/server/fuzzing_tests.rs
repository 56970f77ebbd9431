//! What fuzzing has found interesting goes through the parsers again.

use std::path::PathBuf;

use super::*;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let inputs: Vec<Vec<u8>> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(inputs.len() >= 20, "{} holds {} files", dir.display(), inputs.len());
    inputs
}

#[test]
fn the_corpus_of_frames_is_harmless() {
    corpus("frame").iter().for_each(|input| frames(input));
}

#[test]
fn the_corpus_of_requests_is_harmless() {
    for input in corpus("guest_requests") {
        let root = tempfile::tempdir().unwrap();
        requests(root.path(), &input);
    }
}

#[test]
fn a_list_is_a_stream_of_whole_frames() {
    let stream = stream(b"L{\"a\":1}\n{}\x1fbody");
    let mut rest = &stream[..];
    let first = read_frame(&mut rest).unwrap().unwrap();
    let second = read_frame(&mut rest).unwrap().unwrap();
    assert_eq!((&first.header[..], &first.body[..]), (&b"{\"a\":1}"[..], &b""[..]));
    assert_eq!((&second.header[..], &second.body[..]), (&b"{}"[..], &b"body"[..]));
    assert!(rest.is_empty());
}
