//! Ours, as real epochs: a seed, and behind it a tail that only grows, so that what was sent before is read from the cache. At each
//! request it is appended what came since the last one, and what is missing of what a context composed afresh would hold. When
//! it is full, or the cache has gone cold, a fresh one begins.

use super::epoch_tail::EpochTail;
use super::recorded_work::RecordedWork;
use super::{Arm, Ask, Composer};
use crate::bench::cache::CacheLifetime;
use crate::bench::composed::Composed;
use crate::bench::session::BenchSession;
use crate::context::EpochRooms;
use std::collections::BTreeMap;

/// With a cold cache an epoch ends when it has grown by so much, in tokens: all of it is paid for anyway.
const GROWN_TOKENS: u64 = 300;

/// Epochs. The budget is what requests have on average.
pub(super) struct EpochsArm;

impl Arm for EpochsArm {
    fn name(&self) -> &'static str {
        "epochs"
    }

    fn about(&self) -> &'static str {
        "ours as real epochs: a seed and a tail that only grows; the budget is the mean of its requests"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        Box::new(EpochsComposer { session, work: RecordedWork::default(), epochs: BTreeMap::new(), looked: None })
    }
}

/// An epoch, and when the newest request was sent, in milliseconds.
#[derive(Clone)]
struct Sent {
    epoch: EpochTail,
    at_ms: u64,
}

struct EpochsComposer<'s> {
    session: &'s BenchSession,
    work: RecordedWork<'s>,
    /// By budget.
    epochs: BTreeMap<u64, Sent>,
    /// What somebody only looked at.
    looked: Option<EpochTail>,
}

impl Composer for EpochsComposer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        let Ask { at, budget_tokens, sends } = ask;
        let (items, rooms) = (&self.session.items, EpochRooms::of(budget_tokens));
        self.work.reach(items, at);
        // A request is sent when the item before it has come.
        let now_ms = at.checked_sub(1).and_then(|before| items.get(before)).map_or(0, |item| item.at_ms);
        let known = if sends { self.epochs.remove(&budget_tokens) } else { self.epochs.get(&budget_tokens).cloned() };
        let mut known = known.filter(|sent| sent.epoch.reached() <= at);
        if let Some(sent) = &mut known {
            sent.epoch.grow(&self.work, items, at, &rooms);
        }
        let epoch = match known {
            Some(sent) if !sends || !is_over(&sent.epoch, now_ms.saturating_sub(sent.at_ms), &rooms) => sent.epoch,
            _ => EpochTail::begin(&self.work, at, &rooms),
        };
        if sends {
            return self
                .epochs
                .entry(budget_tokens)
                .insert_entry(Sent { epoch, at_ms: now_ms })
                .into_mut()
                .epoch
                .composed();
        }
        self.looked.insert(epoch).composed()
    }
}

/// Whether a fresh one is due.
fn is_over(epoch: &EpochTail, idle_ms: u64, rooms: &EpochRooms) -> bool {
    let is_cold = idle_ms > CacheLifetime::FiveMinutes.ms();
    epoch.tokens() > rooms.top || is_cold && epoch.tokens() > rooms.seed + GROWN_TOKENS
}
