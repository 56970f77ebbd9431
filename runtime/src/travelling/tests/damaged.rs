//! What lies beside a log was put there by anybody: it is taken in when it is what its name says, or not at all.

use super::Hosts;
use crate::travelling::publishing::name_of;
use crate::travelling::{ShareError, ensure, publish};
use retrace_events::EventLog;
use retrace_sandbox::snapshot::TreeId;

/// Puts these bytes in the place of a snapshot.
async fn put(hosts: &Hosts, tree: &TreeId, note: &str, bytes: &[u8]) {
    let objects = hosts.log.objects().unwrap();
    objects.put_object(&name_of(tree), note, &mut &*bytes, bytes.len() as u64).await.unwrap();
}

async fn refused(hosts: &Hosts, tree: &TreeId) -> String {
    let there = hosts.store("there");
    let error = ensure(&hosts.log, &there, tree).await.unwrap_err();
    assert!(matches!(error, ShareError::Damaged { .. }), "{error}");
    assert!(!there.has(tree).unwrap());
    let text = error.to_string();
    let (line, hint) = text.split_once('\n').unwrap();
    assert!(hint.starts_with("hint: ") && line.contains("damaged") && line.contains("memory"), "{text}");
    line.to_owned()
}

#[tokio::test]
async fn any_changed_or_missing_byte_is_found() {
    let hosts = Hosts::new();
    let tree = hosts.chain(1)[0].tree;
    publish(&hosts.log, &hosts.store("here"), &tree, None).await.unwrap();
    let mut sound = Vec::new();
    hosts.log.objects().unwrap().get_object(&name_of(&tree), &mut sound).await.unwrap();
    for at in (0..sound.len()).step_by(sound.len() / 40) {
        let mut changed = sound.clone();
        changed[at] ^= 0x10;
        put(&hosts, &tree, "", &changed).await;
        refused(&hosts, &tree).await;
        put(&hosts, &tree, "", &sound[..at]).await;
        refused(&hosts, &tree).await;
    }
    put(&hosts, &tree, "", b"not a stream at all").await;
    refused(&hosts, &tree).await;
    // After all of that the sound one is taken in.
    put(&hosts, &tree, "", &sound).await;
    assert_eq!(ensure(&hosts.log, &hosts.store("there"), &tree).await.unwrap(), 1);
    assert_eq!(hosts.files("there", &tree), hosts.files("here", &tree));
}

#[tokio::test]
async fn another_snapshot_under_its_name_is_not_taken_for_it() {
    let hosts = Hosts::new();
    let (one, two) = (hosts.take("file", b"one"), hosts.take("file", b"two"));
    let mut stream = Vec::new();
    hosts.store("here").export(&[two], &[], &mut stream).unwrap();
    put(&hosts, &one, "", &stream).await;
    assert!(refused(&hosts, &one).await.contains("another snapshot"));
}

#[tokio::test]
async fn chains_without_an_end_end() {
    let hosts = Hosts::new();
    let chain = hosts.chain(3);
    let (a, b, c) = (chain[0].tree, chain[1].tree, chain[2].tree);
    put(&hosts, &a, &b.to_string(), b"x").await;
    put(&hosts, &b, &c.to_string(), b"x").await;
    put(&hosts, &c, &a.to_string(), b"x").await;
    assert!(refused(&hosts, &a).await.contains("builds upon itself"));
    put(&hosts, &c, "../../etc/passwd", b"x").await;
    assert!(refused(&hosts, &a).await.contains("is no snapshot"));
}

#[tokio::test]
async fn an_increment_on_nothing_is_refused() {
    let hosts = Hosts::new();
    let chain = hosts.chain(2);
    let mut stream = Vec::new();
    hosts.store("here").export(&[chain[1].tree], &[chain[0].tree], &mut stream).unwrap();
    put(&hosts, &chain[1].tree, "", &stream).await;
    assert!(refused(&hosts, &chain[1].tree).await.contains("lacks"));
}

#[tokio::test]
async fn what_is_not_here_any_more_is_not_published() {
    let hosts = Hosts::new();
    let chain = hosts.chain(2);
    let here = hosts.store("here");
    publish(&hosts.log, &here, &chain[0].tree, None).await.unwrap();
    // The store was removed, and is made again without what it held.
    std::fs::remove_dir_all(here.dir()).unwrap();
    let error = publish(&hosts.log, &hosts.store("here"), &chain[1].tree, chain[1].previous.as_ref()).await;
    assert!(matches!(error, Err(ShareError::Store(_))), "{error:?}");
    assert_eq!(hosts.log.objects().unwrap().object(&name_of(&chain[1].tree)).await.unwrap(), None);
}
