//! Named objects, where a log has them.

use super::Backend;
use crate::id::Timestamp;
use crate::mint::{Mint, SystemMint};

/// What was put comes back, elsewhere too, is described and listed, replaced and removed. Blobs are not among them.
pub async fn objects_come_back_by_name(backend: &dyn Backend) {
    let (log, other) = (backend.open().await, backend.open().await);
    let (Some(here), Some(there)) = (log.objects(), other.objects()) else { return };
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    log.blobs().put(b"a blob").await.unwrap();
    here.put_object("s-1", "first", &mut &large[..], large.len() as u64).await.unwrap();
    here.put_object("s-2", "", &mut &b"small"[..], 5).await.unwrap();
    here.put_object("t-1", "empty", &mut &b""[..], 0).await.unwrap();
    let mut bytes = Vec::new();
    let about = there.get_object("s-1", &mut bytes).await.unwrap().unwrap();
    assert!(bytes == large);
    assert_eq!((about.name.as_str(), about.note.as_str(), about.size_bytes), ("s-1", "first", 3_000_000));
    assert_eq!(there.object("s-1").await.unwrap(), Some(about));
    assert_eq!(there.get_object("s-3", &mut Vec::new()).await.unwrap(), None);
    assert_eq!(there.object("s-3").await.unwrap(), None);
    let names = async |prefix: &str| {
        let mut names: Vec<String> =
            there.list_objects(prefix).await.unwrap().into_iter().map(|object| object.name).collect();
        names.sort();
        names
    };
    assert_eq!(names("s-").await, ["s-1", "s-2"]);
    assert_eq!(names("").await, ["s-1", "s-2", "t-1"]);
    assert_eq!(log.blobs().list().await.unwrap().len(), 1);
    there.put_object("s-2", "newer", &mut &b"other bytes"[..], 11).await.unwrap();
    let mut bytes = Vec::new();
    assert_eq!(here.get_object("s-2", &mut bytes).await.unwrap().unwrap().note, "newer");
    assert_eq!(bytes, b"other bytes");
    assert!(!here.remove_object("s-2", Timestamp(1)).await.unwrap(), "it was put later");
    assert!(here.remove_object("s-2", Timestamp(SystemMint.now().0 + 1_000)).await.unwrap());
    assert!(!there.remove_object("s-2", Timestamp(u64::MAX)).await.unwrap());
    assert_eq!(names("").await, ["s-1", "t-1"]);
    assert_eq!(there.get_object("s-2", &mut Vec::new()).await.unwrap(), None);
}

/// A source that ends too early leaves nothing.
pub async fn an_object_appears_whole_or_not_at_all(backend: &dyn Backend) {
    let log = backend.open().await;
    let Some(objects) = log.objects() else { return };
    assert!(objects.put_object("short", "", &mut &b"12345"[..], 6).await.is_err());
    assert_eq!(objects.object("short").await.unwrap(), None);
    // One that has more is cut where it was said to end.
    objects.put_object("long", "", &mut &b"12345"[..], 4).await.unwrap();
    let mut bytes = Vec::new();
    objects.get_object("long", &mut bytes).await.unwrap();
    assert_eq!(bytes, b"1234");
}
