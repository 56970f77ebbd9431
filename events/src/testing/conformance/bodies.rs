//! Bodies: large payloads, odd kinds, blobs.

use super::Backend;
use super::following::take;
use crate::codec::{BINCODE_2, Decoded};
use crate::envelope::Event;
use crate::hash::Hash;
use crate::log::{LogError, Position, StreamFilter};
use crate::testing::{EventMaker, example_payloads, example_stream};

/// Payloads around every limit that a backend may have come back, whichever way they are read.
pub async fn large_payloads_come_back(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("large"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let mut events = Vec::new();
    for size_bytes in
        [0, 1, 256 * 1024 - 1, 256 * 1024, 900 * 1024, 1024 * 1024 - 500, 1024 * 1024, 3 * 1024 * 1024 + 7]
    {
        let event = maker.opaque("future.body", size_bytes);
        log.append(std::slice::from_ref(&event)).await.unwrap();
        log.append(std::slice::from_ref(&event)).await.unwrap();
        let head = backend.open().await.head(&stream).await.unwrap().unwrap();
        assert_eq!((head.hash, head.at), (event.hash().unwrap(), event.at), "{size_bytes} bytes");
        events.push(event);
    }
    assert_eq!(log.read(&stream, 0, 100).await.unwrap(), events);
    let all = log.read_all(Position(0), 100).await.unwrap();
    assert!(all.iter().map(|(_, event)| event).eq(&events));
    let mut tail = log.follow(StreamFilter::default(), Position(0)).await.unwrap();
    assert_eq!(take(&mut tail, events.len()).await, all);
    crate::verify::verify_stream(&*log, &stream).await.unwrap();
}

/// 20 MB in one event.
pub async fn a_very_large_payload_comes_back(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("very-large"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let event = maker.opaque("future.body", 20_000_000);
    log.append(std::slice::from_ref(&event)).await.unwrap();
    log.append(&[maker.prompt("behind it")]).await.unwrap();
    let read = backend.open().await.read(&stream, 0, 1).await.unwrap();
    assert_eq!(read[0].payload.len(), 20_000_001);
    assert_eq!(read[0].hash().unwrap(), event.hash().unwrap());
}

/// A batch is one thing, whatever the sizes in it.
pub async fn large_and_small_payloads_share_a_batch(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("mixed"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let sizes = [10, 2_000_000, 0, 300_000, 800_000, 800_001, 5];
    let batch: Vec<_> = sizes.iter().map(|size| maker.opaque("future.body", *size)).collect();
    log.append(&batch).await.unwrap();
    log.append(&batch).await.unwrap();
    assert_eq!(log.read(&stream, 0, 100).await.unwrap(), batch);
}

/// Kinds and schemas of a newer version are kept as they are, as are kinds nobody would choose.
pub async fn odd_kinds_and_newer_schemas_are_carried_along(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("odd"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    let longest = "k".repeat(crate::log::MAX_KIND_BYTES);
    let kinds =
        ["x", "späßchen.\u{1F980}", "with space", "a\r\nb: c", "nul\0", "'; DROP TABLE events; --", "a.*.>", &longest];
    let mut events: Vec<_> = kinds.iter().map(|kind| maker.raw(kind, 1, vec![BINCODE_2, 0xFF], None)).collect();
    events.push(maker.raw("turn.prompted", 999, b"from the future".to_vec(), None));
    events.push(maker.raw("turn.reimagined", 1, Vec::new(), None));
    log.append(&events).await.unwrap();
    let read = log.read(&stream, 0, 100).await.unwrap();
    assert_eq!(read, events);
    for envelope in read {
        assert_eq!(Event::decode(envelope).unwrap().payload, Decoded::Newer);
    }
    // Every kind of this version comes back understood.
    let known = example_stream("known");
    let mut maker = EventMaker::new(known.clone(), 2);
    let blob = log.blobs().put(b"the whole output").await.unwrap();
    assert_eq!(blob.size_bytes, 16);
    let payloads = example_payloads();
    let batch: Vec<_> = payloads.iter().map(|payload| maker.payload(payload, None)).collect();
    log.append(&batch).await.unwrap();
    let read = log.read(&known, 0, 100).await.unwrap();
    let decoded: Vec<_> = read.into_iter().map(|envelope| Event::decode(envelope).unwrap().payload).collect();
    assert!(decoded.iter().map(|payload| payload.known().unwrap()).eq(&payloads));
}

/// Blobs: stored once, read whole or in part, missing ones are said to be.
pub async fn blobs_are_stored_once_and_read_by_range(backend: &dyn Backend) {
    let log = backend.open().await;
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24).to_le_bytes()[0]).collect();
    let blob = log.blobs().put(&bytes).await.unwrap();
    assert_eq!((blob.hash, blob.size_bytes), (Hash::of(&bytes), 300_000));
    assert_eq!(log.blobs().put(&bytes).await.unwrap(), blob);
    let log = backend.open().await;
    let blobs = log.blobs();
    assert_eq!(blobs.size(blob.hash).await.unwrap(), Some(300_000));
    let ranges = [
        (0, u64::MAX),
        (0, 300_000),
        (0, 1),
        (299_999, 300_000),
        (131_000, 132_000),
        (1, 299_999),
        (299_990, 400_000),
        (5, 5),
    ];
    for (start, end) in ranges {
        let expected = &bytes[usize::try_from(start).unwrap()..usize::try_from(end.min(300_000)).unwrap()];
        assert_eq!(blobs.read(blob.hash, start..end).await.unwrap(), expected, "{start}..{end}");
    }
    assert!(blobs.read(blob.hash, 300_000..400_000).await.unwrap().is_empty());
    #[expect(clippy::reversed_empty_ranges, reason = "callers may ask for nonsense")]
    let reversed = blobs.read(blob.hash, 10..5).await.unwrap();
    assert!(reversed.is_empty());
    let empty = blobs.put(b"").await.unwrap();
    assert!(blobs.read(empty.hash, 0..u64::MAX).await.unwrap().is_empty());
    assert_eq!(blobs.size(empty.hash).await.unwrap(), Some(0));
    let missing = Hash::of(b"never stored");
    assert_eq!(blobs.size(missing).await.unwrap(), None);
    let error = blobs.read(missing, 0..10).await.unwrap_err();
    assert!(matches!(error, LogError::NoSuchBlob(hash) if hash == missing), "{error}");
}

/// Several megabytes, stored by two at the same time.
pub async fn large_blobs_are_stored(backend: &dyn Backend) {
    let (one, two) = (backend.open().await, backend.open().await);
    let bytes: Vec<u8> = (0..4_000_000_u32).map(|n| (n.wrapping_mul(40_503) >> 16).to_le_bytes()[0]).collect();
    let (first, second) = futures::join!(one.blobs().put(&bytes), two.blobs().put(&bytes));
    assert_eq!(first.unwrap(), second.unwrap());
    assert_eq!(one.blobs().read(Hash::of(&bytes), 0..u64::MAX).await.unwrap(), bytes);
    assert_eq!(two.blobs().read(Hash::of(&bytes), 3_999_990..u64::MAX).await.unwrap(), bytes[3_999_990..]);
}
