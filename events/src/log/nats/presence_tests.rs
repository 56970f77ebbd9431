//! Two that come at the same time, with one of them played by the test: what lies between two messages cannot be hit from
//! outside.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::super::{NatsLog, NatsOptions};
use super::*;
use crate::testing::{NatsServer, example_stream};
use async_nats::ConnectOptions;

/// The other one, who hears nothing of its own.
struct Other {
    client: Client,
    questions: Subscriber,
    subject: Subject,
    answers: Subscriber,
    inbox: String,
}

impl Other {
    /// It listens already.
    async fn listening(server: &NatsServer, subject: &Subject) -> Self {
        let client = ConnectOptions::new().no_echo().connect(server.url()).await.unwrap();
        let questions = client.subscribe(subject.clone()).await.unwrap();
        let inbox = client.new_inbox();
        let answers = client.subscribe(inbox.clone()).await.unwrap();
        let other = Self { client, questions, subject: subject.clone(), answers, inbox };
        // What was sent before this is answered has arrived.
        assert!(other.hears_nobody().await);
        other
    }

    async fn hears_nobody(&self) -> bool {
        let asked = self.client.request(self.subject.clone(), "{}".into()).await;
        asked.is_err_and(|e| e.kind() == RequestErrorKind::NoResponders)
    }

    /// The number in the next question.
    async fn asked(&mut self) -> (Question, Subject) {
        let message = self.questions.next().await.unwrap();
        (parsed(&message).unwrap(), message.reply.unwrap())
    }

    async fn ask(&self, number: u64, listens: bool) {
        let question = encoded(&Question { number, listens });
        self.client.publish_with_reply(self.subject.clone(), self.inbox.clone(), question).await.unwrap();
    }

    async fn answer(&self, reply: Subject, answer: &Answer) {
        self.client.publish(reply, encoded(answer)).await.unwrap();
    }

    async fn told(&mut self) -> Answer {
        let message = tokio::time::timeout(Duration::from_secs(20), self.answers.next()).await;
        parsed(&message.expect("it is told").unwrap()).unwrap()
    }
}

async fn bench(name: &str) -> (NatsServer, NatsLog, Subject) {
    let server = NatsServer::start();
    let log = NatsLog::connect(&NatsOptions::new(&server.url())).await.unwrap();
    (server, log, Subject::from(format!("retrace.holder.{}", example_stream(name).subject())))
}

fn somebody(pid: u32) -> Holder {
    Holder { host: "elsewhere".to_owned(), pid, ..Holder::default() }
}

#[tokio::test]
async fn the_larger_number_gives_way_before_it_says_so() {
    let (server, log, subject) = bench("larger").await;
    for number in [7, 500] {
        let mut other = Other::listening(&server, &subject).await;
        let settling = log.remote.settle(&subject, 500);
        let playing = async {
            let (question, _) = other.asked().await;
            assert!(question.listens && question.number == 500);
            other.ask(number, true).await;
            // Once this comes, nobody listens but the one who is told.
            assert!(matches!(other.told().await, Answer::Free));
            assert!(other.hears_nobody().await);
        };
        let (settled, ()) = tokio::join!(settling, playing);
        assert!(matches!(settled, Ok(Settled::Again)), "{settled:?}");
    }
}

#[tokio::test]
async fn the_smaller_number_gives_way_to_nobody_and_answers_when_it_knows() {
    let (server, log, subject) = bench("smaller").await;
    let mut other = Other::listening(&server, &subject).await;
    let settling = log.remote.settle(&subject, 500);
    let playing = async {
        let (_, reply) = other.asked().await;
        other.ask(501, true).await;
        // One that only wants to know is no reason either, whatever its number.
        other.ask(1, false).await;
        // The other gives way, and as long as it has not said so, nothing is decided.
        assert!(futures::FutureExt::now_or_never(other.answers.next()).is_none());
        other.questions.unsubscribe().await.unwrap();
        other.answer(reply, &Answer::Free).await;
    };
    let (settled, ()) = tokio::join!(settling, playing);
    let Ok(Settled::Ours(questions, waiting)) = settled else { panic!("{settled:?}") };
    assert_eq!(waiting.len(), 2);
    let (leave, left) = oneshot::channel();
    let answer = encoded(&Answer::Held(somebody(1)));
    let answering = tokio::spawn(hold_until_left(log.remote.client.clone(), questions, waiting, answer, left));
    for _ in 0..2 {
        assert!(matches!(other.told().await, Answer::Held(holder) if holder == somebody(1)));
    }
    drop(leave);
    answering.await.unwrap();
    assert!(other.hears_nobody().await);
}

#[tokio::test]
async fn a_holder_that_is_found_at_the_second_question_is_believed() {
    let (server, log, subject) = bench("second").await;
    let mut other = Other::listening(&server, &subject).await;
    let settling = log.remote.settle(&subject, 500);
    let playing = async {
        let (_, reply) = other.asked().await;
        // One who waits for us is sent on.
        other.ask(900, true).await;
        other.client.flush().await.unwrap();
        tokio::task::yield_now().await;
        other.answer(reply, &Answer::Held(somebody(2))).await;
        assert!(matches!(other.told().await, Answer::Free));
    };
    let (settled, ()) = tokio::join!(settling, playing);
    assert!(matches!(&settled, Ok(Settled::Held(holder)) if *holder == somebody(2)), "{settled:?}");
}

#[tokio::test]
async fn one_who_dies_while_it_is_waited_for_is_not_waited_for_long() {
    let (server, log, subject) = bench("dies").await;
    let mut other = Other::listening(&server, &subject).await;
    let settling = log.remote.settle(&subject, 500);
    let started = Instant::now();
    let playing = async {
        let _ = other.asked().await;
        drop(other);
    };
    let (settled, ()) = tokio::join!(settling, playing);
    assert!(matches!(settled, Ok(Settled::Ours(..))), "{settled:?}");
    assert!(started.elapsed() < 4 * ANSWER, "{:?}", started.elapsed());
}
