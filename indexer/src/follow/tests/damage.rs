//! A damaged, half-written or foreign index is noticed and made anew; damage in the log is passed over and counted.

use super::world::{World, halve, session, stream};
use crate::follow::IndexStatus;
use crate::keyword::KeywordIndex;

#[tokio::test]
async fn an_index_that_was_cut_or_lost_files_is_made_anew() {
    let world = World::new();
    world.append(&session("a", 4)).await;
    world.index_all().await;
    let whole = world.texts("a");
    let files: Vec<_> = std::fs::read_dir(world.folder.keyword())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| std::fs::metadata(path).unwrap().len() > 4)
        .collect();
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        if !file.exists() {
            // Made anew meanwhile, under other names.
            continue;
        }
        halve(&file);
        // Whether this file's damage is seen at once or never matters for the answers: they are right afterwards.
        let seen = KeywordIndex::open(&world.folder.keyword()).is_err();
        let follower = world.follower().await.unwrap();
        assert!(!seen || follower.begun_anew().is_some(), "{}", file.display());
        drop(follower);
        world.index_all().await;
        if seen {
            assert_eq!(world.texts("a"), whole, "{}", file.display());
        } else {
            world.rebuild().run(&mut |_| {}).await.unwrap();
        }
    }
    assert!(world.check().await.is_clean());
}

#[tokio::test]
async fn a_damaged_index_says_so_in_its_status() {
    let world = World::new();
    world.append(&session("a", 1)).await;
    world.index_all().await;
    std::fs::write(world.folder.keyword().join("meta.json"), "{").unwrap();
    let status = IndexStatus::of(&world.folder);
    assert!(status.damage.is_some(), "{status:?}");
    let follower = world.follower().await.unwrap();
    assert!(follower.begun_anew().is_some());
}

#[tokio::test]
async fn a_log_that_lost_what_the_index_saw_is_noticed() {
    let mut world = World::new();
    world.append(&session("a", 4)).await;
    world.index_all().await;
    let vectors = world.folder.vectors().join("model");
    std::fs::create_dir_all(&vectors).unwrap();
    drop(world.follower().await.unwrap());
    assert!(vectors.exists());
    world.forget_log();
    let follower = world.follower().await.unwrap();
    assert!(follower.begun_anew().unwrap().contains("lost its end"), "{:?}", follower.begun_anew());
    assert!(!vectors.exists(), "they know events by positions of the other log");
    drop(follower);
    // Another log of the same length is not the same log.
    world.append(&session("b", 4)).await;
    world.index_all().await;
    world.forget_log();
    world.append(&session("c", 4)).await;
    let mut follower = world.follower().await.unwrap();
    assert!(follower.begun_anew().unwrap().contains("another one"), "{:?}", follower.begun_anew());
    follower.catch_up(&mut |_| {}).await.unwrap();
    drop(follower);
    assert!(world.texts("b").is_empty());
    assert_eq!(world.texts("c").len(), world.texts("c").into_iter().collect::<std::collections::HashSet<_>>().len());
    assert!(world.check().await.is_clean());
}

#[tokio::test]
async fn an_event_that_cannot_be_read_hides_nothing_behind_it() {
    let world = World::new();
    world.append(&session("a", 3)).await;
    world.append(&session("b", 1)).await;
    world.log.flip_byte(&stream("a"), 4);
    world.index_all().await;
    let note = crate::follow::IndexNote::parse(&world.keyword().note()).unwrap();
    assert_eq!(note.unreadable, 1);
    assert_eq!(note.position, world.log().end().await.unwrap());
    assert!(world.texts("b").iter().any(|text| text.contains("please look at part 0 of b")));
    assert!(world.texts("a").iter().any(|text| text.contains("please look at part 2 of a")));
    assert!(!world.texts("a").iter().any(|text| text.contains("please look at part 1 of a")));
}

#[tokio::test]
async fn an_index_of_another_version_is_made_anew() {
    let world = World::new();
    world.append(&session("a", 1)).await;
    world.index_all().await;
    let mut writer = crate::keyword::KeywordWriter::open_or_create(&world.folder.keyword(), 32 << 20, 1).unwrap();
    writer.commit(r#"{"format":0,"position":4,"witness":null,"unreadable":0}"#).unwrap();
    drop(writer);
    let follower = world.follower().await.unwrap();
    assert!(follower.begun_anew().unwrap().contains("another version"), "{:?}", follower.begun_anew());
}
