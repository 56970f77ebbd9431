//! Rust text with its comments and the insides of its strings blanked out, at the same offsets, so that a rule about
//! code does not trip over prose. A lexer for just that; it does not parse.

/// `text` with comments and string contents replaced by spaces; newlines stay, so offsets and lines do too.
pub(crate) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = at + token_len(rest, at.checked_sub(1).map(|before| bytes[before]));
        let is_prose = rest.starts_with(b"//") || rest.starts_with(b"/*") || end - at > 1;
        if is_prose {
            for byte in &mut out[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        at = end;
    }
    String::from_utf8(out).expect("whole characters were blanked")
}

/// `code` (already masked) with every item behind `#[cfg(test)]` blanked as well.
pub(crate) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = code.to_owned();
    while let Some(start) = out.find(MARK) {
        let end = item_end(out.as_bytes(), start + MARK.len());
        let blank: String = out[start..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        out.replace_range(start..end, &blank);
    }
    out
}

/// Where the item that begins at `start` ends: behind its `;`, or the brace that closes it (a `;` may be left over).
fn item_end(code: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.iter().enumerate().skip(start) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' if depth <= 1 => return offset + 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => return offset + 1,
            _ => {}
        }
    }
    code.len()
}

/// The length of the comment or literal that `rest` begins with, or 1 for any other byte.
fn token_len(rest: &[u8], before: Option<u8>) -> usize {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match rest[0] {
        b'/' if rest.starts_with(b"//") => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        b'/' if rest.starts_with(b"/*") => block_comment_len(rest),
        b'"' => string_len(rest),
        b'r' if !before.is_some_and(|byte| is_word(byte) && byte != b'b' && byte != b'c') => {
            raw_string_len(rest).unwrap_or(1)
        }
        b'\'' => char_len(rest),
        _ => 1,
    }
}

fn block_comment_len(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string_len(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw_string_len(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    (rest.get(1 + hashes) == Some(&b'"')).then(|| {
        let mut close = vec![b'"'];
        close.resize(1 + hashes, b'#');
        let body = &rest[2 + hashes..];
        let end = body.windows(close.len()).position(|window| window == close).unwrap_or(body.len());
        (2 + hashes + end + close.len()).min(rest.len())
    })
}

/// A character literal, or 1 for a lifetime.
fn char_len(rest: &[u8]) -> usize {
    if rest.get(1) == Some(&b'\\') {
        return rest.iter().skip(3).position(|byte| *byte == b'\'').map_or(1, |end| end + 4);
    }
    // One character of up to four bytes, then the closing quote; a lifetime has none there.
    let width = match rest.get(1) {
        Some(byte) if *byte < 0x80 => 1,
        Some(byte) if *byte < 0xe0 => 2,
        Some(byte) if *byte < 0xf0 => 3,
        _ => 4,
    };
    if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 1 }
}

#[test]
fn prose_is_blanked_and_code_is_not() {
    let check = |text: &str, expected: &str| {
        let masked = code(text);
        assert_eq!(masked.len(), text.len(), "offsets of {text}");
        assert_eq!(masked.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
    };
    check("a(); // .unwrap()\nb()", "a(); b()");
    check("a /* x /* y */ z */ b", "a b");
    check(r#"f("a \" .unwrap()", 'x', '\'', b"z") + g"#, "f( , , , b ) + g");
    check(r##"f(r#"a " b"#, r"c\", br"d") + g"##, "f( , , b ) + g");
    check("fn f<'a>(x: &'a str) -> Vec<'a, '_> { 'ä' }", "fn f<'a>(x: &'a str) -> Vec<'a, '_> { }");
    check("for r in bar { r.b(\"//\") } // c", "for r in bar { r.b( ) }");
    check("\"open", "");
}

#[test]
fn test_items_are_blanked_to_their_end() {
    let check = |text: &str, expected: &str| {
        let left = without_tests(text);
        assert_eq!(left.len(), text.len());
        assert_eq!(left.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
    };
    check("a #[cfg(test)] mod tests { fn x() { y([1]) } } b", "a b");
    check("#[cfg(test)]\nmod foo_tests;\nfn b() {}", "fn b() {}");
    check("#[cfg(test)] #[path = x] use a::{b, c}; d", "; d");
}
