//! Paths cross the wire byte for byte.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn any_path_survives(bytes in prop::collection::vec(1u8.., 0..100)) {
        let path = RawPath::from(PathBuf::from(OsString::from_vec(bytes)));
        let json = serde_json::to_string(&path).unwrap();
        prop_assert_eq!(serde_json::from_str::<RawPath>(&json).unwrap(), path);
    }
}

#[test]
fn ordinary_paths_stay_readable() {
    assert_eq!(serde_json::to_string(&RawPath::from("src/größe.rs")).unwrap(), r#""src/größe.rs""#);
    let odd = RawPath::from(PathBuf::from(OsString::from_vec(vec![b'a', 0xff])));
    assert_eq!(serde_json::to_string(&odd).unwrap(), r#"{"hex":"61ff"}"#);
}

#[test]
fn bad_hex_is_refused() {
    for bad in [r#"{"hex":"6"}"#, r#"{"hex":"zz"}"#, r#"{"hex":"é0"}"#, "7", "null"] {
        assert!(serde_json::from_str::<RawPath>(bad).is_err(), "{bad}");
    }
}
