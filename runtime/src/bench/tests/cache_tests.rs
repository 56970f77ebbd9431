//! The simulated prompt cache: what holds for every sequence, and the API's rules one by one.

use super::super::cache::{
    CacheLifetime, CacheMark, CacheSegment, CacheSimulator, CacheSplit, LOOK_BACK, MAX_MARKS, usual_marks,
};
use proptest::prelude::*;

const MINUTE: u64 = 60_000;

fn segments(names: &[u32]) -> Vec<CacheSegment> {
    names.iter().map(|name| CacheSegment::of(&name.to_string(), 100 + u64::from(*name % 7))).collect()
}

fn tokens(segments: &[CacheSegment]) -> u64 {
    segments.iter().map(|segment| segment.tokens).sum()
}

fn at_end(segments: &[CacheSegment], lifetime: CacheLifetime) -> Vec<CacheMark> {
    vec![CacheMark { segment: segments.len() - 1, lifetime }]
}

proptest! {
    /// A conversation that only grows, by fewer segments a request than a mark reaches back, reads all but what is new.
    #[test]
    fn what_only_grows_is_read_but_for_its_end(steps in prop::collection::vec((1_usize..14, 0_u64..5 * MINUTE), 1..20)) {
        let all: Vec<u32> = (0..400).collect();
        let (mut cache, mut end, mut now, mut before) = (CacheSimulator::new(0), 0, 0, 0);
        for (more, later) in steps {
            end += more;
            now += later;
            let sent = segments(&all[..end]);
            let split = cache.send(&sent, &usual_marks(end), now);
            prop_assert_eq!(split.read, before);
            prop_assert_eq!(split.total(), tokens(&sent));
            before = tokens(&sent);
        }
    }

    #[test]
    fn another_first_byte_reads_nothing(length in 1_u32..60, later in 0_u64..MINUTE) {
        let mut cache = CacheSimulator::new(0);
        let mut sent = segments(&(0..length).collect::<Vec<_>>());
        cache.send(&sent, &usual_marks(sent.len()), 0);
        sent[0].hash[0] ^= 1;
        prop_assert_eq!(cache.send(&sent, &usual_marks(sent.len()), later).read, 0);
    }

    /// Nothing is read but what was sent before as a prefix, word for word; and tokens are neither lost nor made.
    #[test]
    fn only_common_prefixes_are_read(requests in prop::collection::vec(prop::collection::vec(0_u32..3, 1..40), 1..12)) {
        let mut cache = CacheSimulator::new(0);
        let mut before: Vec<Vec<CacheSegment>> = Vec::new();
        for names in requests {
            let sent = segments(&names);
            let split = cache.send(&sent, &usual_marks(sent.len()), 0);
            let common = |other: &Vec<CacheSegment>| {
                let same = other.iter().zip(&sent).take_while(|(one, other)| one == other).count();
                tokens(&sent[..same])
            };
            prop_assert!(split.read <= before.iter().map(common).max().unwrap_or(0));
            prop_assert_eq!(split.total(), tokens(&sent));
            before.push(sent);
        }
    }
}

#[test]
fn a_prefix_lives_for_its_time_from_its_last_use() {
    for (lifetime, ms) in [(CacheLifetime::FiveMinutes, 5 * MINUTE), (CacheLifetime::OneHour, 60 * MINUTE)] {
        let (mut cache, sent) = (CacheSimulator::new(0), segments(&[1, 2, 3]));
        let marks = at_end(&sent, lifetime);
        assert_eq!(cache.send(&sent, &marks, 0).read, 0);
        // Each use begins its time anew.
        assert_eq!(cache.send(&sent, &marks, ms - 1).read, tokens(&sent));
        assert_eq!(cache.send(&sent, &marks, 2 * ms - 2).read, tokens(&sent));
        assert_eq!(cache.send(&sent, &marks, 3 * ms).read, 0);
    }
}

#[test]
fn what_is_read_is_not_written_again_and_what_no_mark_covers_is_fresh() {
    let (mut cache, sent) = (CacheSimulator::new(0), segments(&[1, 2, 3, 4]));
    let (seed, tail) = (tokens(&sent[..2]), tokens(&sent[2..3]));
    let marks = [
        CacheMark { segment: 1, lifetime: CacheLifetime::OneHour },
        CacheMark { segment: 2, lifetime: CacheLifetime::FiveMinutes },
    ];
    let fresh = sent[3].tokens;
    let first = CacheSplit { fresh, read: 0, written_5m: tail, written_1h: seed };
    assert_eq!(cache.send(&sent, &marks, 0), first);
    assert_eq!(cache.send(&sent, &marks, 1), CacheSplit { fresh, read: seed + tail, ..CacheSplit::default() });
    // Ten minutes later only the hour's part is left.
    let later = CacheSplit { fresh, read: seed, written_5m: tail, written_1h: 0 };
    assert_eq!(cache.send(&sent, &marks, 10 * MINUTE), later);
}

#[test]
fn short_prefixes_are_not_kept() {
    let sent = segments(&[1, 2, 3]);
    let mut cache = CacheSimulator::new(tokens(&sent) + 1);
    cache.send(&sent, &usual_marks(3), 0);
    let split = cache.send(&sent, &usual_marks(3), 1);
    assert_eq!(split, CacheSplit { fresh: tokens(&sent), ..CacheSplit::default() });
}

#[test]
fn a_mark_reaches_back_only_so_far() {
    let all: Vec<u32> = (0..100).collect();
    for (more, found) in [(LOOK_BACK - 1, true), (LOOK_BACK, false)] {
        let mut cache = CacheSimulator::new(0);
        let (short, long) = (segments(&all[..10]), segments(&all[..10 + more]));
        cache.send(&short, &at_end(&short, CacheLifetime::FiveMinutes), 0);
        let read = cache.send(&long, &at_end(&long, CacheLifetime::FiveMinutes), 1).read;
        assert_eq!(read, if found { tokens(&short) } else { 0 }, "{more}");
    }
}

#[test]
fn usual_marks_stand_where_they_find_each_other() {
    let places = |segments| usual_marks(segments).iter().map(|mark| mark.segment).collect::<Vec<_>>();
    assert_eq!(places(0), Vec::<usize>::new());
    assert_eq!(places(1), [0]);
    assert_eq!(places(20), [4, 19]);
    assert_eq!(places(100), [54, 69, 84, 99]);
    assert_eq!(places(100).len(), MAX_MARKS);
}

#[test]
fn odd_requests_do_no_harm() {
    let mut cache = CacheSimulator::new(0);
    assert_eq!(cache.send(&[], &usual_marks(0), 0), CacheSplit::default());
    let sent = segments(&[1, 2]);
    let behind = [CacheMark { segment: 7, lifetime: CacheLifetime::OneHour }];
    assert_eq!(cache.send(&sent, &behind, 0).fresh, tokens(&sent));
    // Only four marks count.
    let many: Vec<CacheMark> =
        (0..6).map(|segment| CacheMark { segment, lifetime: CacheLifetime::FiveMinutes }).collect();
    let sent = segments(&[5, 6, 7, 8, 9, 10]);
    assert_eq!(cache.send(&sent, &many, 0).written_5m, tokens(&sent[..4]));
    let costly = [CacheSegment { hash: [1; 32], tokens: u64::MAX }, CacheSegment { hash: [2; 32], tokens: u64::MAX }];
    assert_eq!(cache.send(&costly, &usual_marks(2), u64::MAX).written_5m, u64::MAX);
}
