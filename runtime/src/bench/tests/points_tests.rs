//! Points: lists and choosing.

use super::super::points::{HISTORY_TOKENS, PointList, PointsError, choose};
use super::super::{BenchSession, ItemKind};
use super::{long, small};

fn list(json: &str) -> PointList {
    PointList::parse(json).unwrap()
}

#[test]
fn a_list_names_calls() {
    let session = small();
    let calls: Vec<usize> =
        (0..).zip(&session.items).filter(|(_, item)| item.kind == ItemKind::ToolCall).map(|(at, _)| at).collect();
    let (one, two) = (calls[3], calls[9]);
    let points = list(&format!("[[\"small\", {two}], [\"other\", 1], [\"small\", {one}], [\"small\", {one}]]"));
    assert_eq!(points.of(&session).unwrap(), [one, two]);
    assert_eq!(points.sessions().collect::<Vec<_>>(), ["other", "small"]);
    assert!(points.names("other") && !points.names("smal"));
    let mut kept = points;
    kept.keep(["small", "nothing"].into_iter());
    assert_eq!(kept.sessions().collect::<Vec<_>>(), ["small"]);
}

#[test]
fn what_is_no_call_is_named() {
    for at in [0, 100_000] {
        let error = list(&format!("[[\"small\", {at}]]")).of(&small()).unwrap_err();
        assert_eq!(error.to_string(), format!("session small has no call at {at}"));
    }
    // Sessions that it does not name have no points.
    let other = BenchSession { id: "other".to_owned(), items: Vec::new() };
    assert_eq!(list("[[\"small\", 0]]").of(&other).unwrap(), Vec::<usize>::new());
}

#[test]
fn what_is_no_list_is_refused() {
    for json in ["", "{}", "[1]", "[[1, 2]]", "[[\"a\"]]", "[[\"a\", -1]]", "[[\"a\", 1, 2]]"] {
        assert!(matches!(PointList::parse(json), Err(PointsError::Format(_))), "{json}");
    }
    assert!(matches!(PointList::parse("[]"), Err(PointsError::Empty)));
}

#[test]
fn chosen_are_edits_and_others_behind_much_history() {
    let session = long("a");
    let chosen = choose(&session, 7);
    let before = |at: usize| session.items[..at].iter().map(|item| item.tokens).sum::<u64>();
    assert!(chosen.len() > 10 && chosen.is_sorted());
    for at in &chosen {
        assert!(session.items[*at].kind == ItemKind::ToolCall && before(*at) > HISTORY_TOKENS, "{at}");
    }
    let edits = chosen.iter().filter(|at| !session.items[**at].replaced().is_empty()).count();
    assert!((1..=40).contains(&edits) && chosen.len() - edits <= 10, "{edits} of {}", chosen.len());
    assert_eq!(choose(&session, 7), chosen);
    assert_ne!(choose(&session, 8), chosen);
    assert_eq!(choose(&small(), 7), Vec::<usize>::new());
}
