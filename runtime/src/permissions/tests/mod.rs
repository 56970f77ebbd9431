//! Tests of the permission rules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod agreement;
mod allowing;
mod deciding;
mod forbidding;
mod hostile;
mod laws;
mod likeness;
mod remembering;
mod rules;

use super::{ApprovalMode, Asked, Permissions, RuleList, RuleSet, Verdict};
use crate::config::Origin;
use crate::tools;
use serde_json::json;
use std::path::PathBuf;

/// What `retrace` would do on the host with these rules; a default never allows anything that may write.
struct World {
    permissions: Permissions,
    session: Vec<String>,
}

impl World {
    /// Rules like "allow bash(ls *)", one a line.
    fn new(rules: &[&str]) -> Self {
        Self::with(ApprovalMode::Auto, false, rules)
    }

    fn with(mode: ApprovalMode, sandboxed: bool, rules: &[&str]) -> Self {
        let mut set = RuleSet::default();
        for (at, line) in rules.iter().enumerate() {
            let (list, rule) = line.split_once(' ').unwrap();
            let list = RuleList::ALL.into_iter().find(|known| known.as_str() == list).unwrap();
            let origin = Origin::File { path: PathBuf::from("/home/permissions.toml"), line: at + 1 };
            set.read(list, rule, origin).unwrap();
        }
        Self { permissions: Permissions::new(mode, sandboxed, set, None), session: Vec::new() }
    }

    fn session(mut self, rules: &[&str]) -> Self {
        self.session = rules.iter().map(|rule| (*rule).to_owned()).collect();
        self
    }

    fn decide(&self, tool: &str, input: &str) -> Verdict {
        let effect = tools::effect_of(tool);
        self.permissions.decide(&Asked { tool, input, effect, session_rules: &self.session })
    }

    fn bash(&self, command: &str) -> Verdict {
        self.decide("bash", &json!({ "command": command }).to_string())
    }

    fn path(&self, tool: &str, path: &str) -> Verdict {
        self.decide(tool, &json!({ "path": path }).to_string())
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}
