//! Images: each format, what lies about itself, what is too large, damaged or cut off; and `read_file` on them.

use super::harness::Bench;
use crate::tools::image::Format;
use crate::tools::image_end::is_whole;
use crate::tools::image_of;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::json;

/// Real images of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const LOSSY_WEBP: &str = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA";
const LOSSLESS_WEBP: &str = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==";

fn bytes(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).unwrap()
}

/// A file of one scan, with a thumbnail's end mark inside a segment and a restart mark between the pixels.
fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut file = b"\xFF\xD8".to_vec();
    let mut segment = |marker: u8, data: &[u8]| {
        file.extend([0xFF, marker]);
        file.extend(u16::try_from(data.len() + 2).unwrap().to_be_bytes());
        file.extend(data);
    };
    segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    segment(0xE1, b"Exif\0\0 a thumbnail \xFF\xD9");
    let [[h1, h0], [w1, w0]] = [height.to_be_bytes(), width.to_be_bytes()];
    segment(0xC0, &[8, h1, h0, w1, w0, 1, 1, 0x11, 0]);
    segment(0xDA, &[1, 1, 0, 0, 63, 0]);
    file.extend(b"pixels\xFF\0more\xFF\xD0last\xFF\xD9");
    file
}

/// A file whose header says any size.
fn png(width: u32, height: u32, pixels: usize) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1A\n".to_vec();
    let header = [width.to_be_bytes(), height.to_be_bytes(), [8, 2, 0, 0]].concat();
    for (name, data) in [(b"IHDR", [&header[..], &[0]].concat()), (b"IDAT", vec![7; pixels]), (b"IEND", Vec::new())] {
        file.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        file.extend(name);
        file.extend(data);
        file.extend([0; 4]);
    }
    file
}

fn images() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    vec![
        ("a.png", "image png, 1 x 1, 70 bytes", bytes(PNG)),
        ("b.png", "image png, 640 x 480, 12,357 bytes", png(640, 480, 12_300)),
        ("a.jpg", "image jpeg, 320 x 200, 88 bytes", jpeg(320, 200)),
        ("a.gif", "image gif, 1 x 1, 42 bytes", bytes(GIF)),
        ("a.webp", "image webp, 1 x 1, 42 bytes", bytes(LOSSY_WEBP)),
        ("b.webp", "image webp, 1 x 1, 34 bytes", bytes(LOSSLESS_WEBP)),
    ]
}

#[tokio::test]
async fn each_format_is_read_as_an_image() {
    let bench = Bench::new().await;
    for (name, described, bytes) in images() {
        bench.file(name, &bytes);
        let result = bench.run("read_file", json!({"path": name})).await;
        assert_eq!((result.content.as_str(), result.is_error), (described, false));
        let [image] = &result.images[..] else { panic!("{name}: {} images", result.images.len()) };
        assert_eq!((&image.name[..], &image.bytes), (name, &bytes));
        assert_eq!(*image, image_of(name, bytes).unwrap());
    }
}

#[tokio::test]
async fn the_content_says_what_a_file_is() {
    let bench = Bench::new().await;
    bench.file("photo.png", jpeg(3, 2));
    bench.file("notes.txt", bytes(PNG));
    bench.file("text.png", "just text\n");
    bench.file("page.gif", "<html>");
    let read = async |path: &str| bench.run("read_file", json!({"path": path})).await;
    assert_eq!(read("photo.png").await.images[0].media_type, "image/jpeg");
    assert_eq!(read("notes.txt").await.images[0].media_type, "image/png");
    let text = read("text.png").await;
    assert_eq!((text.content.as_str(), text.images.len()), ("     1\tjust text\n[1 line]", 0));
    assert_eq!(
        image_of("page.gif", b"<html>".to_vec()).unwrap_err(),
        "page.gif is no PNG, JPEG, GIF or WebP image (unknown kind)"
    );
    assert_eq!(image_of("a.png", Vec::new()).unwrap_err(), "a.png is no PNG, JPEG, GIF or WebP image (unknown kind)");
    let bmp = image_of("a.bmp", b"BM123456789012345678901234567890".to_vec()).unwrap_err();
    assert_eq!(bmp, "a.bmp is no PNG, JPEG, GIF or WebP image (BMP image)");
}

#[tokio::test]
async fn too_large_images_are_refused_with_their_size() {
    let bench = Bench::new().await;
    // 57 bytes are no pixels.
    bench.file("just.png", png(2_000, 2_000, 3_932_160 - 57));
    let result = bench.run("read_file", json!({"path": "just.png"})).await;
    assert_eq!(result.content, "image png, 2000 x 2000, 3,932,160 bytes");
    assert_eq!(STANDARD.encode(&result.images[0].bytes).len(), 5 * 1024 * 1024);
    bench.file("heavy.png", png(2_000, 2_000, 3_932_161 - 57));
    bench.file("wide.png", png(2_001, 10, 10));
    bench.file("high.jpg", jpeg(10, 65_535));
    let table = [
        ("heavy.png", "heavy.png is too large for the model: 3,932,161 bytes, at most 3,932,160; hint: scale it down"),
        (
            "wide.png",
            "wide.png is too large for the model: 2001 x 10 pixels, at most 2,000 a side; hint: scale it down",
        ),
        ("high.jpg", "high.jpg is too large for the model: 10 x 65535 pixels, at most 2,000 a side"),
    ];
    for (path, expected) in table {
        let text = bench.fails("read_file", json!({"path": path})).await;
        assert!(text.starts_with(expected), "{text}");
    }
}

#[tokio::test]
async fn damaged_images_are_refused() {
    let bench = Bench::new().await;
    bench.file("cut.png", &png(640, 480, 2_000_000)[..1_500_000]);
    bench.file("head.png", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR");
    bench.file("empty.gif", b"GIF89a\0\0\0\0\0\0\0;");
    let table = [
        ("cut.png", "cut.png is a damaged png image: it is cut off or broken"),
        ("head.png", "head.png is a damaged png image: its size cannot be read"),
        ("empty.gif", "empty.gif is a damaged gif image: it has no pixels"),
    ];
    for (path, expected) in table {
        let result = bench.run("read_file", json!({"path": path})).await;
        assert_eq!((result.content.as_str(), result.is_error, result.images.len()), (expected, true, 0));
    }
}

#[test]
fn an_image_is_whole_only_to_its_last_byte() {
    for (name, _, bytes) in images() {
        let format = Format::of(&bytes).unwrap();
        assert!(is_whole(format, &bytes), "{name}");
        assert!(is_whole(format, &[&bytes[..], b"trailing \xFF\xD9;IEND"].concat()), "{name}");
        for length in 0..bytes.len() {
            assert!(!is_whole(format, &bytes[..length]), "{name} of {length} bytes");
        }
    }
}

#[test]
fn a_file_without_pixels_is_not_whole() {
    let mut bare = png(1, 1, 0);
    let at = bare.windows(4).position(|name| name == b"IDAT").unwrap();
    bare[at..at + 4].copy_from_slice(b"tEXt");
    assert!(!is_whole(Format::Png, &bare));
    assert!(!is_whole(Format::Jpeg, b"\xFF\xD8\xFF\xD9"));
    assert!(!is_whole(Format::Gif, b"GIF89a\x01\0\x01\0\0\0\0;"));
}

proptest! {
    /// Damage of any kind is answered, not followed.
    #[test]
    fn hostile_bytes_do_no_harm(which in 0_usize..6, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20)) {
        let (name, _, mut bytes) = images().swap_remove(which);
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        if let Ok(image) = image_of(name, bytes) {
            prop_assert!((1..=2_000).contains(&image.width_px) && (1..=2_000).contains(&image.height_px));
        }
    }
}
