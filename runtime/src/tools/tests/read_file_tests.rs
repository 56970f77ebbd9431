//! `read_file` through a real sandbox: ranges, encodings, binary files, long lines, bad paths.

use super::harness::{Bench, SECRET};
use expect_test::expect;
use serde_json::json;

#[tokio::test]
async fn lines_are_numbered_and_counted() {
    let bench = Bench::new().await;
    bench.file("a.txt", "one\n\ttwo\nthree\n");
    expect![[r#"
             1	one
             2		two
             3	three
        [3 lines]"#]]
    .assert_eq(&bench.ok("read_file", json!({"path": "a.txt"})).await);
    expect![[r#"
             2		two
        [lines 2 to 2 of 3; to go on: offset 3]"#]]
    .assert_eq(&bench.ok("read_file", json!({"path": "a.txt", "offset": 2, "limit": 1})).await);
    expect![[r#"
             3	three
        [lines 3 to 3 of 3]"#]]
    .assert_eq(&bench.ok("read_file", json!({"path": "./a.txt", "offset": 3})).await);
}

#[tokio::test]
async fn what_is_unusual_is_said() {
    let bench = Bench::new().await;
    let utf16: Vec<u8> = "\u{FEFF}grün\r\n🚀".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bench.file("utf16.txt", utf16);
    bench.file("latin1.txt", b"caf\xE9\nna\xEFve\n");
    bench.file("bom.txt", "\u{FEFF}text\n");
    bench.file("mixed.txt", "a\r\nb\n");
    bench.file(
        "damaged.txt",
        "größe\nschön \n"
            .replace(' ', "\0")
            .into_bytes()
            .iter()
            .map(|b| if *b == 0 { 0xFF } else { *b })
            .collect::<Vec<u8>>(),
    );
    bench.file("empty.txt", "");
    let table = [
        (
            "utf16.txt",
            "     1\tgrün\n     2\t🚀\n[2 lines; UTF-16 LE with byte order mark; CRLF line ends; no line end after the last line]",
        ),
        ("latin1.txt", "     1\tcafé\n     2\tnaïve\n[2 lines; not UTF-8; read as Windows-1252 (Latin-1)]"),
        ("bom.txt", "     1\ttext\n[1 line; UTF-8 with byte order mark]"),
        ("mixed.txt", "     1\ta\n     2\tb\n[2 lines; mixed line ends (1 CRLF, 1 LF)]"),
        (
            "damaged.txt",
            "     1\tgröße\n     2\tschön\u{FFFD}\n[2 lines; some bytes are not valid and shown as \u{FFFD}]",
        ),
        ("empty.txt", "[the file is empty]"),
    ];
    for (path, expected) in table {
        assert_eq!(bench.ok("read_file", json!({"path": path})).await, expected);
    }
}

#[tokio::test]
async fn binary_files_are_described() {
    let bench = Bench::new().await;
    bench.file("logo.bmp", b"BM\x1A\0\0\0\0\0\0\0\0\rIHDR");
    bench.file("koi8.txt", b"\xF0\xD2\xC9\xD7\xC5\xD4 \xCD\xC9\xD2, \xCB\xC1\xCB \xC4\xC5\xCC\xC1");
    expect![[r#"
        [binary file, 16 bytes: BMP image; its first bytes:]
        00000000  42 4d 1a 00 00 00 00 00 00 00 00 0d 49 48 44 52  BM..........IHDR"#]]
    .assert_eq(&bench.ok("read_file", json!({"path": "logo.bmp"})).await);
    let unknown = bench.ok("read_file", json!({"path": "koi8.txt"})).await;
    assert!(unknown.starts_with("[20 bytes, not UTF-8, and in an encoding that cannot be told"), "{unknown}");
}

#[tokio::test]
async fn large_files_are_shown_in_parts() {
    let bench = Bench::new().await;
    bench.file("many.txt", (1..=5000).map(|n| format!("line {n}\n")).collect::<String>());
    let text = bench.ok("read_file", json!({"path": "many.txt"})).await;
    assert!(
        text.ends_with("  2000\tline 2000\n[lines 1 to 2,000 of 5,000; to go on: offset 2001]"),
        "{}",
        &text[text.len() - 200..]
    );
    bench.file("wide.txt", format!("{}\n", "x".repeat(1_000)).repeat(100));
    let text = bench.ok("read_file", json!({"path": "wide.txt"})).await;
    assert!(
        text.len() < 49_000 && text.ends_with("[lines 1 to 47 of 100; to go on: offset 48]"),
        "{}",
        &text[text.len() - 200..]
    );
    bench.file("endless.txt", "ä".repeat(3_000_000));
    let text = bench.ok("read_file", json!({"path": "endless.txt"})).await;
    assert!(
        text.ends_with(" [line cut: 2,998,000 more characters]\n[1 line; no line end after the last line]"),
        "{}",
        &text[text.len() - 200..]
    );
}

#[tokio::test]
async fn a_file_of_many_blocks_is_counted_right() {
    let bench = Bench::new().await;
    let line = "0123456789abcdefghijklmnopqrstuvwxyzäöü\r\n";
    bench.file("big.txt", line.repeat(100_000));
    let text = bench.ok("read_file", json!({"path": "big.txt", "offset": 99_999})).await;
    let bare = line.trim_end();
    assert_eq!(text, format!(" 99999\t{bare}\n100000\t{bare}\n[lines 99,999 to 100,000 of 100,000; CRLF line ends]"));
}

#[tokio::test]
async fn bad_paths_are_explained() {
    let bench = Bench::new().await;
    bench.file("src/main.rs", "fn main() {}\n");
    bench.file("src/deep/config.toml", "");
    std::os::unix::fs::symlink("../outside.txt", bench.path("link")).unwrap();
    std::os::unix::fs::symlink("src/main.rs", bench.path("inner")).unwrap();
    let table = [
        ("src/mian.rs", "hint: did you mean src/main.rs?"),
        ("config.toml", "hint: did you mean src/deep/config.toml?"),
        ("quite/another/thing", "No such file"),
        ("src", "hint: only regular files can be read; for a folder use list_dir"),
        ("../outside.txt", "leads out of the workspace"),
        ("link", "leads out of the workspace"),
        ("/etc/passwd", "leads out of the workspace"),
        ("src/../../outside.txt", "leads out of the workspace"),
        ("src/main.rs/x", "main.rs/x"),
    ];
    for (path, expected) in table {
        let text = bench.fails("read_file", json!({"path": path})).await;
        assert!(text.contains(expected) && !text.contains("not yours"), "{path}: {text}");
    }
    assert!(bench.ok("read_file", json!({"path": "inner"})).await.contains("fn main"), "links inside are fine");
    let past = bench.fails("read_file", json!({"path": "src/main.rs", "offset": 7})).await;
    assert_eq!(past, "there is no line 7: src/main.rs has 1 line");
}

#[tokio::test]
async fn secrets_are_taken_out_and_numbers_stay_right() {
    let bench = Bench::new().await;
    let key = format!("-----BEGIN PRIVATE KEY-----\n{0}\n{0}\n-----END PRIVATE KEY-----", "QUJD".repeat(16));
    bench.file("a.txt", format!("password is {SECRET}\nbefore\n{key}\nafter\nlast\n"));
    let text = bench.ok("read_file", json!({"path": "a.txt"})).await;
    assert!(!text.contains(SECRET) && !text.contains("QUJDQUJD"), "{text}");
    assert!(
        text.contains("     1\tpassword is [redacted:known]\n     2\tbefore\n     3\t[redacted:private_key]"),
        "{text}"
    );
    assert!(text.ends_with("     8\tlast\n[8 lines]"), "{text}");
}

#[tokio::test]
async fn a_file_too_large_to_look_through_is_said() {
    let bench = Bench::new().await;
    bench.file("huge.txt", "line\n".repeat(20_000));
    // The rest is a hole: it reads as NUL and takes no space.
    let file = std::fs::File::options().write(true).open(bench.path("huge.txt")).unwrap();
    file.set_len(150 << 20).unwrap();
    let text = bench.ok("read_file", json!({"path": "huge.txt", "offset": 20_000, "limit": 2})).await;
    assert!(text.starts_with(" 20000\tline\n 20001\t␀␀␀"), "{}", &text[..60]);
    assert!(text.ends_with("\n[lines 20,000 to 20,001 of more than 20,001]"), "{}", &text[text.len() - 200..]);
    let text = bench.fails("read_file", json!({"path": "huge.txt", "offset": 20_002})).await;
    assert!(text.contains("lies beyond the first 134,217,728 bytes; use bash"), "{text}");
    let text = bench.fails("edit_file", json!({"path": "huge.txt", "old_string": "line", "new_string": "x"})).await;
    assert_eq!(text, "huge.txt is too large to edit (157,286,400 bytes); use bash (sed, or a script)");
}
