//! The slash commands that show or change a session's settings. A change is what the flag of the same name would do to
//! `retrace resume`: read, checked and logged in the same way.

use super::conversation::Conversation;
use crate::agent::AgentOrder;
use crate::cli::exit::CliError;
use crate::cli::flags::SettingFlags;
use crate::cli::render::{clean, units};
use crate::cli::view::View;
use crate::config::{Config, similar};
use retrace_events::payload::settings::{Budget, Settings};
use std::fmt::Write as _;
use std::time::Duration;

/// What a budget can limit; a tree is a session with all its forks.
pub(super) const KINDS: [&str; 8] =
    ["steps", "tokens", "cost", "time", "tree-steps", "tree-tokens", "tree-cost", "tree-time"];

/// How long a change may take to be in the log before the next line is read.
const TAKEN_IN: Duration = Duration::from_secs(2);

impl Conversation<'_> {
    pub(super) async fn model(&mut self, id: &str) {
        if id.is_empty() {
            let known: Vec<String> = self.chat.setup.models.rows().map(|row| clean::short(&row.id, 80)).collect();
            let now = self.setting(|settings| settings.model.clone());
            return self.say(&format!("model: {now}\nknown: {}\n", known.join(", ")));
        }
        if self.chat.setup.models.find(id).is_none() {
            let model = clean::short(id, 80);
            self.say(&format!("model `{model}` is not in the table: its costs are counted at the highest prices\n"));
        }
        self.change(|flags| flags.model = Some(id.to_owned())).await;
    }

    pub(super) async fn effort(&mut self, level: &str) {
        if level.is_empty() {
            let now =
                self.setting(|settings| settings.effort.clone().unwrap_or_else(|| "as the model likes".to_owned()));
            return self.say(&format!("effort: {now}\n"));
        }
        self.change(|flags| flags.effort = Some(level.to_owned())).await;
    }

    pub(super) async fn thinking(&mut self, how: &str) {
        if how.is_empty() {
            let now =
                self.setting(|settings| settings.thinking.clone().unwrap_or_else(|| "as the model likes".to_owned()));
            return self.say(&format!("thinking: {now}\n"));
        }
        self.change(|flags| flags.thinking = Some(how.to_owned())).await;
    }

    pub(super) async fn budget(&mut self, words: &str) {
        if words.is_empty() {
            return self.say(&self.limits());
        }
        let (kind, value) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let value = value.trim();
        if value.is_empty() {
            return self.say("which limit? /budget steps 100, tokens 2000000, cost 5.00, time 1h; `none` lifts one\n");
        }
        let set = |flags: &mut SettingFlags| {
            let field = match kind {
                "steps" => &mut flags.max_steps,
                "tokens" => &mut flags.max_total_tokens,
                "cost" => &mut flags.max_cost,
                "time" => &mut flags.max_time,
                "tree-steps" => &mut flags.max_tree_steps,
                "tree-tokens" => &mut flags.max_tree_tokens,
                "tree-cost" => &mut flags.max_tree_cost,
                "tree-time" => &mut flags.max_tree_time,
                _ => return false,
            };
            *field = Some(value.to_owned());
            true
        };
        if !set(&mut SettingFlags::default()) {
            let close = similar(kind, &KINDS).map(|close| format!("; did you mean `{close}`?")).unwrap_or_default();
            let kind = clean::short(kind, 40);
            return self.say(&format!("there is no budget of `{kind}`{close} ({})\n", KINDS.join(", ")));
        }
        self.change(|flags| {
            set(flags);
        })
        .await;
    }

    /// The session's limits and what is used of them, as lines.
    pub(super) fn limits(&self) -> String {
        let view = self.running.view.lock();
        let settings = self.going_by(&view);
        let totals = &view.state.totals;
        let cost = totals.cost_microusd.saturating_add(totals.unknown_cost_microusd);
        let none = || "no limit".to_owned();
        let Budget { max_steps, max_tokens, max_cost_microusd, max_time_ms } = settings.budget;
        let rows = [
            ("steps", units::count(u64::from(totals.steps)), max_steps.map(|most| units::count(u64::from(most)))),
            ("tokens", units::count(totals.tokens()), max_tokens.map(units::count)),
            ("cost", units::cost(cost), max_cost_microusd.map(units::cost)),
            ("time", units::duration(totals.turn_time_ms), max_time_ms.map(units::duration)),
        ];
        let mut text = String::new();
        for (name, used, most) in rows {
            let _ = writeln!(text, "  {name:<7} {used} of {}", most.unwrap_or_else(none));
        }
        text
    }

    fn setting(&self, of: impl Fn(&Settings) -> String) -> String {
        let view = self.running.view.lock();
        clean::short(&of(self.going_by(&view)), 200)
    }

    /// The settings the session goes by. A new session's first event may not have come yet.
    fn going_by<'a>(&'a self, view: &'a View) -> &'a Settings {
        view.state.settings.as_ref().unwrap_or(&self.chat.settings)
    }

    /// Changes flags, and with them the settings of this session and of those that are begun later.
    async fn change(&mut self, change: impl Fn(&mut SettingFlags)) {
        let (mut own, mut flags) = (self.chat.own_flags.clone(), self.chat.flags.clone());
        change(&mut own);
        change(&mut flags);
        let read = self.settings_with(&own).and_then(|here| Ok((here, self.settings_of_new(&flags)?)));
        match read {
            Err(error) => self.say(&error.lines()),
            Ok(((_, None), new)) => {
                (self.chat.own_flags, self.chat.flags, self.chat.settings) = (own, flags, new);
                self.say("nothing changes\n");
            }
            Ok(((settings, Some(why)), new)) => {
                let wanted = settings.clone();
                let order = AgentOrder::Configure { change: Box::new(move |now| *now = settings), why };
                match &self.running.orders {
                    Some(orders) if orders.send(order).await.is_ok() => {
                        (self.chat.own_flags, self.chat.flags, self.chat.settings) = (own, flags, new);
                        self.wait_until(&wanted).await;
                    }
                    Some(_) => self.say("not changed: the session has ended\n"),
                    None => self.say("not changed: another process runs this session, and its settings are there\n"),
                }
            }
        }
    }

    /// Waits until the session goes by `wanted`: orders and prompts take different ways, and the next prompt is not to
    /// overtake. While a turn is running nobody waits; the change comes behind it.
    async fn wait_until(&self, wanted: &Settings) {
        let mut changes = self.running.view.changes();
        let seen = async {
            while !self.is_busy() && self.running.view.lock().state.settings.as_ref() != Some(wanted) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        // Longer only where the log is slow; then the order counts from the prompt after the next.
        let _ = tokio::time::timeout(TAKEN_IN, seen).await;
    }

    /// The settings a new session would begin with under `flags`. Requests go where they went: key and address were read
    /// together.
    fn settings_of_new(&self, flags: &SettingFlags) -> Result<Settings, CliError> {
        let config = Config::load(&self.chat.invocation.surroundings(flags))?;
        let base_url = self.chat.settings.base_url.clone();
        Ok(Settings { base_url, ..config.settings(&self.chat.setup.models) })
    }

    /// The session's settings as they would be under `flags`, and what that changes.
    fn settings_with(&self, flags: &SettingFlags) -> Result<(Settings, Option<String>), CliError> {
        let config = Config::load(&self.chat.invocation.surroundings(flags))?;
        let logged = self.going_by(&self.running.view.lock()).clone();
        let resumed = config.resumed(&logged, &self.chat.setup.models)?;
        Ok((resumed.settings, resumed.why))
    }
}
