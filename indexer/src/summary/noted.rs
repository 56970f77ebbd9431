//! What the events of a session's own life are remembered by: forks, rules, settings.

use super::digest_item::{DigestItem, DigestKind};
use super::reading::Reading;
use retrace_events::payload::session::SessionForkReason;
use retrace_events::payload::{Context, Session};

/// What an event of a session's life is remembered by.
pub(super) fn item(session: &Session, reading: &Reading<'_>) -> Option<DigestItem> {
    let words = match session {
        Session::Forked(forked) => {
            let how = match forked.reason {
                SessionForkReason::Fork => "forked from",
                SessionForkReason::Rewind => "takes over from",
                SessionForkReason::Delegate => "does a part of the work of",
            };
            format!("{how} session {} behind its event {}", forked.parent.id, forked.parent_seq)
        }
        Session::Configured(configured) => format!("settings changed: {}", configured.why),
        Session::RuleAdded(added) => format!("allowed from here on: {} (by {})", added.rule, added.by),
        Session::Closed(closed) => format!("closed: {}", closed.why),
        Session::Imported(imported) => format!("comes from {}, session {}", imported.source, imported.source_session),
        Session::Started(_) | Session::ControlHandled(_) | Session::Planned(_) => return None,
    };
    Some(reading.item(DigestKind::Decision, &words, 2))
}

/// A summary that took the place of a conversation: what it was made of is in older nodes, so its beginning is enough.
pub(super) fn compacted(context: &Context, reading: &Reading<'_>) -> Option<DigestItem> {
    match context {
        Context::Compacted(compacted) => {
            let words = format!("compacted ({}): {}", compacted.by, compacted.summary);
            Some(reading.item(DigestKind::Decision, &words, 1))
        }
        Context::EpochStarted(_)
        | Context::Retrieved(_)
        | Context::ImageAttached(_)
        | Context::CompactionRequested(_)
        | Context::CompactionAnswered(_)
        | Context::CompactionFailed(_) => None,
    }
}
