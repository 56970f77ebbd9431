//! Images that go with a prompt: read, checked, and put into the log's blob store.

use super::exit::{CliError, Exit};
use super::render::clean;
use crate::tools;
use retrace_events::EventLog;
use retrace_events::payload::turn::Attachment;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is read at all, in bytes; what the model takes is less.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// How many images go with one prompt.
const MOST: usize = 20;

/// Reads the image files and stores them, ready to be sent with a prompt.
///
/// # Errors
/// When one cannot be read, or is no image the model takes; nothing is stored then. When the log cannot store them.
pub(crate) async fn store(log: &dyn EventLog, files: &[PathBuf]) -> Result<Vec<Attachment>, CliError> {
    let images = read_all(files)?;
    let mut attachments = Vec::new();
    for image in images {
        let blob = log.blobs().put(&image.bytes).await?;
        attachments.push(Attachment { name: image.name, media_type: image.media_type, blob });
    }
    Ok(attachments)
}

/// Reads the image files.
///
/// # Errors
/// When there are too many, or one cannot be read or is no image the model takes.
pub(crate) fn read_all(files: &[PathBuf]) -> Result<Vec<tools::ToolImage>, CliError> {
    if files.len() > MOST {
        return Err(CliError::new(
            Exit::Usage,
            format!("{} images are too many: at most {MOST} go with a prompt", files.len()),
        ));
    }
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Result<tools::ToolImage, CliError> {
    let shown = clean::line(&file.display().to_string());
    let refuse = |why: String| CliError::new(Exit::Usage, why).hint("PNG, JPEG, GIF and WebP files can be sent");
    let unreadable = |error: std::io::Error| refuse(format!("cannot read {shown}: {error}"));
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    if !opened.metadata().map_err(unreadable)?.is_file() {
        return Err(refuse(format!("cannot read {shown}: it is not a file")));
    }
    let mut bytes = Vec::new();
    opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(refuse(format!("{shown} is larger than {MAX_FILE_BYTES} bytes")));
    }
    let name = file.file_name().map_or_else(|| shown.clone(), |name| clean::line(&name.to_string_lossy()));
    tools::image_of(&name, bytes).map_err(refuse)
}
