//! The settings that are changed: those of the configuration's keys that take part in putting a context together.

use crate::claude::ModelTable;
use crate::config::{ConfigError, Entry, KEYS, Key, Origin, Raw, ThinkingChoice, Values};
use retrace_events::payload::settings::Settings;
use std::path::PathBuf;

/// The keys that change what is sent.
const CHANGEABLE: [Key; 5] = [Key::ContextTokens, Key::Model, Key::MaxTokens, Key::Thinking, Key::Effort];

/// Why a wish cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// It is not of the form `key=value`.
    #[error("`{text}` is not of the form key=value\nhint: for example context_tokens=30000; the keys are {}", names())]
    NoPair {
        /// What was given.
        text: String,
    },
    /// No such key takes part.
    #[error("`{key}` changes nothing of a context that could be put together again\nhint: the keys are {}", names())]
    UnknownKey {
        /// What was given.
        key: String,
    },
    /// It is given twice.
    #[error("`{key}` is given twice")]
    Twice {
        /// The key.
        key: String,
    },
    /// The value makes no sense.
    #[error(transparent)]
    Value(#[from] ConfigError),
}

/// The names of all keys that can be changed.
fn names() -> String {
    CHANGEABLE.map(Key::name).join(", ")
}

/// Settings that differ from the logged ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OtherSettings {
    /// The most tokens of a context; `Some(None)` is the model's window.
    pub context_tokens: Option<Option<u64>>,
    /// The model.
    pub model: Option<String>,
    /// The most tokens of an answer.
    pub max_tokens: Option<u32>,
    /// How the model thinks.
    pub thinking: Option<ThinkingChoice>,
    /// How much effort it makes; `Some(None)` is the model's own.
    pub effort: Option<Option<String>>,
    /// As they were given, `key=value`.
    pub words: Vec<String>,
}

impl OtherSettings {
    /// Reads `key=value` pairs as the configuration would.
    ///
    /// # Errors
    /// When one is no pair, names no key that takes part, is given twice, or has a value that its key does not take.
    pub fn parse(pairs: &[String]) -> Result<Self, SettingError> {
        let mut other = Self::default();
        let mut seen = Vec::new();
        for pair in pairs {
            let shown = |text: &str| text.chars().take(80).collect::<String>();
            let Some((name, value)) = pair.split_once('=') else {
                return Err(SettingError::NoPair { text: shown(pair) });
            };
            let name = name.trim();
            let known = KEYS.iter().find(|info| info.name == name).map(|info| info.key);
            let Some(key) = known.filter(|key| CHANGEABLE.contains(key)) else {
                return Err(SettingError::UnknownKey { key: shown(name) });
            };
            if seen.contains(&key) {
                return Err(SettingError::Twice { key: name.to_owned() });
            }
            seen.push(key);
            other.lay(key, value)?;
            other.words.push(format!("{name}={}", value.trim()));
        }
        Ok(other)
    }

    fn lay(&mut self, key: Key, value: &str) -> Result<(), ConfigError> {
        let mut values = Values::builtin(PathBuf::new());
        let (raw, origin) = (Raw::Text(value.trim().to_owned()), Origin::Flag("--what-if"));
        values.apply(&Entry { key, raw, origin, base: PathBuf::new() })?;
        let given = |other: Key| key == other;
        self.context_tokens = given(Key::ContextTokens).then_some(values.context_tokens.value).or(self.context_tokens);
        self.model = given(Key::Model).then_some(values.model.value).or(self.model.take());
        self.max_tokens = values.max_tokens.value.filter(|_| given(Key::MaxTokens)).or(self.max_tokens);
        self.thinking = given(Key::Thinking).then_some(values.thinking.value).or(self.thinking.take());
        self.effort = given(Key::Effort).then_some(values.effort.value).or(self.effort.take());
        Ok(())
    }

    /// Whether requests themselves are others, not only what they are made of.
    pub(super) const fn changes_requests(&self) -> bool {
        self.model.is_some() || self.max_tokens.is_some() || self.thinking.is_some() || self.effort.is_some()
    }

    /// `settings` with the changes. A thinking that was chosen for one model's row is chosen anew for another's.
    pub(in crate::replaying) fn over(&self, settings: &Settings, models: &ModelTable) -> Settings {
        let mut changed = settings.clone();
        if let Some(model) = &self.model {
            changed.model.clone_from(model);
        }
        if let Some(max_tokens) = self.max_tokens {
            changed.max_tokens = max_tokens;
        }
        if let Some(effort) = &self.effort {
            changed.effort.clone_from(effort);
        }
        let (row, before) = (models.row(&changed.model), models.row(&settings.model));
        let was_automatic = settings.thinking == ThinkingChoice::Auto.field(&before, settings.max_tokens);
        match &self.thinking {
            Some(thinking) => changed.thinking = thinking.field(&row, changed.max_tokens),
            None if was_automatic => changed.thinking = ThinkingChoice::Auto.field(&row, changed.max_tokens),
            None => {}
        }
        changed
    }
}
