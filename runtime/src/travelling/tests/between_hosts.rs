//! Publishing and fetching.

use super::{Hosts, noise};
use crate::travelling::publishing::name_of;
use crate::travelling::{Published, ShareError, ensure, publish};
use retrace_events::log::SqliteLog;
use retrace_events::{EventLog, Timestamp};
use retrace_sandbox::snapshot::{SnapshotStore, TreeId};

#[tokio::test]
async fn another_host_gets_the_files_back_along_the_chain() {
    let hosts = Hosts::new();
    let chain = hosts.chain(5);
    let mut sizes = Vec::new();
    for logged in &chain {
        let published =
            publish(&hosts.log, &hosts.store("here"), &logged.tree, logged.previous.as_ref()).await.unwrap();
        let Published::Stored { bytes, is_increment } = published else { panic!("{published:?}") };
        assert_eq!(is_increment, logged.previous.is_some());
        sizes.push(bytes);
    }
    // What is new goes, and not all that there is: 40 KB a snapshot.
    assert!(sizes.iter().all(|size| (40_000..60_000).contains(size)), "{sizes:?}");
    let (there, last) = (hosts.store("there"), chain[4].tree);
    assert!(!there.has(&last).unwrap());
    assert_eq!(ensure(&hosts.log, &there, &chain[1].tree).await.unwrap(), 2);
    assert_eq!(ensure(&hosts.log, &there, &last).await.unwrap(), 3, "only what is missing");
    assert_eq!(ensure(&hosts.log, &there, &last).await.unwrap(), 0);
    for logged in &chain {
        assert_eq!(hosts.files("there", &logged.tree), hosts.files("here", &logged.tree));
    }
    assert_eq!(hosts.files("there", &last).len(), 5);
    // And it goes on from there: the other way round.
    std::fs::write(hosts.path("work").join("new"), noise(99, 10_000)).unwrap();
    let next = there.take(&hosts.path("work"), &Default::default(), None).unwrap().tree;
    publish(&hosts.log, &there, &next, Some(&last)).await.unwrap();
    assert_eq!(ensure(&hosts.log, &hosts.store("here"), &next).await.unwrap(), 1);
    assert_eq!(hosts.files("here", &next).len(), 6);
}

#[tokio::test]
async fn what_is_there_is_not_sent_again() {
    let hosts = Hosts::new();
    let tree = hosts.take("file", b"contents");
    let here = hosts.store("here");
    assert!(matches!(publish(&hosts.log, &here, &tree, None).await.unwrap(), Published::Stored { .. }));
    assert_eq!(publish(&hosts.log, &here, &tree, None).await.unwrap(), Published::Present);
    assert_eq!(publish(&hosts.log, &here, &tree, Some(&tree)).await.unwrap(), Published::Present);
}

#[tokio::test]
async fn a_log_of_this_machine_shares_nothing_and_needs_nothing() {
    let hosts = Hosts::new();
    let log = SqliteLog::open(&hosts.path("here")).unwrap();
    let tree = hosts.take("file", b"contents");
    assert_eq!(publish(&log, &hosts.store("here"), &tree, None).await.unwrap(), Published::NotShared);
    assert_eq!(ensure(&log, &hosts.store("here"), &tree).await.unwrap(), 0);
    let error = ensure(&log, &hosts.store("there"), &tree).await.unwrap_err();
    assert!(matches!(error, ShareError::Missing { log: None, .. }), "{error}");
    assert!(error.to_string().contains("is not on this host\nhint: "), "{error}");
}

#[tokio::test]
async fn where_the_one_before_is_not_there_all_of_it_goes() {
    let hosts = Hosts::new();
    let chain = hosts.chain(3);
    let here = hosts.store("here");
    // Never published.
    let published = publish(&hosts.log, &here, &chain[1].tree, chain[1].previous.as_ref()).await.unwrap();
    assert!(matches!(published, Published::Stored { is_increment: false, bytes } if bytes > 80_000), "{published:?}");
    // Published, and not known on this host: it came from another one whose store was cleaned.
    let fresh = SnapshotStore::open(&hosts.path("fresh")).unwrap();
    let mut stream = Vec::new();
    here.export(&[chain[2].tree], &[], &mut stream).unwrap();
    fresh.import(stream.as_slice()).unwrap();
    let published = publish(&hosts.log, &fresh, &chain[2].tree, Some(&chain[1].tree)).await.unwrap();
    assert!(matches!(published, Published::Stored { bytes, .. } if bytes > 120_000), "{published:?}");
    assert_eq!(ensure(&hosts.log, &hosts.store("there"), &chain[2].tree).await.unwrap(), 1);
    assert_eq!(hosts.files("there", &chain[2].tree).len(), 3);
}

#[tokio::test]
async fn what_is_nowhere_is_said_plainly() {
    let hosts = Hosts::new();
    let chain = hosts.chain(2);
    for logged in &chain {
        publish(&hosts.log, &hosts.store("here"), &logged.tree, logged.previous.as_ref()).await.unwrap();
    }
    let unknown: TreeId = "ab".repeat(32).parse().unwrap();
    let there = hosts.store("there");
    let error = ensure(&hosts.log, &there, &unknown).await.unwrap_err();
    assert!(matches!(&error, ShareError::Missing { tree, log: Some(_) } if *tree == unknown), "{error}");
    assert!(error.to_string().contains("nor beside the log at memory"), "{error}");
    // A link of the chain is gone: it is named, and nothing was taken in.
    let objects = hosts.log.objects().unwrap();
    assert!(objects.remove_object(&name_of(&chain[0].tree), Timestamp(u64::MAX)).await.unwrap());
    let error = ensure(&hosts.log, &there, &chain[1].tree).await.unwrap_err();
    assert!(matches!(&error, ShareError::Missing { tree, .. } if *tree == chain[0].tree), "{error}");
    assert!(!there.has(&chain[1].tree).unwrap());
    // Whoever has it can put it there again.
    publish(&hosts.log, &hosts.store("here"), &chain[0].tree, None).await.unwrap();
    ensure(&hosts.log, &there, &chain[1].tree).await.unwrap();
    assert_eq!(hosts.files("there", &chain[1].tree).len(), 2);
}
