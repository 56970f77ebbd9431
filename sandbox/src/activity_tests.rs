//! When a sandbox counts as idle, in paused time.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Activity;
use crate::error::SandboxError;
use crate::limits::LimitHit;

const IDLE: Duration = Duration::from_secs(60);

/// How long after now it is found idle.
async fn found_after(activity: &Activity) -> Duration {
    let begun = Instant::now();
    activity.idle(IDLE).await;
    begun.elapsed()
}

#[tokio::test(start_paused = true)]
async fn what_nobody_uses_is_idle_after_its_time() {
    let activity = Activity::new();
    assert_eq!(found_after(&activity).await, IDLE);
    assert!(activity.ended());
    let Err(SandboxError::GuestGone(report)) = activity.touch() else { panic!("it can still be used") };
    assert_eq!(report.limit, Some(LimitHit::Idle));
    assert!(activity.occupy().is_err());
}

#[tokio::test(start_paused = true)]
async fn every_use_begins_the_time_anew() {
    let activity = Activity::new();
    let other = Arc::clone(&activity);
    let using = tokio::spawn(async move {
        for _ in 0..10 {
            tokio::time::sleep(IDLE - Duration::from_secs(1)).await;
            other.touch().unwrap();
        }
    });
    assert_eq!(found_after(&activity).await, (IDLE - Duration::from_secs(1)) * 10 + IDLE);
    using.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_command_keeps_it_as_long_as_it_runs() {
    let activity = Activity::new();
    let (one, two) = (activity.occupy().unwrap(), activity.occupy().unwrap());
    let running = tokio::spawn(async move {
        tokio::time::sleep(IDLE * 5).await;
        drop(one);
        tokio::time::sleep(IDLE * 5 + Duration::from_secs(7)).await;
        drop(two);
    });
    assert!(found_after(&activity).await >= IDLE * 11);
    assert!(running.is_finished());
}
