//! Images for the model: which formats it takes, how large they may be, and whether a file is whole.
//!
//! What a file is, its content says, not its name. An image that the API would refuse must not get into a session: it
//! would be sent again with every request. So what is not surely fine is refused here, once, with words.

use super::image_end::is_whole;
use super::output::{one_line, thousands};
use imagesize::ImageType;

/// The largest image, in bytes: 5 MiB in base64.
pub const MAX_IMAGE_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;
/// The longest side of an image, in pixels. The API takes 8,000, but only 2,000 once a request holds more than 20 images, and
/// a request holds all images of a session.
pub(super) const MAX_SIDE_PX: u32 = 2_000;

/// An image for the model.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolImage {
    /// Its name, for people.
    pub name: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// Its width in pixels.
    pub width_px: u32,
    /// Its height in pixels.
    pub height_px: u32,
}

impl ToolImage {
    /// `image png, 640 x 480, 12,345 bytes`.
    #[must_use]
    pub fn describe(&self) -> String {
        let format = self.media_type.trim_start_matches("image/");
        let size = thousands(self.bytes.len() as u64);
        format!("image {format}, {} x {}, {size} bytes", self.width_px, self.height_px)
    }
}

impl std::fmt::Debug for ToolImage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ToolImage({}: {})", self.name, self.describe())
    }
}

/// The image in the file `name`, ready for a request.
///
/// # Errors
/// Says in words what is wrong: no image, a format that the model does not take, too large, damaged.
pub fn image_of(name: &str, bytes: Vec<u8>) -> Result<ToolImage, String> {
    let shown = one_line(name, 100);
    let Some(format) = Format::of(&bytes) else {
        return Err(format!("{shown} is no PNG, JPEG, GIF or WebP image ({})", super::magic::kind(&bytes)));
    };
    if let Some(why) = too_many_bytes(&shown, bytes.len() as u64) {
        return Err(why);
    }
    let damaged = |what: &str| format!("{shown} is a damaged {} image: {what}", format.name());
    let size = imagesize::blob_size(&bytes).map_err(|_| damaged("its size cannot be read"))?;
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let (width_px, height_px) = (side(size.width), side(size.height));
    if width_px == 0 || height_px == 0 {
        return Err(damaged("it has no pixels"));
    }
    if width_px.max(height_px) > MAX_SIDE_PX {
        let limit = thousands(MAX_SIDE_PX.into());
        return Err(format!(
            "{shown} is too large for the model: {width_px} x {height_px} pixels, at most {limit} a side; {SCALE}"
        ));
    }
    if !is_whole(format, &bytes) {
        return Err(damaged("it is cut off or broken"));
    }
    let media_type = format!("image/{}", format.name());
    Ok(ToolImage { name: name.to_owned(), media_type, bytes, width_px, height_px })
}

const SCALE: &str = "hint: scale it down first, for example `magick IN -resize 1500x1500 OUT` or with Pillow";

/// Why an image with so many bytes is refused.
pub(super) fn too_many_bytes(name: &str, size_bytes: u64) -> Option<String> {
    (size_bytes > MAX_IMAGE_BYTES).then(|| {
        let (size, limit) = (thousands(size_bytes), thousands(MAX_IMAGE_BYTES));
        format!("{name} is too large for the model: {size} bytes, at most {limit}; {SCALE}")
    })
}

/// The formats that the model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Png,
    Jpeg,
    Gif,
    WebP,
}

impl Format {
    /// By the first bytes of a file.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        match imagesize::image_type(bytes).ok()? {
            ImageType::Png => Some(Self::Png),
            ImageType::Jpeg => Some(Self::Jpeg),
            ImageType::Gif => Some(Self::Gif),
            ImageType::Webp => Some(Self::WebP),
            // Which others there are depends on the features that the library was built with.
            _ => None,
        }
    }

    /// As in a media type.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
            Self::WebP => "webp",
        }
    }
}
