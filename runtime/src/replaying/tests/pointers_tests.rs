//! Results that point at earlier ones.

use crate::replaying::pointers::pointed_at;
use retrace_events::CallId;

#[test]
fn a_pointer_names_its_call() {
    let pointer =
        "[Unchanged: word for word what call toolu_01AB came to, 12 lines, which stand above in this conversation.]";
    assert_eq!(pointed_at(pointer), Some(CallId("toolu_01AB".to_owned())));
}

#[test]
fn words_like_a_pointer_are_none() {
    for text in [
        "",
        "[Unchanged: word for word what call  came to, 1 lines, which stand above in this conversation.]",
        "x [Unchanged: word for word what call a came to, 1 lines, which stand above in this conversation.]",
        "[Unchanged: word for word what call a came to, 1 lines, which stand above in this conversation.]\nmore",
    ] {
        assert_eq!(pointed_at(text), None, "{text}");
    }
}
