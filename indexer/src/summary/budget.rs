//! What stays when not everything fits: each kind of item has a share, and what is left over goes to the most important.

use super::digest_item::{DigestItem, DigestKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The budget of a leaf's items, in bytes.
pub(super) const LEAF_BYTES: usize = 1_600;

/// The budget of a parent's items, in bytes.
pub(super) const PARENT_BYTES: usize = 3_200;

/// How often things of a kind were dropped.
pub(super) type Dropped = BTreeMap<DigestKind, u64>;

/// The budget of a node of `level`, in bytes.
pub(super) const fn of_level(level: u32) -> usize {
    if level == 0 { LEAF_BYTES } else { PARENT_BYTES }
}

/// Items that are the same thing become one.
pub(super) fn fold(items: impl IntoIterator<Item = DigestItem>) -> Vec<DigestItem> {
    let mut folded: Vec<DigestItem> = Vec::new();
    let mut places: HashMap<(DigestKind, String), usize> = HashMap::new();
    for item in items {
        match places.get(&item.key()).and_then(|place| folded.get_mut(*place)) {
            Some(known) => known.absorb(item),
            None => {
                places.insert(item.key(), folded.len());
                folded.push(item);
            }
        }
    }
    folded
}

/// The items that fit into `budget_bytes`, by kind and in order; of the rest `dropped` counts every occurrence.
pub(super) fn fit(mut items: Vec<DigestItem>, budget_bytes: usize, dropped: &mut Dropped) -> Vec<DigestItem> {
    items.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| one.text.cmp(&other.text)));
    let mut left = budget_bytes;
    let mut spent: BTreeMap<DigestKind, usize> = BTreeMap::new();
    let mut kept = Vec::with_capacity(items.len());
    let mut waiting = Vec::new();
    for item in items {
        let (size, spent) = (item.size_bytes(), spent.entry(item.kind).or_default());
        if *spent + size <= budget_bytes.saturating_mul(item.kind.share()) / 100 && size <= left {
            *spent += size;
            left -= size;
            kept.push(item);
        } else {
            waiting.push(item);
        }
    }
    for item in waiting {
        let size = item.size_bytes();
        if size <= left {
            left -= size;
            kept.push(item);
        } else {
            *dropped.entry(item.kind).or_default() += u64::from(item.count);
        }
    }
    kept.sort_by(|one, other| place(one).cmp(&place(other)).then_with(|| one.text.cmp(&other.text)));
    kept
}

/// The most important first: by kind, weight, and then the newest.
const fn rank(item: &DigestItem) -> (DigestKind, Reverse<u8>, Reverse<u64>) {
    (item.kind, Reverse(item.weight), Reverse(item.seq))
}

const fn place(item: &DigestItem) -> (DigestKind, u64, u64) {
    (item.kind, item.seq, item.first_seq)
}
