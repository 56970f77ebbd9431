//! The in-memory log: the suite, its strictness, and the faults it can be told to have.

use async_trait::async_trait;
use retrace_events::log::{Durability, EventLog, Fault, LogError, MemoryLog};
use retrace_events::payload::{tool, turn};
use retrace_events::testing::{Backend, EventMaker, example_stream};
use retrace_events::{BlobRef, CallId, Hash, StreamId, Timestamp};
use std::sync::Arc;

struct Memory(MemoryLog);

#[async_trait]
impl Backend for Memory {
    async fn open(&self) -> Arc<dyn EventLog> {
        Arc::new(self.0.clone())
    }

    async fn flip_byte(&self, stream: &StreamId, seq: u64) {
        self.0.flip_byte(stream, seq);
    }

    async fn remove_event(&self, stream: &StreamId, seq: u64) {
        self.0.remove_event(stream, seq);
    }
}

retrace_events::conformance_suite!(Memory(MemoryLog::new()));

#[tokio::test]
async fn a_lost_ack_is_stored_and_the_repetition_succeeds() {
    let (log, mut maker) = (MemoryLog::new(), EventMaker::new(example_stream("ack"), 1));
    let batch = maker.prompts(2);
    log.fail_next(Fault::LoseAck);
    let error = log.append(&batch).await.unwrap_err();
    assert!(matches!(error, LogError::Unavailable { .. }), "{error}");
    assert_eq!(log.head(&example_stream("ack")).await.unwrap().unwrap().seq, 1);
    log.append(&batch).await.unwrap();
    assert_eq!(log.read(&example_stream("ack"), 0, 10).await.unwrap(), batch);
}

#[tokio::test]
async fn faults_come_in_the_order_they_were_asked_for() {
    let (log, mut maker) = (MemoryLog::new(), EventMaker::new(example_stream("faults"), 1));
    let batch = maker.prompts(1);
    log.fail_next(Fault::NotStored);
    log.fail_next(Fault::Full);
    assert!(matches!(log.append(&batch).await, Err(LogError::Unavailable { .. })));
    assert!(matches!(log.append(&batch).await, Err(LogError::Full { .. })));
    assert_eq!(log.head(&example_stream("faults")).await.unwrap(), None);
    log.append(&batch).await.unwrap();
    assert_eq!(log.durability(), Durability::Volatile);
}

#[tokio::test]
async fn it_refuses_what_a_correct_writer_never_does() {
    let (log, stream) = (MemoryLog::new(), example_stream("strict"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let mut backwards = maker.prompts(1);
    log.append(&backwards).await.unwrap();
    backwards = maker.prompts(1);
    backwards[0].at = Timestamp(1);
    let error = log.append(&backwards).await.unwrap_err();
    assert!(error.to_string().contains("time goes backwards"), "{error}");

    let last = (0, log.head(&stream).await.unwrap().unwrap().hash);
    let nonsense = EventMaker::behind(stream.clone(), 2, last).raw("turn.prompted", 1, vec![1, 0xFF, 0xFF], None);
    assert!(matches!(log.append(&[nonsense]).await, Err(LogError::Codec(_))));

    let missing = BlobRef { hash: Hash::of(b"nowhere"), size_bytes: 7 };
    let finished = tool::ToolFinished {
        call: CallId("toolu_1".to_owned()),
        is_error: false,
        content: String::new(),
        exit: None,
        output: Some(missing),
        changed: Vec::new(),
        duration_ms: 1,
    };
    let naming = EventMaker::behind(stream.clone(), 3, last).payload(&finished.into(), None);
    let error = log.append(std::slice::from_ref(&naming)).await.unwrap_err();
    assert!(matches!(error, LogError::NoSuchBlob(hash) if hash == missing.hash), "{error}");
    log.blobs().put(b"nowhere").await.unwrap();
    log.append(&[naming]).await.unwrap();
}

#[tokio::test]
async fn a_blob_of_another_size_is_not_the_one_that_was_named() {
    let (log, stream) = (MemoryLog::new(), example_stream("size"));
    let blob = log.blobs().put(b"twelve bytes").await.unwrap();
    let attachment = |size_bytes| turn::Attachment {
        name: "a".to_owned(),
        media_type: "text/plain".to_owned(),
        blob: BlobRef { hash: blob.hash, size_bytes },
    };
    let prompt = |size_bytes| turn::TurnPrompted {
        text: String::new(),
        source: turn::PromptSource::Local,
        attachments: vec![attachment(size_bytes)],
    };
    let wrong = EventMaker::new(stream.clone(), 1).payload(&prompt(13).into(), None);
    assert!(matches!(log.append(&[wrong]).await, Err(LogError::NoSuchBlob(_))));
    let right = EventMaker::new(stream, 1).payload(&prompt(12).into(), None);
    log.append(&[right]).await.unwrap();
}
