//! For fuzzing, and for the test of its corpus: a guest that sends anything at all. Compiled for nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use retrace_guest::PROTOCOL_VERSION;
use retrace_guest::frame::write_frame;
use retrace_guest::message::{Envelope, Hello, Request, Response};

use super::{Connected, Keeper, connect};
use crate::backend::{Counters, Lifeline, Meter};
use crate::call::Call;
use crate::error::SandboxError;
use crate::proof::Proof;

#[path = "../../guest/src/server/fuzz_stream.rs"]
mod fuzz_stream;

/// Calls that wait for answers; their ids are 1, 2, ….
const CALLS: usize = 4;
/// What each may be answered with.
const BUDGET_BYTES: u64 = 4096;

struct NoLifeline;

#[async_trait]
impl Lifeline for NoLifeline {
    async fn wait(&mut self) -> String {
        "it ended".to_owned()
    }

    fn kill(&mut self) {}

    async fn clean_up(&mut self) {}
}

struct NoMeter;

impl Meter for NoMeter {
    fn read(&self) -> Counters {
        Counters::default()
    }

    fn proofs(&self) -> Vec<Proof> {
        Vec::new()
    }
}

/// The host reads from the guest: every call ends, and none gets more than it allowed. With an even first byte a proper
/// hello comes before the rest.
pub fn host_link(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else { return };
    let mut stream = Vec::new();
    if choice % 2 == 0 {
        let hello = Response::Hello(Hello {
            protocol: PROTOCOL_VERSION,
            guest_version: "0".to_owned(),
            kernel: "0".to_owned(),
            uid: 1000,
            pid: 1,
        });
        let _ = write_frame(&mut stream, &Envelope { id: 0, message: hello }, &[]);
    }
    stream.extend(fuzz_stream::stream(rest));
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return };
    runtime.block_on(read_all(stream));
}

async fn read_all(stream: Vec<u8>) {
    let keeper = Keeper { lifeline: Box::new(NoLifeline), meter: Arc::new(NoMeter) };
    let explain = |_: &str, detail| SandboxError::Handshake { detail };
    let stdout = Box::new(std::io::Cursor::new(stream));
    let connected = connect(Box::new(tokio::io::sink()), stdout, Box::new(tokio::io::empty()), keeper, explain).await;
    let Ok(Connected { link, .. }) = connected else { return };
    let mut calls = Vec::new();
    for _ in 0..CALLS {
        calls.extend(Call::start_with(&link, &Request::Ping, BUDGET_BYTES).await);
    }
    for mut call in calls {
        let mut received_bytes = 0;
        while let Ok((response, body)) = call.next().await {
            received_bytes += body.len() as u64;
            assert!(received_bytes <= BUDGET_BYTES, "more than was allowed");
            if response.is_final() {
                break;
            }
        }
    }
    link.closed().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_of_answers_is_harmless() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/host_link");
        let inputs: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
        assert!(inputs.len() >= 20, "{}", inputs.len());
        inputs.iter().for_each(|input| host_link(input));
    }
}
