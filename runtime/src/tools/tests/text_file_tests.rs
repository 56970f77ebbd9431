//! Encodings: recognised, decoded, and back to the same bytes.

use crate::tools::text_file::{Encoding, LineEnds, NotText, TextFile, decode, detect};
use proptest::prelude::*;

#[test]
fn encodings_are_told_apart() {
    let table: [(&[u8], Result<Encoding, NotText>); 15] = [
        (b"", Ok(Encoding::Utf8)),
        (b"plain\n", Ok(Encoding::Utf8)),
        ("grün €".as_bytes(), Ok(Encoding::Utf8)),
        (b"\xEF\xBB\xBFtext", Ok(Encoding::Utf8Bom)),
        (b"\xFF\xFEa\0", Ok(Encoding::Utf16Le)),
        (b"\xFE\xFF\0a", Ok(Encoding::Utf16Be)),
        (b"gr\xFCn und blau", Ok(Encoding::Windows1252)),
        (b"\x93quoted\x94", Ok(Encoding::Windows1252)),
        (b"\x1B[32mgreen\x1B[0m\n", Ok(Encoding::Utf8)),
        (b"a\0b", Err(NotText::Binary)),
        (b"\x7FELF\x02\x01\x01\0", Err(NotText::Binary)),
        (b"\x01\x02\x03\x04", Err(NotText::Binary)),
        (b"\xFF\xFE\0\0a\0\0\0", Err(NotText::UnknownEncoding)),
        // Russian in KOI8-R: mostly high bytes.
        (b"\xF0\xD2\xC9\xD7\xC5\xD4 \xCD\xC9\xD2, \xCB\xC1\xCB \xC4\xC5\xCC\xC1", Err(NotText::UnknownEncoding)),
        // UTF-8 with one bad byte stays UTF-8.
        ("größer äöü".as_bytes(), Ok(Encoding::Utf8)),
    ];
    for (bytes, expected) in table {
        assert_eq!(detect(bytes, true), expected, "{bytes:?}");
    }
}

#[test]
fn a_sample_may_end_inside_a_character() {
    assert_eq!(detect("größe €".as_bytes().split_last().unwrap().1, false), Ok(Encoding::Utf8));
    assert_eq!(detect(b"gr\xC3\xBC\xC3", true), Ok(Encoding::Utf8), "cut off, but still rather UTF-8 than Latin-1");
}

#[test]
fn every_encoding_comes_back_as_the_same_bytes() {
    let files: [&[u8]; 6] = [
        b"a\r\nb\n",
        b"\xEF\xBB\xBFwith mark",
        b"\xFF\xFEh\0i\0\r\0\n\0\x3D\xD8\x80\xDE",
        b"\xFE\xFF\0h\0i\0\n",
        b"caf\xE9 and more \x80 \x81",
        b"",
    ];
    for bytes in files {
        let file = decode(bytes).unwrap();
        assert_eq!(file.encoding.encode(&file.text).unwrap(), bytes, "{file:?}");
    }
    let expected = TextFile { text: "hi\r\n🚀".to_owned(), encoding: Encoding::Utf16Le };
    assert_eq!(decode(files[2]).unwrap(), expected);
}

#[test]
fn what_would_be_lost_is_refused() {
    let invalid_utf8 =
        "größer als groß".replace('a', "\u{0}").into_bytes().into_iter().map(|b| if b == 0 { 0xFF } else { b });
    assert_eq!(decode(&invalid_utf8.collect::<Vec<_>>()), Err(NotText::Invalid("UTF-8")));
    let odd_length = b"\xFF\xFEa\0b";
    assert!(matches!(decode(odd_length), Err(NotText::Invalid(_))));
    let lone_surrogate = b"\xFF\xFE\x00\xD8a\0";
    assert!(matches!(decode(lone_surrogate), Err(NotText::Invalid(_))));
}

#[test]
fn a_character_that_has_no_bytes_is_named() {
    assert_eq!(Encoding::Windows1252.encode("naïve → list"), Err('→'));
    assert_eq!(Encoding::Windows1252.encode("naïve €"), Ok(b"na\xEFve \x80".to_vec()));
}

#[test]
fn line_ends_are_counted_and_said() {
    let table = [
        ("a\nb\n", 0, 2, "\n", None),
        ("a\r\nb\r\n", 2, 0, "\r\n", Some("CRLF line ends")),
        ("a\r\nb\nc\n", 1, 2, "\n", Some("mixed line ends (1 CRLF, 2 LF)")),
        ("a\rb", 0, 0, "\n", None),
    ];
    for (text, crlf, lf, dominant, label) in table {
        let ends = LineEnds::of(text);
        assert_eq!(ends, LineEnds { crlf, lf });
        assert_eq!((ends.dominant(), ends.label().as_deref()), (dominant, label), "{text:?}");
    }
}

proptest! {
    #[test]
    fn what_is_decoded_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(file) = decode(&bytes) {
            prop_assert_eq!(file.encoding.encode(&file.text), Ok(bytes));
        }
    }

    #[test]
    fn every_text_survives_unicode_encodings(text in "[^\u{0}-\u{1f}\u{7f}\u{feff}]{1,40}") {
        for encoding in [Encoding::Utf8, Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = encoding.encode(&text).unwrap();
            prop_assert_eq!(decode(&bytes), Ok(TextFile { text: text.clone(), encoding }));
        }
    }

    #[test]
    fn a_streaming_decoder_gives_the_same_text(text in "[a-zé€🦀\n]{1,60}", cut in 0_usize..80) {
        let bytes = Encoding::Utf16Be.encode(&text).unwrap();
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let mut decoder = Encoding::Utf16Be.decoder();
        let mut decoded = String::with_capacity(bytes.len() * 3);
        let _ = decoder.decode_to_string(first, &mut decoded, false);
        let _ = decoder.decode_to_string(second, &mut decoded, true);
        prop_assert_eq!(decoded, text);
    }
}
