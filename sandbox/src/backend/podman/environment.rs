//! The environment inside: the image's own variables, those that the policy lets through, and ours.
//!
//! The guest drops whatever the engine adds (Podman passes on the proxy settings of its own environment).

use std::collections::BTreeMap;

use super::image::Image;
use crate::backend::LaunchPlan;
use crate::backend::process::{fixed, passed_on};

/// The search path of an image that sets none.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// All variables inside, in order of their names.
pub(super) fn inside(plan: &LaunchPlan<'_>, image: &Image, backend: &str) -> BTreeMap<String, String> {
    let mut env = BTreeMap::from([("PATH".to_owned(), DEFAULT_PATH.to_owned())]);
    env.extend(image.env.iter().cloned());
    // The engine's API is JSON, so only text gets through.
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    env.extend(passed_on(plan.policy).into_iter().filter_map(text));
    env.extend(fixed(backend, &plan.sandbox_id).map(|(name, value)| (name.to_owned(), value.to_owned())));
    // A comma would part it in the guest's list of what to keep.
    env.retain(|name, _| !name.is_empty() && !name.contains([',', '=', '\0']));
    env
}
