//! Epochs as they are sent, one request after the other.

use super::super::arms::{Arm, Ask, all_arms};
use super::super::{BenchSession, Body, Composed, ItemKind};
use super::{call, item, result, session, user};
use serde_json::json;

const BUDGET: u64 = 1_000;

fn arm() -> Box<dyn Arm> {
    all_arms().into_iter().find(|arm| arm.name() == "epochs").unwrap()
}

/// Files are read, tested and edited, again and again.
fn work(rounds: usize) -> BenchSession {
    let mut items = vec![user("make every module faster")];
    for round in 0..rounds {
        let path = format!("/work/src/m{}.rs", round % 5);
        let lines: String =
            (1..60).map(|n| format!("{n:>6}\tlet m{}_{n} = compute_{n}(input);\n", round % 5)).collect();
        items.push(item(ItemKind::Thinking, &format!("Round {round}: compute_{} is slow.", round % 50)));
        items.push(call("Read", &path, &json!({ "file_path": path })));
        items.push(result("Read", &path, &lines));
        items.push(item(ItemKind::Assistant, "I test it."));
        items.push(call("Bash", "", &json!({ "command": format!("cargo test m{round}") })));
        items.push(result("Bash", "", &format!("test {round} is well\n").repeat(40)));
    }
    session(items)
}

fn texts(session: &BenchSession, composed: &Composed<'_>) -> Vec<String> {
    let text = |body: &Body<'_>| match body {
        Body::Item(at) => session.items[*at].text.clone(),
        Body::Text(text) => text.clone().into_owned(),
    };
    composed.pieces.iter().map(|piece| text(&piece.body)).collect()
}

/// What each request of the session holds.
fn sent(session: &BenchSession) -> Vec<Vec<String>> {
    let arm = arm();
    let mut composer = arm.open(session);
    let ask = |at| Ask { at, budget_tokens: BUDGET, sends: true };
    session.requests().iter().map(|request| texts(session, &composer.compose(ask(request.at)))).collect()
}

#[test]
fn a_tail_only_grows_until_a_fresh_epoch_begins() {
    let played = work(60);
    let sent = sent(&played);
    let grows = sent.windows(2).filter(|pair| pair[1].starts_with(&pair[0])).count();
    let fresh = sent.windows(2).filter(|pair| pair[0].first() != pair[1].first()).count();
    assert_eq!(grows + fresh, sent.len() - 1, "it grows or begins afresh, and nothing else");
    assert!(fresh >= 3 && grows > 3 * fresh, "{fresh} fresh, {grows} grown");
    let tokens = |texts: &[String]| texts.iter().map(|text| text.len() / 4 + 1).sum::<usize>();
    assert!(sent.iter().all(|texts| tokens(texts) <= 2_000), "{:?}", sent.iter().map(|it| tokens(it)).max());
}

#[test]
fn what_the_model_said_stands_word_for_word_and_a_file_is_not_repeated() {
    let played = work(3);
    let last = sent(&played).pop().unwrap();
    assert!(last.iter().any(|text| text.starts_with("Round 2: compute_2")), "{last:?}");
    // A file that is read again says only that it stands above.
    let path = "/work/src/m0.rs";
    let lines: String = (1..9).map(|n| format!("{n:>6}\tlet a_{n} = {n};\n")).collect();
    let read = || [call("Read", path, &json!({ "file_path": path })), result("Read", path, &lines)];
    let mut items = vec![user("look"), item(ItemKind::Assistant, "I look.")];
    items.extend(read());
    items.push(item(ItemKind::Assistant, "Again."));
    items.extend(read());
    items.push(item(ItemKind::Assistant, "And again."));
    let played = session(items);
    let all = sent(&played).concat();
    assert!(all.contains(&format!("unchanged, stands above: {path}")), "{all:?}");
}

#[test]
fn a_cold_cache_is_a_good_moment_to_begin_afresh() {
    let begins = |pause_ms: u64| {
        let mut played = work(8);
        let pause = played.items.len() / 2;
        played.items.iter_mut().skip(pause).for_each(|item| item.at_ms += pause_ms);
        let sent = sent(&played);
        sent.windows(2).filter(|pair| pair[0].first() != pair[1].first()).count()
    };
    assert!(begins(6 * 60 * 1_000) >= begins(0), "{} {}", begins(6 * 60 * 1_000), begins(0));
    let short = |pause_ms: u64| {
        let mut played = work(3);
        played.items.push(item(ItemKind::Assistant, "Well."));
        played.items.push(user("go on"));
        played.items.push(item(ItemKind::Assistant, "Yes."));
        let end = played.items.len();
        for (place, item) in played.items.iter_mut().enumerate() {
            item.at_ms = 1_000 * place as u64 + if place + 2 >= end { pause_ms } else { 0 };
        }
        let sent = sent(&played);
        sent[sent.len() - 2].first() != sent[sent.len() - 1].first()
    };
    assert!(short(6 * 60 * 1_000) && !short(4 * 60 * 1_000));
}

#[test]
fn who_only_looks_changes_nothing() {
    let played = work(30);
    let arm = arm();
    let mut composer = arm.open(&played);
    let mut looked = Vec::new();
    for request in played.requests() {
        let ask = |at, sends| Ask { at, budget_tokens: BUDGET, sends };
        looked.push(texts(&played, &composer.compose(ask(request.at, true))));
        drop(composer.compose(ask(request.at + 1, false)));
    }
    assert_eq!(looked, sent(&played));
}
