//! Following as events come.

use super::world::{World, session};
use std::time::Duration;

/// Waits until the index holds `count` prompts of session `id`.
async fn wait_for_prompts(world: &World, id: &str, count: usize) {
    for _ in 0..1_000 {
        if world.folder.keyword().join("meta.json").exists() {
            let there = world.texts(id).iter().filter(|text| text.starts_with("please look")).count();
            if there >= count {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{count} prompts of {id} were never found");
}

#[tokio::test]
async fn what_is_appended_is_found_while_the_follower_runs() {
    let world = World::new();
    let events = session("a", 3);
    world.append(&events[..4]).await;
    let mut follower = world.follower().await.unwrap();
    let work = async {
        wait_for_prompts(&world, "a", 1).await;
        world.append(&events[4..]).await;
        wait_for_prompts(&world, "a", 3).await;
        world.append(&session("b", 1)).await;
        wait_for_prompts(&world, "b", 1).await;
    };
    tokio::select! {
        ended = follower.live() => panic!("{ended:?}"),
        () = work => {}
    }
    drop(follower);
    assert!(world.check().await.is_clean());
}

#[tokio::test]
async fn progress_is_told_up_to_the_end() {
    let world = World::new();
    world.append(&session("a", 20)).await;
    let mut follower = world.follower().await.unwrap();
    let mut last = None;
    follower.catch_up(&mut |progress| last = Some(progress)).await.unwrap();
    let last = last.unwrap();
    assert_eq!(last.position, last.end);
    assert_eq!(last.events, 80);
    assert!(last.documents >= 80, "{last:?}");
}
