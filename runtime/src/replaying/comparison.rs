//! Whether a call came to the same as the first time.

use super::normaliser::{Normaliser, Places, normalised};
use retrace_events::payload::tool::ToolExit;

/// Longer texts are compared as they are, in bytes.
const MAX_NORMALISED_BYTES: usize = 4 * 1024 * 1024;

/// What a call came to, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallOutcome {
    /// What the model is told, or all that the command wrote.
    pub text: String,
    /// Whether that is a failure.
    pub is_error: bool,
    /// How the command ended, when there was one.
    pub exit: Option<ToolExit>,
    /// The hashes of the images that came with it.
    pub images: Vec<String>,
}

/// How two results of one call stand to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Likeness {
    /// Byte for byte the same.
    Same,
    /// The same but for what these take out; none of them can be left out.
    Normalised(Vec<Normaliser>),
    /// The same lines in another order, after these were applied. The last resort: whether the order means something is not known.
    Reordered(Vec<Normaliser>),
    /// They differ.
    Differs,
}

impl Likeness {
    /// Whether the call counts as reproduced.
    #[must_use]
    pub const fn is_alike(&self) -> bool {
        match self {
            Self::Same | Self::Normalised(_) | Self::Reordered(_) => true,
            Self::Differs => false,
        }
    }
}

/// Compares what the log has with what came now.
#[must_use]
pub(super) fn compare(logged: &CallOutcome, now: &CallOutcome, places: &Places) -> Likeness {
    if logged.is_error != now.is_error || logged.exit != now.exit || logged.images != now.images {
        return Likeness::Differs;
    }
    compare_texts(&logged.text, &now.text, places)
}

/// Compares two texts.
#[must_use]
pub(super) fn compare_texts(logged: &str, now: &str, places: &Places) -> Likeness {
    if logged == now {
        return Likeness::Same;
    }
    if logged.len().max(now.len()) > MAX_NORMALISED_BYTES {
        return Likeness::Differs;
    }
    if let Some(needed) =
        needed(|normalisers| normalised(logged, normalisers, places) == normalised(now, normalisers, places))
    {
        return Likeness::Normalised(needed);
    }
    let in_order = |normalisers: &[Normaliser]| {
        let (logged, now) = (normalised(logged, normalisers, places), normalised(now, normalisers, places));
        sorted(&logged) == sorted(&now)
    };
    needed(in_order).map_or(Likeness::Differs, Likeness::Reordered)
}

/// The normalisers that it takes for `alike`, without those that it does not; `None` when all of them are not enough.
fn needed(alike: impl Fn(&[Normaliser]) -> bool) -> Option<Vec<Normaliser>> {
    let mut needed = Normaliser::ALL.to_vec();
    if !alike(&needed) {
        return None;
    }
    for normaliser in Normaliser::ALL {
        let without: Vec<Normaliser> = needed.iter().copied().filter(|other| *other != normaliser).collect();
        if alike(&without) {
            needed = without;
        }
    }
    Some(needed)
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}
