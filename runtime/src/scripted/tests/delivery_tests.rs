//! Writes, cuts and silences come where the script puts them.

use std::task::Poll;

use axum::body::Bytes;
use futures::Stream as _;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::scripted::delivery::{Act, acts, body};
use crate::scripted::fault::{After, Fault};
use crate::scripted::step::Delivery;

fn events() -> Vec<String> {
    ["first €\n\n", "second\n\n", "third 🦀\n\n"].map(str::to_owned).to_vec()
}

fn play(fault: Option<&Fault>, delivery: &Delivery) -> (Vec<Vec<u8>>, Vec<Act>) {
    let acts = acts(events(), fault, delivery, "req_1");
    let writes = acts.iter().filter_map(|act| if let Act::Write(bytes) = act { Some(bytes.to_vec()) } else { None });
    let rest = acts.iter().filter(|act| matches!(act, Act::Cut | Act::Stall)).cloned().collect();
    (writes.collect(), rest)
}

fn text(writes: &[Vec<u8>]) -> String {
    String::from_utf8_lossy(&writes.concat()).into_owned()
}

#[test]
fn an_event_a_write_unless_split() {
    let (writes, rest) = play(None, &Delivery::default());
    assert_eq!(writes, events().iter().map(|event| event.as_bytes().to_vec()).collect::<Vec<_>>());
    assert!(rest.is_empty());
    let (writes, _) = play(None, &Delivery { split_bytes: 1, ..Delivery::default() });
    assert!(writes.iter().all(|write| write.len() == 1));
    assert_eq!(text(&writes), events().concat());
}

#[test]
fn pauses_stand_between_writes() {
    let delay = std::time::Duration::from_millis(3);
    let acts = acts(events(), None, &Delivery { delay, ..Delivery::default() }, "r");
    let shape: Vec<bool> = acts.iter().map(|act| matches!(act, Act::Pause(pause) if *pause == delay)).collect();
    assert_eq!(shape, [false, true, false, true, false]);
}

#[test]
fn faults_take_effect_at_their_place() {
    let plain = Delivery::default();
    let (writes, rest) = play(Some(&Fault::Cut { after: After::Events(2) }), &plain);
    assert_eq!((text(&writes).as_str(), rest), ("first €\n\nsecond\n\n", vec![Act::Cut]));
    let (writes, rest) = play(Some(&Fault::Cut { after: After::Bytes(7) }), &plain);
    assert_eq!((writes.concat(), rest), (b"first \xe2".to_vec(), vec![Act::Cut]), "cut in the middle of a character");
    let (writes, rest) = play(Some(&Fault::End { after: After::Events(1) }), &plain);
    assert_eq!((text(&writes).as_str(), rest), ("first €\n\n", vec![]));
    let (writes, rest) = play(Some(&Fault::Stall { after: After::Events(0) }), &plain);
    assert_eq!((text(&writes).as_str(), rest), ("", vec![Act::Stall]));
    let (writes, rest) = play(Some(&Fault::Cut { after: After::Events(99) }), &plain);
    assert_eq!((writes.len(), rest), (3, vec![Act::Cut]));
}

#[test]
fn errors_come_as_events_of_their_own() {
    let error = crate::scripted::api_error::ApiError {
        kind: "overloaded_error".into(),
        ..crate::scripted::api_error::ApiError::new(200, "busy")
    };
    for (after, before) in [
        (After::Events(1), 1),
        (After::Bytes(1), 1),
        (After::Bytes(12), 2),
        (After::Bytes(9_999), 3),
        (After::Events(0), 0),
    ] {
        let (writes, rest) = play(Some(&Fault::ErrorMidStream { error: error.clone(), after }), &Delivery::default());
        assert_eq!(writes.len(), before + 1, "{after:?}");
        let last = String::from_utf8(writes.last().unwrap().clone()).unwrap();
        assert!(
            last.starts_with("event: error\ndata: {\"type\":\"error\"")
                && last.contains("overloaded_error")
                && last.contains("req_1"),
            "{last}"
        );
        assert!(rest.is_empty());
    }
}

proptest! {
    #[test]
    fn splitting_and_cutting_lose_nothing_else(split in 0usize..40, cut in 0usize..60) {
        let delivery = Delivery { split_bytes: split, ..Delivery::default() };
        let whole = Bytes::from(events().concat());
        let (writes, _) = play(Some(&Fault::Cut { after: After::Bytes(cut) }), &delivery);
        prop_assert_eq!(writes.concat(), whole[..cut.min(whole.len())].to_vec());
        prop_assert!(split == 0 || writes.iter().all(|write| write.len() <= split && !write.is_empty()));
    }
}

/// What a body has to say when it is asked once: nothing yet (`None`), or bytes.
async fn ask_once(stream: &mut axum::body::BodyDataStream) -> Option<Option<Vec<u8>>> {
    std::future::poll_fn(|context| {
        let said = std::pin::Pin::new(&mut *stream).poll_next(context);
        Poll::Ready(match said {
            Poll::Pending => None,
            Poll::Ready(item) => Some(item.map(|bytes| bytes.unwrap().to_vec())),
        })
    })
    .await
}

#[tokio::test]
async fn the_body_gives_way_before_each_write_so_that_writes_are_not_joined() {
    let acts = acts(events(), None, &Delivery::default(), "r");
    let mut stream = body(acts, CancellationToken::new(), CancellationToken::new()).into_data_stream();
    for event in events() {
        assert_eq!(ask_once(&mut stream).await, None, "the write before has time to leave");
        assert_eq!(ask_once(&mut stream).await, Some(Some(event.into_bytes())));
    }
    assert_eq!(ask_once(&mut stream).await, None);
    assert_eq!(ask_once(&mut stream).await, Some(None), "the end");
}
