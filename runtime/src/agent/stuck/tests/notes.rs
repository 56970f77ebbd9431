//! What the model and people are told.

use super::{detect, turn};
use expect_test::expect;

const TURNS: &[&str] = &[
    "A A A",
    "A A A A",
    "A! A!",
    "A+B+C A+B+C A+B+C A+B+C",
    "hm: hm:",
    "hm:A hm:A hm:A",
    "A B A B A",
    "A B C A B C A B C",
    "A r1 A r2 A r3 A",
    "A B C D E A B C D E A B",
    "a! b! c! d! e! f! g! h! i! j! k!",
    "A B C r1 A B C r2 A B C r3 A B C r4 A B C r5 A B",
];

#[test]
fn notes_say_what_repeats_how_often_and_what_to_do_instead() {
    let mut said = String::new();
    for steps in TURNS {
        let stuck = detect(turn(steps).iter()).expect("nothing was found");
        assert!(!stuck.note.contains('\n'));
        said.push_str(&format!("{} {}: {}\n", if stuck.stop { "stop" } else { "warn" }, stuck.rule, stuck.note));
    }
    expect![[r#"
        warn same_call: `bash` {"command":"A"} came 3 times in a row with the same result; if this goes on, the turn is ended. hint: the result is known; change something first, do something else, or end the turn
        stop same_call: `bash` {"command":"A"} came 4 times in a row with the same result, and the model had been warned. hint: the result is known; change something first, do something else, or end the turn
        warn same_error: `bash` {"command":"A"} failed 2 times in a row in the same way; if this goes on, the turn is ended. hint: read the error, change the call or what it depends on, or say what is missing
        stop same_call: `bash` {"command":"A"} and 2 more came 4 times in a row with the same result, and the model had been warned. hint: the result is known; change something first, do something else, or end the turn
        warn same_words: the same words came 2 times in a row, without a call; if this goes on, the turn is ended. hint: do the next step, or end the turn with what there is
        stop same_words: the same words came 3 times in a row, with the same call and result, and the model had been warned. hint: do the next step, or end the turn with what there is
        warn alternation: two steps take turns, 5 steps by now; the newest is `bash` {"command":"A"}; if this goes on, the turn is ended. hint: neither brings anything new; find out why and try a third way, or say what is missing
        stop cycle: three steps take turns, 9 steps by now; the newest is `bash` {"command":"C"}, and the model had been warned. hint: none of them brings anything new; find out why and try another way, or say what is missing
        warn often_again: `bash` {"command":"A"} came 4 times in the last 10 steps with the same result; if this goes on, the turn is ended. hint: the result is known; change something before doing it again
        warn no_progress: 7 steps in a row only repeated what was done before, with the same results; if this goes on, the turn is ended. hint: use what is known already, try another way, or say what is missing
        warn only_errors: every call failed in 11 steps in a row; if this goes on, the turn is ended. hint: go back to something that works, or say what is missing
        warn reading_again: 14 of the last 20 steps only repeated what was done before, and nothing was changed; if this goes on, the turn is ended. hint: use what was read already, make the change, or say what is missing
    "#]].assert_eq(&said);
}
