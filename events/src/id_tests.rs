//! Names: what is taken, what is refused, and that whatever is taken is written and read back the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::hash::Hash;
use proptest::prelude::*;

fn is_token(text: &str) -> bool {
    (1..=64).contains(&text.chars().count()) && text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-'))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_token_is_taken_exactly_when_it_needs_no_quoting(text in prop_oneof!["\\PC{0,70}", "[a-z0-9_-]{0,70}", "[a-z.*>/ A-Z]{1,5}"]) {
        match Token::new(&text) {
            Ok(token) => {
                prop_assert!(is_token(&text));
                prop_assert_eq!(token.as_str(), &text);
                prop_assert_eq!(token.to_string(), text);
            }
            Err(error) => {
                prop_assert!(!is_token(&text));
                prop_assert!(error.text.chars().count() <= 80);
            }
        }
    }

    #[test]
    fn any_text_has_a_slug_and_a_token_is_its_own(text in "\\PC{0,100}", token in "[a-z0-9_-]{1,64}") {
        let slug = Token::slug(&text);
        prop_assert!(is_token(slug.as_str()), "{}", slug);
        prop_assert_eq!(Token::slug(slug.as_str()), slug);
        let slug = Token::slug(&token);
        prop_assert_eq!(slug.as_str(), token.as_str());
    }

    #[test]
    fn a_stream_is_read_back_from_its_subject(parts in proptest::array::uniform3("[a-z0-9_-]{1,64}"), class in 0_usize..4) {
        let class = [Class::Session, Class::Control, Class::Summary, Class::Job][class];
        let [tenant, project, id] = parts.map(|part| Token::new(&part).unwrap());
        let stream = StreamId { tenant, project, class, id };
        prop_assert_eq!(stream.subject().parse::<StreamId>().unwrap(), stream.clone());
        prop_assert_eq!(stream.to_string(), stream.subject());
        let json = serde_json::to_string(&stream).unwrap();
        prop_assert_eq!(serde_json::from_str::<StreamId>(&json).unwrap(), stream);
    }

    #[test]
    fn no_other_text_is_a_stream(text in prop_oneof!["\\PC{0,80}", "ev([.][a-z]{0,8}){0,6}", "[a-z]{2}[.]a[.]b[.]session[.]c[.*>]?"]) {
        if let Ok(stream) = text.parse::<StreamId>() {
            prop_assert_eq!(stream.subject(), text);
        }
    }

    #[test]
    fn ids_and_hashes_are_read_back(number: u128, bytes: [u8; 32], text in "\\PC{0,70}") {
        let id = EventId(Uuid::from_u128(number));
        prop_assert_eq!(id.to_string().parse::<EventId>().unwrap(), id);
        let hash = Hash::from_bytes(bytes);
        let hex = hash.to_string();
        prop_assert_eq!(hex.parse::<Hash>().unwrap(), hash);
        prop_assert!(hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
        prop_assert_eq!(&hash.short(), &hex[..8]);
        // Foreign text is refused, and never panics.
        if text.parse::<Hash>().is_ok() {
            prop_assert_eq!(text.len(), 64);
        }
        if let Ok(id) = text.parse::<EventId>() {
            prop_assert!(text.to_lowercase().contains(&id.to_string()[..8]));
        }
    }

    #[test]
    fn any_moment_is_shown_and_known_ones_in_utc(ms: u64, known in 0..253_402_207_200_000_u64) {
        prop_assert!(!Timestamp(ms).to_string().is_empty());
        let shown = Timestamp(known).to_string();
        let read: jiff::Timestamp = shown.parse().unwrap();
        prop_assert_eq!(u64::try_from(read.as_millisecond()).unwrap(), known);
        prop_assert!(shown.ends_with('Z'));
    }

    #[test]
    fn time_between_two_moments_is_never_negative(one: u64, other: u64) {
        let (early, late) = (Timestamp(one.min(other)), Timestamp(one.max(other)));
        prop_assert_eq!(late.since_ms(early), one.abs_diff(other));
        prop_assert!(one == other || early.since_ms(late) == 0);
    }
}

#[test]
fn names_that_would_reach_elsewhere_are_refused() {
    for text in ["", ".", "..", "a.b", "*", ">", "a/b", "a b", "A", "ä", "a\0", "a\n", &"a".repeat(65)] {
        assert!(Token::new(text).is_err(), "{text:?}");
        assert!(serde_json::from_str::<Token>(&serde_json::to_string(text).unwrap()).is_err(), "{text:?}");
    }
    for text in ["ev.a.b.session", "ev.a.b.session.c.d", "ex.a.b.session.c", "ev.a.b.sessions.c", "ev.a.*.session.c"] {
        assert!(text.parse::<StreamId>().is_err(), "{text}");
    }
}

#[test]
fn a_refusal_names_what_was_meant_and_cuts_what_was_given() {
    let error = Token::new(&"Ü".repeat(1_000)).unwrap_err();
    assert_eq!(error.text.chars().count(), 80);
    assert!(error.to_string().contains("is not a valid name"), "{error}");
    let error = "session-1".parse::<Class>().unwrap_err();
    assert!(error.to_string().contains("session, control, summary, job"), "{error}");
}

#[test]
fn every_class_has_a_word_of_its_own() {
    let classes = [Class::Session, Class::Control, Class::Summary, Class::Job];
    for class in classes {
        assert_eq!(class.as_str().parse::<Class>().unwrap(), class);
        let json = serde_json::to_string(&class).unwrap();
        assert_eq!(json, format!("{:?}", class.as_str()));
        let stream = crate::testing::example_stream("one").sibling(class);
        assert_eq!((stream.class, stream.id.as_str()), (class, "one"));
    }
}

#[test]
fn a_known_moment_is_written_as_people_expect() {
    assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
    assert_eq!(Timestamp(1_767_225_600_007).to_string(), "2026-01-01T00:00:00.007Z");
    assert_eq!(Timestamp(u64::MAX).to_string(), format!("{} ms", u64::MAX));
}
