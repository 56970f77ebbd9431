//! The image that a container starts from. It has to be there: nothing is ever pulled silently.

use bollard::models::ImageConfig;
use tokio::time::timeout;

use super::engine::{ANSWER_TIME, Engine, ask};
use super::failure;
use crate::error::SandboxError;

/// The default image: its tag is a hash of its recipe in `sandbox/image`, so that a changed recipe is another image.
pub(super) const DEFAULT: &str = concat!("localhost/retrace-sandbox:", env!("RETRACE_IMAGE_TAG"));
/// The longest name of an image.
const MAX_NAME_BYTES: usize = 512;

/// An image, as the engine knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) id: String,
    /// Its own variables.
    pub(super) env: Vec<(String, String)>,
    /// Folders for which the engine would make a volume each.
    pub(super) volumes: Vec<String>,
}

/// Looks the image up.
pub(super) async fn look_up(engine: &Engine, wanted: Option<&str>) -> Result<Image, SandboxError> {
    let name = wanted.unwrap_or(DEFAULT);
    if !is_name(name) {
        return Err(SandboxError::ImageName { name: name.chars().take(MAX_NAME_BYTES).collect() });
    }
    let inspected = match timeout(ANSWER_TIME, engine.docker.inspect_image(name)).await {
        Ok(Err(error)) if failure::is_not_found(&error) => {
            let how = match wanted {
                None => "build it with sandbox/image/build".to_owned(),
                Some(_) => format!("fetch it with `podman pull {name}` (or docker pull)"),
            };
            return Err(SandboxError::ImageMissing { name: name.to_owned(), how });
        }
        Ok(inspected) => ask("look up the image", std::future::ready(inspected)).await?,
        Err(_) => return Err(SandboxError::Engine { what: "look up the image", detail: "no answer".to_owned() }),
    };
    Ok(image(inspected.id.unwrap_or_else(|| name.to_owned()), inspected.config.unwrap_or_default()))
}

fn image(id: String, config: ImageConfig) -> Image {
    let pair = |entry: &String| entry.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let env = config.env.iter().flatten().filter_map(pair).filter(|(name, _)| !name.is_empty()).collect();
    let volumes = config.volumes.unwrap_or_default().into_iter().filter(|path| path.starts_with('/')).collect();
    Image { id, env, volumes }
}

/// The name becomes a part of the engine's URLs.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(fits)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !name.contains("..")
        && !name.contains("//")
}
