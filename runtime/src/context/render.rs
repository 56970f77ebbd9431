//! The bytes of the next request, as a function of the session's state: by the renderer that its epoch began with.
//!
//! Answers are spliced in byte for byte as they came. Inside an epoch a request is the one before it with more at its
//! end; only the `cache_control` marks move. There are at most four: one behind tools and system (held by the epoch), one
//! at the end of the seed, one at the very end, and one where the answered request before this one ended, so that however
//! much was added since, what that request wrote into the cache is found again.

use super::render_first::render_first;
use super::render_second::render_second;
use super::render_third::render_third;
use retrace_events::SessionState;

/// The renderer new epochs are begun with.
pub const RENDERER: u32 = 3;

/// Why a request cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// No epoch has begun.
    #[error("the session has no context yet")]
    NoEpoch,
    /// The epoch was begun by a version that has another renderer.
    #[error("renderer {0} is not known to this version of retrace")]
    UnknownRenderer(u32),
    /// Something the epoch's renderer never puts into a request.
    #[error("renderer {renderer} cannot render {what}")]
    Foreign {
        /// The renderer.
        renderer: u32,
        /// What it cannot render.
        what: &'static str,
    },
    /// A call has no result yet, so that there is nothing to ask the model.
    #[error("call {0} has no result")]
    OpenCall(String),
    /// There is no place at which a summary may end there.
    #[error("no summary can be asked for until event {0}")]
    NotCompactable(u64),
    /// Stored JSON that is none.
    #[error("the stored {what} is not JSON")]
    NotJson {
        /// What it is.
        what: &'static str,
        /// What the parser says.
        source: serde_json::Error,
    },
}

/// Renders the next request of a session.
///
/// # Errors
/// When there is no epoch, or the log holds something this version cannot render.
pub fn render(state: &SessionState) -> Result<Vec<u8>, RenderError> {
    let epoch = state.epoch.as_ref().ok_or(RenderError::NoEpoch)?;
    let items = state.transcript.items();
    match epoch.start.renderer {
        1 => render_first(epoch, items),
        2 => render_second(epoch, items),
        3 => render_third(epoch, items),
        unknown => Err(RenderError::UnknownRenderer(unknown)),
    }
}
