//! What a binary file probably is, by its first bytes, and how those look.

/// The kinds of file that agents meet in code bases, by the bytes they begin with and at which offset.
const KINDS: &[(usize, &[u8], &str)] = &[
    (0, b"\x7FELF", "ELF executable, library or object file"),
    (0, b"\x89PNG\r\n\x1A\n", "PNG image"),
    (0, b"\xFF\xD8\xFF", "JPEG image"),
    (0, b"GIF8", "GIF image"),
    (0, b"BM", "BMP image"),
    (8, b"WEBP", "WebP image"),
    (0, b"\0\0\x01\0", "Windows icon"),
    (0, b"%PDF-", "PDF document"),
    (0, b"PK\x03\x04", "zip archive (also jar, docx, xlsx, wheel)"),
    (0, b"\x1F\x8B", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xFD7zXZ\0", "xz data"),
    (0, b"\x28\xB5\x2F\xFD", "zstd data"),
    (0, b"7z\xBC\xAF\x27\x1C", "7-Zip archive"),
    (257, b"ustar", "tar archive"),
    (0, b"!<arch>\n", "ar archive (static library or Debian package)"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"\xCA\xFE\xBA\xBE", "Java class or Mach-O universal binary"),
    (0, b"\xCF\xFA\xED\xFE", "Mach-O binary"),
    (0, b"MZ", "Windows executable"),
    (0, b"OggS", "Ogg audio or video"),
    (0, b"ID3", "MP3 audio"),
    (0, b"RIFF", "RIFF data (WAV, AVI)"),
    (4, b"ftyp", "MP4 video"),
    (0, b"wOF2", "WOFF2 font"),
    (0, b"\0\x01\0\0\0", "TrueType font"),
    (0, b"DIRC", "git index"),
    (0, b"PACK", "git pack"),
    (0, b"\x93NUMPY", "NumPy array"),
    (0, b"PAR1", "Parquet table"),
    (0, b"\x80\x04", "Python pickle"),
    (0, b"\xFF\xFE\0\0", "UTF-32 text"),
    (0, b"\0\0\xFE\xFF", "UTF-32 text"),
];

/// What a file that begins with `bytes` probably is.
pub(super) fn kind(bytes: &[u8]) -> &'static str {
    let fits =
        |(offset, magic, _): &&(usize, &[u8], &str)| bytes.get(*offset..).is_some_and(|rest| rest.starts_with(magic));
    KINDS.iter().find(fits).map_or("unknown kind", |(_, _, kind)| kind)
}

/// The first 64 of `bytes` in hexadecimal, 16 a line, with offsets and the printable ASCII characters beside them.
pub(super) fn hex_head(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(64)];
    let line = |(index, row): (usize, &[u8])| {
        let hex: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
        format!("{:08x}  {:<47}  {}", index * 16, hex.join(" "), row.iter().map(shown).collect::<String>())
    };
    head.chunks(16).enumerate().map(line).collect::<Vec<_>>().join("\n")
}
