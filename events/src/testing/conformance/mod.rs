//! The suite that every backend has to pass: the contract of [`crate::log`], clause by clause.
//!
//! [`conformance_suite!`](crate::conformance_suite) makes one test of each check, so that a backend that breaks a
//! clause says which. The checks know a log only through the contract; what they need beyond it (another handle, a
//! way to damage what is stored) a [`Backend`] provides.

mod bodies;
mod claims;
mod control;
mod damage;
mod deleting;
mod following;
mod objects;
mod reading;
mod streams;
mod writing;

pub use bodies::*;
pub use claims::*;
pub use control::*;
pub use damage::*;
pub use deleting::*;
pub use following::*;
pub use objects::*;
pub use reading::*;
pub use streams::*;
pub use writing::*;

use crate::id::StreamId;
use crate::log::EventLog;
use async_trait::async_trait;
use std::sync::Arc;

/// An empty log of some kind, and what only its kind can do.
#[async_trait]
pub trait Backend: Send + Sync {
    /// A handle of its own on the log, as another process would have it.
    async fn open(&self) -> Arc<dyn EventLog>;

    /// Changes a stored byte of the event's payload, behind the log's back.
    async fn flip_byte(&self, stream: &StreamId, seq: u64);

    /// Takes the event away, behind the log's back.
    async fn remove_event(&self, stream: &StreamId, seq: u64);
}

/// Makes a test of every check. `$start` is an expression that makes an `impl Backend`; `.await` may stand in it.
#[macro_export]
macro_rules! conformance_suite {
    ($start:expr) => {
        $crate::conformance_suite! { @each $start;
            an_empty_log_has_nothing
            events_come_back_as_they_were_appended
            numbers_are_dense
            an_event_has_to_follow_the_last
            the_second_writer_is_fenced
            one_of_eight_writers_wins
            many_streams_grow_side_by_side
            a_repeated_event_is_stored_once
            a_repeated_batch_is_stored_once
            a_repetition_is_not_one_when_others_have_written
            an_id_names_one_event
            impossible_batches_are_refused
            the_largest_batch_is_taken
            a_batch_is_seen_whole_or_not_at_all
            a_fork_begins_with_its_parents_hash
            any_part_of_a_stream_can_be_read
            all_streams_are_read_in_one_order
            a_position_beyond_the_end_is_refused
            other_handles_read_what_was_written
            the_end_is_the_last_position
            a_follower_sees_the_past_and_the_future
            a_follower_sees_what_another_handle_writes
            a_follower_sees_only_what_it_asked_for
            a_follower_may_ask_for_one_stream
            two_followers_see_the_same
            large_payloads_come_back
            a_very_large_payload_comes_back
            large_and_small_payloads_share_a_batch
            odd_kinds_and_newer_schemas_are_carried_along
            blobs_are_stored_once_and_read_by_range
            large_blobs_are_stored
            streams_are_listed_by_their_last_event
            heads_tell_the_last_event
            a_flipped_byte_is_found
            a_missing_event_is_found
            damage_in_one_stream_leaves_others_readable
            a_sound_log_verifies
            a_deleted_stream_is_gone_and_others_are_not
            a_stream_is_deleted_once
            a_stale_writer_cannot_bring_a_stream_back
            a_tombstone_cannot_be_appended
            followers_hear_of_a_deletion
            a_deleted_stream_can_begin_again
            a_living_stream_does_not_begin_again
            a_deletion_among_writers_is_final
            a_long_stream_is_deleted_whole
            blobs_are_removed_unless_they_were_put_since
            a_log_has_a_name_of_its_own
            objects_come_back_by_name
            an_object_appears_whole_or_not_at_all
            a_stream_is_held_once
            a_dropped_claim_frees_its_stream
            a_claim_outlives_its_handle
            claims_of_other_streams_do_not_matter
            one_of_many_claimers_wins
            a_stream_is_never_held_twice
            a_claim_that_is_given_up_holds_nothing
            a_holder_may_say_anything
            what_is_sent_stands_in_the_control_stream
            two_senders_interleave_and_keep_their_order
            many_senders_are_all_heard
            a_sender_serves_several_tasks
            an_inbox_gives_the_past_and_the_future
            an_inbox_sees_what_was_acknowledged
            an_inbox_dropped_in_mid_wait_loses_nothing
            a_newer_control_event_is_handed_over
            an_inbox_beyond_the_end_is_refused
        }
    };
    (@each $start:expr; $($check:ident)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $check() {
                let backend = $start;
                $crate::testing::conformance::$check(&backend).await;
            }
        )+
    };
}
