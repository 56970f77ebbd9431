//! What the fuzzing of both ends and the tests of its corpus have in common: bytes in, and nothing may go wrong.
//!
//! Compiled only for tests and for fuzzing. No command is ever run here: what a fuzzer invents must not be.
#![allow(clippy::expect_used, reason = "no part of the product")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::fuzz_stream::stream;
use super::{Guest, dispatch};
use crate::exec::Launcher;
use crate::files::Root;
use crate::frame::{read_frame, write_frame};
use crate::mailbox::{Intake, Mailbox};
use crate::message::{Envelope, Request, Response};

/// How long requests may take to end when they should.
const END_TIME: Duration = Duration::from_secs(30);
/// Frames are read without harm, and what is a message is the same after it was written and read again.
pub fn frames(input: &[u8]) {
    let stream = stream(input);
    let mut rest = &stream[..];
    while let Ok(Some(frame)) = read_frame(&mut rest) {
        if let Ok(message) = frame.message::<Envelope<Request>>() {
            assert_eq!(again(&message, &frame.body), message);
        }
        if let Ok(message) = frame.message::<Envelope<Response>>() {
            assert_eq!(again(&message, &frame.body), message);
        }
    }
}

fn again<M: serde::Serialize + serde::de::DeserializeOwned>(message: &M, body: &[u8]) -> M {
    let mut written = Vec::new();
    // Text may grow when it is escaped; then it no longer fits and is refused, which is well too.
    if write_frame(&mut written, message, body).is_err() {
        return serde_json::from_value(serde_json::to_value(message).expect("a value")).expect("the same");
    }
    let frame = read_frame(&mut &written[..]).expect("a frame").expect("one frame");
    assert_eq!(frame.body, body);
    frame.message().expect("a message")
}

/// The guest takes requests from a stream: all of them end, whatever they are. Files are those below `root`.
pub fn requests(root: &Path, input: &[u8]) {
    let (Ok(root), Ok(null)) = (Root::open(root), File::options().write(true).open("/dev/null")) else { return };
    let guest = Arc::new(Guest::new(root, null, Launcher::new([-1, -1])));
    let stream = stream(input);
    let mut rest = &stream[..];
    let mut commands = Vec::new();
    while let Ok(Some(frame)) = read_frame(&mut rest) {
        let Ok(Envelope { id, message }) = frame.message::<Envelope<Request>>() else { break };
        match message {
            Request::Shutdown => break,
            Request::Exec(_) => {
                let Ok(mailbox) = Mailbox::new(Intake::Stdin).map(Arc::new) else { break };
                if guest.registry.add(id, &mailbox).is_ok() {
                    commands.push((id, mailbox));
                }
            }
            other => {
                if dispatch::dispatch(&guest, id, other, frame.body).is_err() {
                    break;
                }
            }
        }
    }
    for (id, mailbox) in commands {
        mailbox.settle();
        while mailbox.try_next().is_some() {}
        let _ = (mailbox.take_size(), mailbox.take_grant(), mailbox.exhausted(), mailbox.killed());
        guest.registry.remove(id);
        guest.registry.answered();
    }
    guest.registry.kill_all();
    let ending = Instant::now();
    guest.registry.wait_until_answered(END_TIME);
    assert!(ending.elapsed() < END_TIME, "a request does not end");
}

#[cfg(test)]
#[path = "fuzzing_tests.rs"]
mod fuzzing_tests;
