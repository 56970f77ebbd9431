//! Stopped anywhere and begun again, the index is what it would be had it never stopped.

use super::world::{World, session, written};
use proptest::prelude::*;
use retrace_events::Envelope;

/// Events of several sessions, some appended between others.
fn interleaved(sessions: &[(String, usize)]) -> Vec<Envelope> {
    let mut streams: Vec<_> = sessions.iter().map(|(id, steps)| session(id, *steps).into_iter()).collect();
    let mut all = Vec::new();
    let mut turn = 0_usize;
    while !streams.is_empty() {
        let at = turn % streams.len();
        let run = 1 + turn % 3;
        let next: Vec<_> = streams[at].by_ref().take(run).collect();
        if next.is_empty() {
            drop(streams.remove(at));
        }
        all.extend(next);
        turn += 1;
    }
    all
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// A follower is dropped after any number of events, with or without a commit; the next one goes on.
    #[test]
    fn stopped_anywhere_nothing_is_missing_and_nothing_is_double(
        steps in prop::collection::vec(1_usize..12, 1..4),
        cuts in prop::collection::vec(1_usize..40, 0..5),
    ) {
        let sessions: Vec<_> = steps.iter().enumerate().map(|(n, steps)| (format!("s{n}"), *steps)).collect();
        runtime().block_on(async {
            let world = World::new();
            let events = interleaved(&sessions);
            let mut rest = events.as_slice();
            for cut in cuts {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                for event in now {
                    world.append(std::slice::from_ref(event)).await;
                }
                rest = later;
                let mut follower = world.follower().await.unwrap();
                if cut % 2 == 0 {
                    follower.catch_up(&mut |_| {}).await.unwrap();
                } else {
                    // Fed and never committed: as if it had been killed.
                    follower.feed_without_commit().await.unwrap();
                }
            }
            for event in rest {
                world.append(std::slice::from_ref(event)).await;
            }
            world.index_all().await;
            let check = world.check().await;
            prop_assert!(check.is_clean(), "{check:?}");
            prop_assert!(check.documents as usize >= events.len(), "{check:?}");
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn every_document_is_there_once() {
    let world = World::new();
    world.append(&session("a", 2)).await;
    world.index_all().await;
    world.index_all().await;
    let prompts = world.texts("a").into_iter().filter(|text| text.starts_with("please look at part")).count();
    assert_eq!(prompts, 2);
}

#[tokio::test]
async fn what_a_model_wrote_stands_in_for_the_extract_whenever_it_came() {
    // In one log the text comes after the session, in the other before it, as in a copied log.
    for text_first in [false, true] {
        let world = World::new();
        let (events, text) = (session("a", 10), written("a", 1, "they looked at parts, one after the other"));
        if text_first {
            world.append(&text).await;
            world.append(&events).await;
        } else {
            world.append(&events).await;
            world.index_all().await;
            world.append(&text).await;
        }
        world.index_all().await;
        let texts = world.texts("a");
        let found = texts.iter().filter(|text| text.contains("they looked at parts")).count();
        assert_eq!(found, 1, "text first: {text_first}: {texts:#?}");
        let check = world.check().await;
        assert!(check.is_clean(), "text first: {text_first}: {check:?}");
    }
}

#[tokio::test]
async fn a_rebuild_takes_the_place_of_the_old_index() {
    let world = World::new();
    world.append(&session("a", 5)).await;
    world.index_all().await;
    let before = world.texts("a");
    let note = world.rebuild().run(&mut |_| {}).await.unwrap();
    assert_eq!(note.position, world.log().end().await.unwrap());
    assert_eq!(world.texts("a"), before);
    assert!(world.check().await.is_clean());
    let left: Vec<_> =
        std::fs::read_dir(world.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains('.') && name != "writer.lock"), "{left:?}");
}
