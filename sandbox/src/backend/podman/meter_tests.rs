//! That the numbers of a container are kept when its group is gone.

use std::fs;

use super::*;

/// A folder stands for the group of a container: the kernel tells of changes in both alike.
#[tokio::test]
async fn what_was_counted_outlives_the_container() {
    let group = tempfile::tempdir().unwrap();
    let events = group.path().join("memory.events");
    fs::write(&events, "oom 0\noom_kill 0\n").unwrap();
    let meter = ContainerMeter::default();
    meter.watch(Watched::at(group.path()), Vec::new());
    assert_eq!(meter.read().memory_kills, 0);
    fs::write(&events, "oom 4\noom_kill 3\n").unwrap();
    let is_read = async {
        while locked(&meter.seen).counters.memory_kills == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), is_read).await.expect("it is read without being asked for");
    group.close().unwrap();
    assert_eq!(meter.read().memory_kills, 3);
}
