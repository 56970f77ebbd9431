//! How a session's own events change its state: it begins, is forked, gets other settings.

use super::SessionState;
use super::imported::ImportedPart;
use super::totals::Totals;
use crate::envelope::Envelope;
use crate::payload::Session;

impl SessionState {
    pub(super) fn apply_session(&mut self, envelope: &Envelope, session: &Session) {
        let at = envelope.at;
        match session {
            Session::Started(started) => {
                self.title.clone_from(&started.title);
                self.workspace.clone_from(&started.workspace);
                self.settings = Some(started.settings.clone());
                self.started_at = at;
            }
            // What it leaves behind was done before the event was taken in.
            Session::Forked(forked) => {
                self.title.clone_from(&forked.title);
                self.workspace.clone_from(&forked.workspace);
                self.settings = Some(forked.settings.clone());
                self.started_at = at;
            }
            Session::Configured(configured) => self.settings = Some(configured.settings.clone()),
            Session::Closed(_) => self.closed = true,
            Session::ControlHandled(handled) => self.control_next = handled.seq.saturating_add(1),
            Session::RuleAdded(added) => {
                if !self.rules.contains(&added.rule) {
                    self.rules.push(added.rule.clone());
                }
            }
            Session::Planned(planned) => self.plan.clone_from(&planned.items),
            Session::Imported(_) => {
                self.imported = Some(ImportedPart { event: envelope.id, totals: Totals::default() });
            }
        }
    }
}
