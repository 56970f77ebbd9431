//! Raw objects keep every byte of every value.

use proptest::prelude::*;
use serde_json::Value;

use crate::claude::raw::{RawFields, quoted};

fn rewrite(json: &str) -> String {
    let fields: RawFields = serde_json::from_str(json).unwrap();
    let mut out = String::new();
    fields.write(&mut out);
    out
}

#[test]
fn values_stay_as_they_were_spelled() {
    for json in [
        "{}",
        r#"{"a":1e3,"b":-0.0,"c":100000000000000000000000000,"d":1.10}"#,
        r#"{"z":[1 , 2],"a":{ "y" : null },"m":"A\/"}"#,
        r#"{"":"","é":"🦀"}"#,
        r#"{"deep":[[[[[[[[[[{"x":[]}]]]]]]]]]]}"#,
    ] {
        assert_eq!(rewrite(json), json);
    }
    assert_eq!(rewrite(" {\n\"a\" : 1 ,\t\"b\":2 } "), r#"{"a":1,"b":2}"#, "only the space between fields goes");
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(rewrite(&deep), deep, "no depth makes it overflow");
}

#[test]
fn fields_are_found_set_in_place_and_added() {
    let mut fields: RawFields = serde_json::from_str(r#"{"a":"x","b":5,"a":"y"}"#).unwrap();
    assert_eq!((fields.get("a"), fields.get("b"), fields.get("c")), (Some("\"y\""), Some("5"), None));
    assert_eq!((fields.text("a").as_deref(), fields.text("b"), fields.text("c")), (Some("y"), None, None));
    fields.set("a", "[ ]".to_owned());
    fields.set("c", "null".to_owned());
    let mut out = String::new();
    fields.write(&mut out);
    assert_eq!(out, r#"{"a":[ ],"b":5,"c":null}"#);
}

#[test]
fn what_is_no_object_is_refused() {
    for json in ["", "[]", "1", "null", "\"{}\"", "{", "{}{}", "{a:1}", r#"{"a":}"#, r#"{"a":1,}"#, r#"{"a":01}"#] {
        assert!(serde_json::from_str::<RawFields>(json).is_err(), "{json}");
    }
}

proptest! {
    #[test]
    fn the_meaning_never_changes(pairs in prop::collection::vec(("[a-e]{1,2}", "[ -~é🦀\n\"\\\\]{0,12}", any::<i64>()), 0..6)) {
        let members: Vec<String> =
            pairs.iter().map(|(key, text, number)| format!("{} : [{},{number}]", quoted(key), quoted(text))).collect();
        let json = format!("{{{}}}", members.join(" , "));
        let written = rewrite(&json);
        let (before, after): (Value, Value) = (serde_json::from_str(&json).unwrap(), serde_json::from_str(&written).unwrap());
        prop_assert_eq!(before, after);
        prop_assert_eq!(rewrite(&written), written);
    }
}
