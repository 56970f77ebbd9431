//! Images on their way to the prompt or the result they belong to.

use super::transcript::Image;
use crate::id::CallId;
use crate::payload::context::ContextImageAttached;
use serde::{Deserialize, Serialize};

/// Images whose prompt or result has not come yet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PendingImages(Vec<(Option<CallId>, Image)>);

impl PendingImages {
    /// One more.
    pub(super) fn add(&mut self, attached: &ContextImageAttached) {
        let image =
            Image { media_type: attached.media_type.clone(), data_base64: attached.data_base64.as_str().into() };
        self.0.push((attached.call.clone(), image));
    }

    /// Those of the call, or of the prompt that is at hand.
    pub(super) fn take(&mut self, call: Option<&CallId>) -> Vec<Image> {
        let (taken, rest) = std::mem::take(&mut self.0).into_iter().partition(|(of, _)| of.as_ref() == call);
        self.0 = rest;
        let taken: Vec<(Option<CallId>, Image)> = taken;
        taken.into_iter().map(|(_, image)| image).collect()
    }
}
