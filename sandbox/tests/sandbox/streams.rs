//! What goes through comes out bit for bit, in both directions and at once. Streams that are cut and put together again
//! wrongly are the known trouble of container engines, so bytes are compared and not only counted.

use std::process::Command;

use retrace_sandbox::{Chunk, ExecOutput, ExecRequest, Running, Sandbox};

use crate::support::{Place, run, slowly};

const SIZE: usize = 20 * 1024 * 1024;
/// More than the sandbox's default.
const ROOM: u64 = 64 * 1024 * 1024;

/// Random bytes that are the same for the same seed (xorshift, as in Marsaglia's paper).
fn noise(mut seed: u64, size_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_bytes + 8);
    while bytes.len() < size_bytes {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        bytes.extend(seed.to_le_bytes());
    }
    bytes.truncate(size_bytes);
    bytes
}

/// As told by a program that shares no code with ours.
fn sha256(place: &Place, bytes: &[u8]) -> String {
    let file = place.guest_dir().join("to-hash");
    std::fs::write(&file, bytes).unwrap();
    let output = Command::new("sha256sum").arg(&file).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

fn assert_same(what: &str, found: &[u8], expected: &[u8]) {
    let first = found.iter().zip(expected).position(|(a, b)| a != b);
    assert!(found == expected, "{what}: {} of {} bytes, the first wrong one: {first:?}", found.len(), expected.len());
}

fn large(script: &str) -> ExecRequest {
    ExecRequest { max_output_bytes: Some(ROOM), timeout_ms: Some(slowly(600_000)), ..ExecRequest::shell(script) }
}

async fn hash_inside(sandbox: &Sandbox, file: &str) -> String {
    let output = run(sandbox, ExecRequest::argv(["sha256sum", file])).await;
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

#[tokio::test]
async fn random_bytes_on_both_streams_at_once() {
    let place = Place::new();
    let (one, two) = (noise(1, SIZE), noise(2, SIZE));
    place.file("one", &one);
    place.file("two", &two);
    let sandbox = place.start().await;
    let ExecOutput { stdout, stderr, result } = run(&sandbox, large("cat one & cat two >&2 & wait")).await;
    assert_eq!((result.code, &result.limits_hit[..]), (Some(0), &[][..]));
    assert_same("stdout", &stdout, &one);
    assert_same("stderr", &stderr, &two);
    assert_eq!((result.stdout_bytes, result.stderr_bytes), (SIZE as u64, SIZE as u64));
    for (file, bytes) in [("one", &stdout), ("two", &stderr)] {
        assert_eq!(hash_inside(&sandbox, file).await, sha256(&place, bytes));
    }
    sandbox.shutdown().await;
}

#[tokio::test]
async fn random_bytes_of_several_commands_at_once_do_not_mix() {
    let place = Place::new();
    let size = SIZE / 4;
    for n in 0..8 {
        place.file(&format!("noise-{n}"), noise(10 + n, size));
    }
    let sandbox = place.start().await;
    let outputs = futures::future::join_all((0..8).map(|n| {
        let sandbox = sandbox.clone();
        async move { run(&sandbox, large(&format!("cat noise-{n}; cat noise-{n} >&2"))).await }
    }))
    .await;
    for (n, output) in outputs.iter().enumerate() {
        let expected = noise(10 + n as u64, size);
        assert_same("stdout", &output.stdout, &expected);
        assert_same("stderr", &output.stderr, &expected);
    }
    sandbox.shutdown().await;
}

#[tokio::test]
async fn listings_of_many_megabytes() {
    let place = Place::new();
    for n in 0..200 {
        place.file(&format!("dir/a file with a name of some length {n:06}.txt"), vec![b'x'; n]);
    }
    let sandbox = place.start().await;
    // Many small writes, as `ls` itself makes them; kept in a file too, to compare with.
    let script = format!(
        "size=0; while [ $size -lt {SIZE} ]; do ls -la dir /usr/bin; size=$(stat -c %s all); done | tee all; \
         exit ${{PIPESTATUS[0]}}"
    );
    let output = run(&sandbox, large(&format!(": > all; {script}"))).await;
    assert_eq!((output.result.code, output.stderr.len()), (Some(0), 0), "{:?}", output.result);
    assert!(output.stdout.len() >= SIZE, "{}", output.stdout.len());
    assert_same("listing", &output.stdout, &std::fs::read(place.workspace().join("all")).unwrap());
    assert_eq!(hash_inside(&sandbox, "all").await, sha256(&place, &output.stdout));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn all_the_stdin_there_may_be_comes_back() {
    let place = Place::new();
    let sandbox = place.start().await;
    let sent = noise(3, 16 * 1024 * 1024);
    let request = ExecRequest { stdin: Some(sent.clone().into()), ..large("tee copy") };
    let output = run(&sandbox, request).await;
    assert_same("stdout", &output.stdout, &sent);
    assert_eq!(hash_inside(&sandbox, "copy").await, sha256(&place, &sent));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn stdin_that_comes_in_pieces_while_output_goes() {
    let place = Place::new();
    let sandbox = place.start().await;
    let sent = noise(4, 6 * 1024 * 1024);
    let mut running = sandbox.exec(ExecRequest { open_stdin: true, ..large("cat") }).await.unwrap();
    let input = running.input();
    let feeding = async {
        for part in sent.chunks(9_973) {
            input.send(part.to_vec()).await.unwrap();
        }
        input.close().await.unwrap();
    };
    let ((), received) = tokio::join!(feeding, all_stdout(&mut running));
    assert_same("stdout", &received, &sent);
    assert_eq!(running.wait().await.unwrap().code, Some(0));
    sandbox.shutdown().await;
}

async fn all_stdout(running: &mut Running) -> Vec<u8> {
    let mut received = Vec::new();
    while let Some(chunk) = running.next().await {
        match chunk {
            Chunk::Stdout(bytes) => received.extend_from_slice(&bytes),
            Chunk::Stderr(bytes) => panic!("on stderr: {bytes:?}"),
        }
    }
    received
}

#[tokio::test]
async fn files_of_many_megabytes_go_both_ways() {
    let place = Place::new();
    let sandbox = place.start().await;
    let contents = noise(5, SIZE);
    let writing = sandbox.write("large", contents.clone(), None);
    let (written, ping) = tokio::join!(writing, sandbox.ping());
    ping.unwrap();
    assert_eq!(written.unwrap().written_bytes, SIZE as u64);
    assert_eq!(hash_inside(&sandbox, "large").await, sha256(&place, &contents));
    assert_same("file", &sandbox.read("large", 0, u64::MAX).await.unwrap().bytes, &contents);
    sandbox.shutdown().await;
}
