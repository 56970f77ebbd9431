//! One writer at a time, who says who it is.

use super::world::{World, holder, session};
use crate::follow::{FollowError, IndexStatus, LockOutcome, WriterLock};

#[tokio::test]
async fn the_second_writer_is_told_who_the_first_is_until_it_has_gone() {
    let world = World::new();
    let first = world.follower().await.unwrap();
    match world.follower().await {
        Err(FollowError::Busy(Some(who))) => assert_eq!(who, holder()),
        other => panic!("{other:?}"),
    }
    assert_eq!(IndexStatus::of(&world.folder).writer, Some(holder()));
    drop(first);
    assert_eq!(IndexStatus::of(&world.folder).writer, None);
    world.follower().await.unwrap();
}

#[tokio::test]
async fn looking_whether_somebody_writes_takes_nothing_away() {
    let world = World::new();
    assert_eq!(WriterLock::holder(&world.folder.lock_file()), None);
    let held = WriterLock::take(&world.folder.lock_file(), &holder()).unwrap();
    assert!(matches!(held, LockOutcome::Taken(_)));
    assert_eq!(WriterLock::holder(&world.folder.lock_file()), Some(holder()));
    assert!(matches!(WriterLock::take(&world.folder.lock_file(), &holder()).unwrap(), LockOutcome::Held(Some(_))));
}

#[tokio::test]
async fn a_lock_file_with_rubbish_in_it_still_locks() {
    let world = World::new();
    let path = world.folder.lock_file();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, vec![0xff; 100_000]).unwrap();
    let _lock = WriterLock::take(&path, &holder()).unwrap();
    assert_eq!(WriterLock::holder(&path), Some(holder()), "what stood there is gone");
}

#[tokio::test]
async fn the_status_says_what_there_is() {
    let world = World::new();
    let empty = IndexStatus::of(&world.folder);
    assert_eq!((empty.documents, empty.position.0, empty.size_bytes, empty.damage), (0, 0, 0, None));
    world.append(&session("a", 3)).await;
    world.index_all().await;
    let status = IndexStatus::of(&world.folder);
    assert_eq!(status.position, world.log().end().await.unwrap());
    assert!(status.documents >= 12, "{status:?}");
    assert!(status.size_bytes > 1_000, "{status:?}");
    assert_eq!(status.unreadable, 0);
}
