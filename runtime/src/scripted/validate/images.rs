//! Images: that their bytes are what they are said to be, how large they are, and how many there are.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::ImageType;
use serde_json::{Map, Value};

use super::shape::below;
use crate::claude::ModelRow;
use crate::scripted::api_error::ApiError;

/// The largest image, as base64, in bytes.
const MAX_BASE64_BYTES: usize = 5 * 1024 * 1024;
/// The longest side of an image, in pixels; and the longest where there are many.
const MAX_SIDE_PX: usize = 8_000;
const MAX_SIDE_OF_MANY_PX: usize = 2_000;
/// More images than this are many.
const MANY: usize = 20;
/// The most images of a request, for models with a context window of up to 200,000 tokens and for all others.
const MAX_IMAGES: usize = 100;
const MAX_IMAGES_LARGE_WINDOW: usize = 600;
const SMALL_WINDOW_TOKENS: u64 = 200_000;

/// Checks the bytes of one image; `path` is that of its source.
pub(super) fn check_data(media_type: &str, data: &str, path: &str) -> Result<(), ApiError> {
    if data.len() > MAX_BASE64_BYTES {
        let found = data.len();
        let message = format!("image exceeds 5 MB maximum: {found} bytes > {MAX_BASE64_BYTES} bytes");
        return Err(ApiError::at(&below(path, "base64"), message));
    }
    let path = below(path, "base64.data");
    let bytes = STANDARD.decode(data).map_err(|_| ApiError::at(&path, "Invalid base64 data"))?;
    let actual = match imagesize::image_type(&bytes) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        Ok(ImageType::Gif) => "image/gif",
        Ok(ImageType::Webp) => "image/webp",
        Ok(_) | Err(_) => return Err(ApiError::invalid("Could not process image")),
    };
    if actual != media_type {
        let message = format!("Image does not match the provided media type {media_type}");
        return Err(ApiError::at(&path, message));
    }
    if longest_side(&bytes)? > MAX_SIDE_PX {
        let message = format!("At least one of the image dimensions exceed max allowed size: {MAX_SIDE_PX} pixels");
        return Err(ApiError::at(&path, message));
    }
    Ok(())
}

/// Checks all images of a request together; each one by itself was found good.
pub(super) fn check(fields: &Map<String, Value>, row: &ModelRow) -> Result<(), ApiError> {
    let mut images = Vec::new();
    for message in fields.get("messages").and_then(Value::as_array).into_iter().flatten() {
        collect(message.get("content"), &mut images);
    }
    let small = row.context_window_tokens <= SMALL_WINDOW_TOKENS;
    let most = if small { MAX_IMAGES } else { MAX_IMAGES_LARGE_WINDOW };
    if images.len() > most {
        let found = images.len();
        return Err(ApiError::invalid(format!("Too much media: {found} images > {most} maximum")));
    }
    if images.len() <= MANY {
        return Ok(());
    }
    for data in images.iter().filter_map(|image| image.get("source")?.get("data")?.as_str()) {
        let bytes = STANDARD.decode(data).map_err(|_| ApiError::invalid("Invalid base64 data"))?;
        if longest_side(&bytes)? > MAX_SIDE_OF_MANY_PX {
            return Err(ApiError::invalid(format!(
                "At least one of the image dimensions exceed max allowed size for many-image requests: \
                 {MAX_SIDE_OF_MANY_PX} pixels"
            )));
        }
    }
    Ok(())
}

fn collect<'a>(content: Option<&'a Value>, images: &mut Vec<&'a Value>) {
    for block in content.and_then(Value::as_array).into_iter().flatten() {
        match block.get("type").and_then(Value::as_str) {
            Some("image") => images.push(block),
            Some("tool_result") => collect(block.get("content"), images),
            Some(_) | None => {}
        }
    }
}

fn longest_side(image: &[u8]) -> Result<usize, ApiError> {
    let size = imagesize::blob_size(image).map_err(|_| ApiError::invalid("Could not process image"))?;
    Ok(size.width.max(size.height))
}
