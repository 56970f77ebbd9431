//! Contexts composed afresh.

use super::super::happening::{Happening, Speaker};
use super::super::working_set::WorkingSet;
use super::{lines_of, read, say, work};
use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

fn set() -> WorkingSet {
    let mut set = WorkingSet::with_names();
    set.take(&Happening::Said { by: Speaker::User, text: "make Alpha_Part faster" });
    read(&mut set, "src/alpha.rs", &lines_of("alpha", 12));
    work(
        &mut set,
        "Read",
        &json!({ "file_path": "/work/here/src/beta.rs", "offset": 7 }),
        "     7\tfn beta() {\n     8\t}\n",
    );
    work(&mut set, "Bash", &json!({ "command": "ls src/gamma.rs", "x": "/else/where.rs" }), "src/gamma.rs is 3 kB");
    say(&mut set, "Next is alpha_11 and beta.rs:7.");
    set
}

#[test]
fn all_parts_are_there() {
    expect![[r#"
        names: else/where.rs
        ----
        ## /work/here/src/beta.rs
        @7
        fn beta() {
        }
        ## src/alpha.rs
        @1
        let alpha_1 = compute_alpha(1);
        let alpha_2 = compute_alpha(2);
        let alpha_3 = compute_alpha(3);
        let alpha_4 = compute_alpha(4);
        let alpha_5 = compute_alpha(5);
        let alpha_6 = compute_alpha(6);
        let alpha_7 = compute_alpha(7);
        let alpha_8 = compute_alpha(8);
        let alpha_9 = compute_alpha(9);
        let alpha_10 = compute_alpha(10);
        let alpha_11 = compute_alpha(11);
        let alpha_12 = compute_alpha(12);
        ----
        [0] user: make Alpha_Part faster
        [1] read src/alpha.rs
        [3] read src/beta.rs 7
        [5] $ ls src/gamma.rs
        [6] -> src/gamma.rs is 3 kB
        [7] Next is alpha_11 and beta.rs:7."#]]
    .assert_eq(&set().composed(300).join("\n----\n"));
}

#[test]
fn without_names_none_are_counted() {
    let mut set = WorkingSet::default();
    say(&mut set, "some_name");
    assert_eq!(set.composed(100), ["[0] some_name"]);
    assert_eq!(WorkingSet::with_names().composed(100), Vec::<String>::new());
}

proptest! {
    #[test]
    fn a_context_has_its_room(budget in 0..1_500_u64) {
        let parts = set().composed(budget);
        let tokens: u64 = parts.iter().map(|part| part.len() as u64 / 4 + 1).sum();
        prop_assert!(tokens <= budget, "{tokens} of {budget}: {parts:?}");
        prop_assert_eq!(parts, set().composed(budget));
    }
}
