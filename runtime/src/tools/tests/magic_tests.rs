//! Kinds of binary files, and their hexadecimal head.

use crate::tools::magic::{hex_head, kind};
use expect_test::expect;

#[test]
fn kinds_are_known_by_their_first_bytes() {
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let table: [(&[u8], &str); 7] = [
        (b"\x89PNG\r\n\x1A\n\0\0", "PNG image"),
        (b"\x7FELF\x02", "ELF executable, library or object file"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "WebP image"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "RIFF data (WAV, AVI)"),
        (b"\0\0\0\x18ftypmp42", "MP4 video"),
        (&tar, "tar archive"),
        (b"\x01\x02", "unknown kind"),
    ];
    for (bytes, expected) in table {
        assert_eq!(kind(bytes), expected);
    }
    assert_eq!(kind(b""), "unknown kind");
}

#[test]
fn a_head_is_64_bytes_in_rows_of_16() {
    let bytes: Vec<u8> = (0..=255).collect();
    let dump = hex_head(&bytes);
    expect![[r##"
        00000000  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  ................
        00000010  10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f  ................
        00000020  20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e 2f   !"#$%&'()*+,-./
        00000030  30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f  0123456789:;<=>?"##]]
    .assert_eq(&dump);
    assert_eq!(hex_head(b"a\xFF"), format!("00000000  61 ff{}  a.", " ".repeat(42)));
    assert_eq!(hex_head(b""), "");
}
