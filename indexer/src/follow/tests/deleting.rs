//! What is deleted from the log leaves the index, whether somebody followed at that moment or not; and an index after
//! deletions is what a clean rebuild would be.

use super::world::{World, session, stream, written};
use crate::follow::IndexStatus;
use proptest::prelude::*;
use retrace_events::log::{Deletion, StreamFilter};
use retrace_events::mint::{Mint, SystemMint};
use retrace_events::{Class, EventLog, StreamId};

async fn delete(world: &World, stream: StreamId) {
    world.log.delete(&Deletion { stream, id: SystemMint.event_id(), at: SystemMint.now() }).await.unwrap();
}

#[tokio::test]
async fn a_deletion_that_nobody_followed_is_caught_up() {
    let world = World::new();
    world.append(&session("kept", 3)).await;
    world.append(&session("gone", 9)).await;
    world.append(&written("gone", 0, "a summary in a model's words")).await;
    world.index_all().await;
    let kept = world.texts("kept");
    assert!(!world.texts("gone").is_empty());
    for class in [Class::Session, Class::Control, Class::Summary] {
        delete(&world, stream("gone").sibling(class)).await;
    }
    world.index_all().await;
    assert!(world.texts("gone").is_empty());
    assert_eq!(world.texts("kept"), kept);
    assert!(world.check().await.is_clean());
    assert_eq!(IndexStatus::of(&world.folder).documents, kept.len() as u64);
    let note = crate::IndexNote::parse(&world.keyword().note()).unwrap();
    assert_eq!((note.position, note.unreadable), (world.log().end().await.unwrap(), 0));
}

#[tokio::test]
async fn a_follower_at_work_takes_out_what_is_deleted() {
    let world = World::new();
    let events = session("gone", 4);
    world.append(&events[..9]).await;
    let mut follower = world.follower().await.unwrap();
    follower.catch_up(&mut |_| {}).await.unwrap();
    let (folder, log) = (world.folder.clone(), world.log());
    let live = tokio::spawn(async move { follower.live().await });
    world.append(&events[9..]).await;
    delete(&world, stream("gone")).await;
    world.append(&session("later", 1)).await;
    let end = log.end().await.unwrap();
    while IndexStatus::of(&folder).position < end {
        tokio::task::yield_now().await;
        assert!(!live.is_finished());
    }
    live.abort();
    assert!(live.await.unwrap_err().is_cancelled());
    assert!(world.texts("gone").is_empty() && !world.texts("later").is_empty());
    assert!(world.check().await.is_clean());
}

#[tokio::test]
async fn the_last_event_seen_may_be_the_one_that_is_deleted() {
    let world = World::new();
    world.append(&session("kept", 2)).await;
    world.append(&session("gone", 2)).await;
    world.index_all().await;
    delete(&world, stream("gone")).await;
    // It is no reason to begin anew: the log says what became of it.
    let follower = world.follower().await.unwrap();
    assert_eq!(follower.begun_anew(), None);
    drop(follower);
    world.index_all().await;
    assert!(world.texts("gone").is_empty() && world.check().await.is_clean());
}

#[tokio::test]
async fn a_session_that_begins_again_is_in_the_index_once() {
    for seen_in_between in [false, true] {
        let world = World::new();
        let events = session("again", 5);
        world.append(&events).await;
        world.append(&session("kept", 1)).await;
        world.index_all().await;
        let texts = world.texts("again");
        delete(&world, stream("again")).await;
        if seen_in_between {
            world.index_all().await;
        }
        world.log.begin_again(&events[..8]).await.unwrap();
        assert!(world.log.deleted(&StreamFilter::default()).await.unwrap().is_empty());
        world.index_all().await;
        assert!(world.check().await.is_clean(), "{seen_in_between}");
        world.append(&events[8..]).await;
        world.index_all().await;
        assert_eq!(world.texts("again"), texts);
        assert!(world.check().await.is_clean());
        let follower = world.follower().await.unwrap();
        assert_eq!(follower.begun_anew(), None);
    }
}

/// A log that lost its end is still noticed when some of it was deleted before.
#[tokio::test]
async fn a_lost_end_is_not_taken_for_a_deletion() {
    let mut world = World::new();
    world.append(&session("gone", 1)).await;
    world.append(&session("kept", 2)).await;
    delete(&world, stream("gone")).await;
    world.append(&session("newest", 2)).await;
    world.index_all().await;
    world.forget_log();
    world.append(&session("kept", 2)).await;
    assert!(world.follower().await.unwrap().begun_anew().is_some());
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Sessions come, go and come back; somebody follows now and then, or dies in the middle of it.
    #[test]
    fn whatever_is_deleted_and_brought_back_the_index_is_clean(
        steps in prop::collection::vec((0_usize..4, 0_usize..5, 0_usize..4), 1..24),
    ) {
        let names = ["a", "b", "c", "d"];
        runtime().block_on(async {
            let world = World::new();
            for (which, what, follows) in steps {
                let id = names[which];
                let has = world.log.head(&stream(id)).await.unwrap().map_or(0, |head| head.seq as usize + 1);
                let events = session(id, 4);
                match what {
                    0 => delete(&world, stream(id)).await,
                    _ if has == 0 => world.log.begin_again(&events[..5]).await.unwrap(),
                    _ => world.append(&events[has..(has + what * 2).min(events.len())]).await,
                }
                match follows {
                    0 => world.index_all().await,
                    1 => world.follower().await.unwrap().feed_without_commit().await.unwrap(),
                    _ => {}
                }
            }
            let follower = world.follower().await.unwrap();
            // Only where the end of a session is brought back shorter than it was seen, nobody can tell.
            let begun_anew = follower.begun_anew().map(str::to_owned);
            drop(follower);
            world.index_all().await;
            let check = world.check().await;
            assert!(check.is_clean(), "{check:?} {begun_anew:?}");
        });
    }
}
