//! Heads and the list of streams.

use super::Backend;
use crate::id::{Class, StreamId, Token};
use crate::log::StreamFilter;
use crate::testing::{EventMaker, example_stream};

/// The list names every stream once, the one written last first, and obeys the filter.
pub async fn streams_are_listed_by_their_last_event(backend: &dyn Backend) {
    let log = backend.open().await;
    let session = example_stream("listed");
    let mut other_project = example_stream("elsewhere");
    other_project.project = Token::slug("another");
    let mut other_tenant = example_stream("abroad");
    other_tenant.tenant = Token::slug("someone-else");
    let ids =
        [session.clone(), session.sibling(Class::Control), session.sibling(Class::Job), other_project, other_tenant];
    let mut makers: Vec<EventMaker> = (1..).zip(&ids).map(|(seed, id)| EventMaker::new(id.clone(), seed)).collect();
    for index in [0, 1, 2, 3, 4, 1, 0] {
        log.append(&makers[index].prompts(2)).await.unwrap();
    }
    let log = backend.open().await;
    let listed = log.streams(&StreamFilter::default()).await.unwrap();
    let order: Vec<&StreamId> = listed.iter().map(|info| &info.stream).collect();
    assert_eq!(order, [&ids[0], &ids[1], &ids[4], &ids[3], &ids[2]]);
    for info in &listed {
        assert_eq!(Some(info.head), log.head(&info.stream).await.unwrap());
    }
    let filters = [
        StreamFilter { class: Some(Class::Control), ..StreamFilter::default() },
        StreamFilter { project: Some(Token::slug("example")), ..StreamFilter::default() },
        StreamFilter {
            tenant: Some(Token::slug("local")),
            project: Some(Token::slug("another")),
            class: Some(Class::Session),
            ..StreamFilter::default()
        },
        StreamFilter { id: Some(Token::slug("listed")), ..StreamFilter::default() },
        StreamFilter::only(&ids[2]),
        StreamFilter::only(&ids[2].sibling(Class::Summary)),
        StreamFilter { tenant: Some(Token::slug("nobody")), ..StreamFilter::default() },
    ];
    for filter in filters {
        let expected: Vec<_> = listed.iter().filter(|info| filter.matches(&info.stream)).cloned().collect();
        assert_eq!(log.streams(&filter).await.unwrap(), expected, "{filter:?}");
    }
}

/// A head is the last event's number, hash and time, and is there as soon as the event is.
pub async fn heads_tell_the_last_event(backend: &dyn Backend) {
    let (log, stream) = (backend.open().await, example_stream("heads"));
    let mut maker = EventMaker::new(stream.clone(), 1);
    for size in [1, 4, 1] {
        let batch = maker.prompts(size);
        log.append(&batch).await.unwrap();
        let (head, last) = (log.head(&stream).await.unwrap().unwrap(), &batch[size - 1]);
        assert_eq!((head.seq, head.hash, head.at), (last.seq, last.hash().unwrap(), last.at));
    }
    assert_eq!(log.head(&example_stream("head")).await.unwrap(), None);
    assert_eq!(log.head(&stream.sibling(Class::Summary)).await.unwrap(), None);
}
