//! Whether an image file is there to its end: its parts are walked, not decoded.
//!
//! Total functions over hostile bytes: every step goes forward, and whatever does not fit is "not whole".

use super::image::Format;

/// Whether `bytes` hold a file of this format from its beginning to its end mark. What stands behind that is ignored.
pub(super) fn is_whole(format: Format, bytes: &[u8]) -> bool {
    let whole = match format {
        Format::Png => png(bytes),
        Format::Jpeg => jpeg(bytes),
        Format::Gif => gif(bytes),
        Format::WebP => webp(bytes),
    };
    whole.is_some()
}

/// Length, name, data and checksum, over and over; the last chunk is `IEND`.
fn png(bytes: &[u8]) -> Option<()> {
    let mut at = 8;
    let mut has_pixels = false;
    loop {
        let length = u32::from_be_bytes(array(bytes, at)?);
        let name: [u8; 4] = array(bytes, at + 4)?;
        at = at.checked_add(usize::try_from(length).ok()?)?.checked_add(12)?;
        bytes.get(..at)?;
        has_pixels |= name == *b"IDAT";
        if name == *b"IEND" {
            return has_pixels.then_some(());
        }
    }
}

/// Segments with their length; behind a start of scan, pixels up to the next marker.
fn jpeg(bytes: &[u8]) -> Option<()> {
    let mut at = 2;
    let mut has_pixels = false;
    loop {
        let [0xFF, marker] = array(bytes, at)? else { return None };
        match marker {
            // The end.
            0xD9 => return has_pixels.then_some(()),
            // A fill byte.
            0xFF => at += 1,
            // Restart marks and the like stand alone.
            0x01 | 0xD0..=0xD8 => at += 2,
            _ => {
                at += 2 + usize::from(u16::from_be_bytes(array(bytes, at + 2)?)).max(2);
                if marker == 0xDA {
                    has_pixels = true;
                    at += pixels(bytes.get(at..)?)?;
                }
            }
        }
    }
}

/// How many bytes stand before the next marker that is no part of the pixels.
fn pixels(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xD0..=0xD7))
}

/// Screen, colours, then blocks; the last is `;`.
fn gif(bytes: &[u8]) -> Option<()> {
    let colours = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let mut at = 13 + colours(*bytes.get(10)?);
    let mut has_pixels = false;
    loop {
        match *bytes.get(at)? {
            b';' => return has_pixels.then_some(()),
            b'!' => at = sub_blocks(bytes, at + 2)?,
            b',' => {
                let flags = *bytes.get(at + 9)?;
                at = sub_blocks(bytes, at + 11 + colours(flags))?;
                has_pixels = true;
            }
            _ => return None,
        }
    }
}

/// Where the blocks with a length byte each, beginning at `at`, end.
fn sub_blocks(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1 + length;
        if length == 0 {
            return Some(at);
        }
    }
}

/// One container that says how long it is.
fn webp(bytes: &[u8]) -> Option<()> {
    let length = usize::try_from(u32::from_le_bytes(array(bytes, 4)?)).ok()?;
    bytes.get(..length.checked_add(8)?).map(drop)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}
