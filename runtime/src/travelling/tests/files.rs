//! Snapshots as lines of a file.

use super::{Hosts, noise};
use crate::travelling::{IncomingSnapshots, LoggedTree, OutgoingSnapshots, ShareError};
use proptest::prelude::*;
use retrace_events::jsonl::{self, Line, SnapshotPiece};
use retrace_sandbox::snapshot::TreeId;

/// The pieces of an export of `trees`.
async fn pieces(hosts: &Hosts, trees: &[LoggedTree]) -> Vec<SnapshotPiece> {
    let outgoing = OutgoingSnapshots::gather(&hosts.path("here"), &hosts.log, trees).await.unwrap();
    assert_eq!(outgoing.problems, Vec::<String>::new());
    let mut pieces = Vec::new();
    let count = outgoing
        .lines(|line| {
            assert!(line.len() < 400_000 && !line.contains('\n'));
            let Line::Snapshots(piece) = jsonl::import_line(line).unwrap() else { panic!("{line}") };
            pieces.push(piece);
            Ok::<(), ShareError>(())
        })
        .unwrap();
    assert_eq!(count, pieces.len() as u64);
    pieces
}

/// Reads the pieces on the other host, checks them, and takes them in.
async fn taken_in(hosts: &Hosts, pieces: &[SnapshotPiece]) -> Result<Vec<TreeId>, String> {
    let folder = hosts.path("there");
    let mut incoming = IncomingSnapshots::default();
    for piece in pieces {
        incoming.take(piece, &folder).unwrap()?;
    }
    if incoming.is_cut() {
        return Err("cut".to_owned());
    }
    let checked = incoming.check(&folder).await.map_err(|error| error.to_string())?;
    assert!(
        std::fs::read_dir(&folder).unwrap().all(|entry| entry.unwrap().file_name() == "snapshots"),
        "nothing is left"
    );
    Ok(checked.store(hosts.store("there")).await.unwrap())
}

#[tokio::test]
async fn snapshots_travel_in_pieces_and_what_they_share_goes_once() {
    let hosts = Hosts::new();
    hosts.take("large", &noise(7, 1_500_000));
    let chain = hosts.chain(4);
    let sent = pieces(&hosts, &chain).await;
    let bytes: usize = sent.iter().map(|piece| piece.bytes.len()).sum();
    assert!(sent.len() > 5 && bytes < 1_900_000, "{} pieces, {bytes} bytes", sent.len());
    assert!(
        sent.iter().enumerate().all(|(n, piece)| piece.number == n as u64 && piece.is_last == (n + 1 == sent.len()))
    );
    let trees: Vec<TreeId> = chain.iter().map(|logged| logged.tree).collect();
    assert_eq!(taken_in(&hosts, &sent).await.unwrap(), trees);
    for tree in &trees {
        assert_eq!(hosts.files("there", tree), hosts.files("here", tree));
    }
    assert_eq!(pieces(&hosts, &chain).await, sent, "the same again");
}

#[tokio::test]
async fn files_may_stand_one_behind_the_other() {
    let hosts = Hosts::new();
    let chain = hosts.chain(2);
    let both = [pieces(&hosts, &chain[..1]).await, pieces(&hosts, &chain[1..]).await].concat();
    assert_eq!(taken_in(&hosts, &both).await.unwrap(), [chain[0].tree, chain[1].tree]);
}

#[tokio::test]
async fn what_is_not_here_is_left_out_and_told() {
    let hosts = Hosts::new();
    let unknown = LoggedTree { tree: "ab".repeat(32).parse().unwrap(), previous: None };
    let known = hosts.chain(1);
    let trees = [unknown, known[0]];
    let outgoing = OutgoingSnapshots::gather(&hosts.path("here"), &hosts.log, &trees).await.unwrap();
    assert_eq!(outgoing.problems.len(), 1);
    assert!(outgoing.problems[0].contains(&unknown.tree.to_string()), "{:?}", outgoing.problems);
    let nothing = OutgoingSnapshots::gather(&hosts.path("here"), &hosts.log, &trees[..1]).await.unwrap();
    assert_eq!(nothing.lines(|_| Ok::<(), ShareError>(())).unwrap(), 0);
}

#[tokio::test]
async fn pieces_out_of_order_are_refused() {
    let hosts = Hosts::new();
    hosts.take("large", &noise(3, 900_000));
    let chain = hosts.chain(1);
    let sound = pieces(&hosts, &chain).await;
    let changes: [fn(&mut Vec<SnapshotPiece>); 5] = [
        |pieces| drop(pieces.remove(1)),
        |pieces| pieces.swap(0, 1),
        |pieces| drop(pieces.remove(0)),
        |pieces| pieces.insert(1, pieces[0].clone()),
        |pieces| drop(pieces.pop()),
    ];
    for change in changes {
        let mut changed = sound.clone();
        change(&mut changed);
        let error = taken_in(&hosts, &changed).await.unwrap_err();
        assert!(error.contains("should") || error == "cut", "{error}");
        assert!(!hosts.store("there").has(&chain[0].tree).unwrap());
    }
    // One that says it is the last, with bytes behind the end of the stream.
    let mut longer = sound.clone();
    longer.last_mut().unwrap().bytes.extend(b"more");
    assert!(taken_in(&hosts, &longer).await.unwrap_err().contains("behind their end"));
    assert_eq!(taken_in(&hosts, &sound).await.unwrap(), [chain[0].tree]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any byte may be another one, anywhere: then nothing is taken in.
    #[test]
    fn a_changed_byte_is_found_and_nothing_is_stored(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let hosts = Hosts::new();
            let chain = hosts.chain(2);
            let mut sent = pieces(&hosts, &chain).await;
            let length: usize = sent.iter().map(|piece| piece.bytes.len()).sum();
            let mut place = at.index(length);
            let piece = sent.iter_mut().find(|piece| {
                let inside = place < piece.bytes.len();
                if !inside {
                    place -= piece.bytes.len();
                }
                inside
            });
            piece.unwrap().bytes[place] ^= 1 << bit;
            let error = taken_in(&hosts, &sent).await.unwrap_err();
            assert!(error.contains("snapshot"), "{error}");
            for logged in &chain {
                assert!(!hosts.store("there").has(&logged.tree).unwrap());
            }
        });
    }
}
