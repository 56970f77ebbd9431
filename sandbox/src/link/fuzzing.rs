//! For fuzzing, and for the test of its corpus: a guest that sends anything at all. Compiled for nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use retrace_guest::PROTOCOL_VERSION;
use retrace_guest::frame::write_frame;
use retrace_guest::message::{Envelope, Hello, Request, Response};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Connected, Keeper, Link, connect};
use crate::backend::{Lifeline, NoMeter};
use crate::call::Call;
use crate::error::SandboxError;
use crate::network::ForwardedStream;

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
    let answers = async {
        for call in calls {
            take_all(call).await;
        }
    };
    // Their ids follow.
    tokio::join!(answers, echo(&link), echo(&link));
    link.closed().await;
}

async fn take_all(mut call: Call) {
    let mut received_bytes = 0;
    while let Ok((response, body)) = call.next().await {
        received_bytes += body.len() as u64;
        assert!(received_bytes <= BUDGET_BYTES, "more than was allowed");
        if response.is_final() {
            break;
        }
    }
}

/// Sends back whatever comes on a connection; it ends when the guest does at the latest.
async fn echo(link: &Arc<Link>) {
    let Ok((mut stream, origin)) = ForwardedStream::accept(link).await else { return };
    assert!(origin.is_none_or(|origin| !origin.contains(char::is_control)), "a name with control characters");
    let mut buffer = [0; 1000];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(buffer.get(..count).unwrap_or_default()).await.is_err() {
            return;
        }
    }
    // Refused when it did not end in good order.
    let _ = stream.shutdown().await;
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
