//! A guest that is not ours: whatever it sends, callers get an error and the host stays well.

use async_trait::async_trait;
use proptest::prelude::*;
use retrace_guest::PROTOCOL_VERSION;
use retrace_guest::frame::{read_frame, write_frame};
use retrace_guest::message::{Envelope, ExecEnd, Failure, FailureKind, HEARTBEAT_ID};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::heartbeat::{MAX_SILENT_TICKS, TICK};
use super::*;
use crate::backend::Counters;
use crate::call::Call;
use crate::limits::LimitHit;
use crate::proof::Proof;

/// A guest that ends when it is killed or its stdout is dropped.
struct FakeLifeline;

#[async_trait]
impl Lifeline for FakeLifeline {
    async fn wait(&mut self) -> String {
        "the fake ended".to_owned()
    }

    fn kill(&mut self) {}

    async fn clean_up(&mut self) {}
}

#[derive(Default)]
struct FakeMeter(AtomicU64);

impl Meter for FakeMeter {
    fn read(&self) -> Counters {
        Counters { memory_kills: self.0.load(Ordering::Relaxed), pids_refused: 0 }
    }

    fn proofs(&self) -> Vec<Proof> {
        Vec::new()
    }
}

/// The guest's ends of the pipes.
struct Fake {
    stdin: DuplexStream,
    stdout: DuplexStream,
    meter: Arc<FakeMeter>,
}

impl Fake {
    async fn send(&mut self, id: u64, message: &Response, body: &[u8]) {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &Envelope { id, message }, body).unwrap();
        self.stdout.write_all(&bytes).await.unwrap();
    }

    async fn receive(&mut self) -> Envelope<Request> {
        let frame = frames::read(&mut self.stdin).await.unwrap().unwrap();
        frame.message().unwrap()
    }
}

fn hello(protocol: u32) -> Response {
    Response::Hello(Hello { protocol, guest_version: "0".into(), kernel: "0".into(), uid: 1000, pid: 1 })
}

async fn connected(first: Vec<u8>) -> (Result<Arc<Link>, SandboxError>, Fake) {
    let (stdin, guest_stdin) = tokio::io::duplex(1 << 20);
    let (guest_stdout, stdout) = tokio::io::duplex(1 << 20);
    let meter = Arc::new(FakeMeter::default());
    let mut fake = Fake { stdin: guest_stdin, stdout: guest_stdout, meter: Arc::clone(&meter) };
    fake.stdout.write_all(&first).await.unwrap();
    let keeper = Keeper { lifeline: Box::new(FakeLifeline), meter };
    let stderr: &[u8] = b"last words\n";
    let explain = |stderr: &str, detail| SandboxError::Handshake { detail: format!("{detail}; {}", stderr.trim()) };
    let result = connect(Box::new(stdin), Box::new(stdout), Box::new(stderr), keeper, explain).await;
    (result.map(|connected| connected.link), fake)
}

async fn link() -> (Arc<Link>, Fake) {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, &Envelope { id: 0, message: hello(PROTOCOL_VERSION) }, &[]).unwrap();
    let (link, fake) = connected(bytes).await;
    (link.unwrap(), fake)
}

fn gone(error: &SandboxError) -> &GoneReport {
    match error {
        SandboxError::GuestGone(report) => report,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn another_protocol_is_refused_with_the_last_words() {
    let mut other = Vec::new();
    write_frame(&mut other, &Envelope { id: 0, message: hello(PROTOCOL_VERSION + 1) }, &[]).unwrap();
    let mut not_hello = Vec::new();
    write_frame(&mut not_hello, &Envelope { id: 0, message: Response::Pong }, &[]).unwrap();
    for (first, expected) in [(other, "speaks protocol"), (not_hello, "not hello"), (vec![0xff; 64], "over the limit")]
    {
        let (result, _fake) = connected(first).await;
        let error = result.unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("last words"), "{error}");
    }
}

#[tokio::test]
async fn answers_go_to_their_calls() {
    let (link, mut fake) = link().await;
    let mut one = Call::start(&link, &Request::Ping).await.unwrap();
    let mut two = Call::start(&link, &Request::Ping).await.unwrap();
    let (first, second) = (fake.receive().await.id, fake.receive().await.id);
    assert_ne!(first, second);
    let failure = Failure::new(FailureKind::Busy, "busy");
    fake.send(second, &Response::Failed(failure.clone()), &[]).await;
    fake.send(first, &Response::Data, b"body").await;
    assert_eq!(one.next().await.unwrap(), (Response::Data, Bytes::from("body")));
    assert!(matches!(two.next().await.unwrap_err(), SandboxError::Guest(found) if found == failure));
}

#[tokio::test]
async fn answers_to_nobody_are_dropped() {
    let (link, mut fake) = link().await;
    fake.send(4711, &Response::Pong, &vec![0; 1 << 19]).await;
    let mut call = Call::start(&link, &Request::Ping).await.unwrap();
    let id = fake.receive().await.id;
    fake.send(id, &Response::Pong, &[]).await;
    assert_eq!(call.next().await.unwrap().0, Response::Pong);
}

#[tokio::test]
async fn a_guest_that_sends_more_than_it_may_is_cut_off() {
    let (link, mut fake) = link().await;
    let mut call = Call::start_with(&link, &Request::Ping, 1000).await.unwrap();
    let id = fake.receive().await.id;
    fake.send(id, &Response::Stdout, &[0; 500]).await;
    fake.send(id, &Response::Stdout, &[0; 500]).await;
    assert_eq!(call.next().await.unwrap().1.len(), 500);
    let error = call.next().await.unwrap_err();
    assert!(gone(&error).detail.contains("more than it was allowed"), "{error}");
    assert!(link.register(1).is_err());
}

#[tokio::test]
async fn granted_budget_can_be_used() {
    let (link, mut fake) = link().await;
    let mut call = Call::start_with(&link, &Request::Ping, 1000).await.unwrap();
    let id = fake.receive().await.id;
    fake.send(id, &Response::Stdout, &[0; 700]).await;
    call.next().await.unwrap();
    call.grant(4000);
    assert_eq!(fake.receive().await.message, Request::Credit { bytes: 4000 });
    fake.send(id, &Response::Stderr, &[1; 1700]).await;
    assert_eq!(call.next().await.unwrap(), (Response::Stderr, Bytes::from(vec![1; 1700])));
    fake.send(id, &Response::Exited(ExecEnd::default()), &[]).await;
    assert!(matches!(call.next().await.unwrap().0, Response::Exited(_)));
}

#[tokio::test]
async fn the_end_of_the_guest_is_told_to_all_with_its_reason() {
    let (link, fake) = link().await;
    let mut calls = Vec::new();
    for _ in 0..3 {
        calls.push(Call::start(&link, &Request::Ping).await.unwrap());
    }
    fake.meter.0.store(1, Ordering::Relaxed);
    drop(fake);
    for mut call in calls {
        let error = call.next().await.unwrap_err();
        let report = gone(&error);
        assert_eq!((report.detail.as_str(), report.limit), ("the fake ended", Some(LimitHit::Memory)));
        assert_eq!(report.stderr_tail, "last words");
        assert!(error.to_string().contains("limit hit: memory"), "{error}");
    }
    link.closed().await;
}

#[tokio::test]
async fn kills_that_a_result_has_told_are_not_the_guests_end() {
    let (link, fake) = link().await;
    let mut call = Call::start(&link, &Request::Ping).await.unwrap();
    fake.meter.0.store(2, Ordering::Relaxed);
    link.tell(fake.meter.read());
    drop(fake);
    assert_eq!(gone(&call.next().await.unwrap_err()).limit, None);
}

#[tokio::test]
async fn a_dropped_call_is_killed_and_forgotten() {
    let (link, mut fake) = link().await;
    let call = Call::start(&link, &Request::Ping).await.unwrap();
    let id = fake.receive().await.id;
    drop(call);
    assert_eq!(fake.receive().await, Envelope { id, message: Request::Kill });
    assert!(link.shared.lock().pending.is_empty());
    // A finished one is not.
    let mut call = Call::start(&link, &Request::Ping).await.unwrap();
    let id = fake.receive().await.id;
    fake.send(id, &Response::Pong, &[]).await;
    call.next().await.unwrap();
    drop(call);
    drop(link);
    let mut rest = Vec::new();
    fake.stdin.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn data_is_split_into_frames_and_the_last_is_marked() {
    let (link, mut fake) = link().await;
    let call = Call::start(&link, &Request::Ping).await.unwrap();
    fake.receive().await;
    let data: Vec<u8> = (0..2_500_000u32).map(|n| n as u8).collect();
    let line = call.line();
    let sending = line.send_data(data.clone().into(), true);
    let receiving = async {
        let mut received = Vec::new();
        loop {
            let frame = frames::read(&mut fake.stdin).await.unwrap().unwrap();
            received.extend_from_slice(&frame.body);
            if frame.message::<Envelope<Request>>().unwrap().message == (Request::Data { last: true }) {
                return received;
            }
        }
    };
    let (sent, received) = tokio::join!(sending, receiving);
    sent.unwrap();
    assert!(received == data);
}

#[tokio::test(start_paused = true)]
async fn a_guest_that_does_not_end_when_it_should_is_not_waited_for_for_ever() {
    let (link, fake) = link().await;
    let shared = Arc::clone(&link.shared);
    drop(link);
    // The fake keeps its stdout open and says nothing.
    let mut cleaned_up = shared.cleaned_up.subscribe();
    cleaned_up.wait_for(|done| *done).await.unwrap();
    assert!(shared.lock().gone.as_ref().unwrap().detail.contains("did not end by itself"));
    drop(fake);
}

#[tokio::test(start_paused = true)]
async fn an_idle_link_is_kept_alive_by_pings_and_their_answers() {
    let (link, mut fake) = link().await;
    let begun = tokio::time::Instant::now();
    for _ in 0..100 {
        assert_eq!(fake.receive().await, Envelope { id: HEARTBEAT_ID, message: Request::Ping });
        fake.send(HEARTBEAT_ID, &Response::Pong, &[]).await;
    }
    // Every other tick needs none, since the answer to the last ping has just come.
    assert!(begun.elapsed() <= 2 * TICK * 100, "{:?}", begun.elapsed());
    assert_eq!(link.gone_now(), None);
}

#[tokio::test(start_paused = true)]
async fn a_guest_that_no_longer_answers_is_given_up_within_a_bound() {
    let (link, mut fake) = link().await;
    let mut call = Call::start(&link, &Request::Ping).await.unwrap();
    // It said something once, and then froze.
    fake.send(4711, &Response::Pong, &[]).await;
    let begun = tokio::time::Instant::now();
    let error = call.next().await.unwrap_err();
    assert!(gone(&error).detail.contains("has not answered for 60 s"), "{error}");
    assert!(begun.elapsed() <= TICK * (MAX_SILENT_TICKS + 2), "{:?}", begun.elapsed());
    link.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_busy_anyway_sends_no_pings() {
    let (link, mut fake) = link().await;
    for _ in 0..20 {
        let mut call = Call::start(&link, &Request::Ping).await.unwrap();
        let Envelope { id, .. } = fake.receive().await;
        assert_ne!(id, HEARTBEAT_ID);
        fake.send(id, &Response::Pong, &[]).await;
        call.next().await.unwrap();
        tokio::time::sleep(TICK / 2).await;
    }
}

proptest! {
    /// The asynchronous reader agrees with the blocking one on any bytes, split anywhere.
    #[test]
    fn both_readers_agree(noise in prop::collection::vec(any::<u8>(), 0..200), lengths in any::<bool>(), step in 1usize..64) {
        // Half of the cases have sensible lengths, so that whole frames occur.
        let mut bytes = noise;
        if lengths && bytes.len() >= 8 {
            bytes[..8].copy_from_slice(&[0, 0, 0, 5, 0, 0, 0, 9]);
        }
        let blocking = read_frame(&mut &bytes[..]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let asynchronous = runtime.block_on(async {
            let (mut writer, mut reader) = tokio::io::duplex(step);
            let writing = async move { let _ = writer.write_all(&bytes).await; };
            // Drops its end when it is done, or the writer would wait for ever.
            let reading = async move { frames::read(&mut reader).await };
            tokio::join!(writing, reading).1
        });
        prop_assert_eq!(format!("{blocking:?}"), format!("{asynchronous:?}"));
    }
}
