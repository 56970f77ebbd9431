//! What an epoch begins with, and when the next one is due.

use super::{instructions, settings};
use crate::claude::{ModelRow, ModelTable};
use crate::context::{EpochPlan, RENDERER, differs, new_epoch};
use retrace_events::payload::context::ContextEpochStarted;
use retrace_events::payload::settings::Settings;
use serde_json::Value;
use std::path::Path;

fn row(model: &str) -> ModelRow {
    ModelTable::builtin().unwrap().row(model)
}

fn begun(settings: &Settings) -> (ContextEpochStarted, Vec<String>) {
    let row = row(&settings.model);
    let plan = EpochPlan {
        number: 3,
        settings,
        row: &row,
        tools_json: "[]".into(),
        workspace: Path::new("/work \"space\""),
        backend: "process",
        network: &[],
        seed: vec![instructions("AGENTS.md", "use tabs")],
        from_seq: 17,
        why: "a test".into(),
    };
    new_epoch(plan).unwrap()
}

#[test]
fn an_epoch_is_written_verbatim() {
    let settings = Settings { effort: Some("low".into()), ..settings("claude-opus-5-5") };
    let (epoch, notices) = begun(&settings);
    let system: Value = serde_json::from_str(&epoch.system).unwrap();
    assert!(system[0]["text"].as_str().unwrap().contains("/work \"space\""));
    assert!(!epoch.system.contains("use tabs"), "a file speaks as the system");
    assert_eq!(system[0]["cache_control"]["ttl"], "1h");
    assert_eq!(serde_json::from_str::<ModelRow>(&epoch.model_row).unwrap(), row("claude-opus-5-5"));
    assert_eq!((epoch.model.as_str(), epoch.max_tokens, epoch.number), ("claude-opus-5-5", 32_000, 3));
    assert_eq!((epoch.renderer, epoch.from_seq, epoch.why.as_str()), (RENDERER, 17, "a test"));
    assert_eq!(epoch.output_config.as_deref(), Some(r#"{"effort":"low"}"#));
    assert_eq!(epoch.seed, [instructions("AGENTS.md", "use tabs")]);
    assert!(notices.is_empty(), "{notices:?}");
}

#[test]
fn an_epoch_fits_the_settings_it_was_begun_with() {
    // Those that the model does not take as they are too, or every turn would begin another epoch.
    let thinking = |json: &str| Some(json.to_owned());
    for model in ["claude-opus-5-5", "claude-haiku-4-5", "claude-sonnet-5-5", "claude-of-the-future"] {
        for effort in [None, Some("low"), Some("max"), Some("huge")] {
            for thinking in
                [None, thinking(r#"{"type":"adaptive"}"#), thinking(r#"{"type":"disabled"}"#), thinking("x")]
            {
                let settings =
                    Settings { effort: effort.map(str::to_owned), thinking, max_tokens: 200_000, ..settings(model) };
                assert_eq!(differs(&begun(&settings).0, &settings, &row(model)), None, "{settings:?}");
            }
        }
    }
}

#[test]
fn what_changes_is_said() {
    let before = settings("claude-opus-5-5");
    let (epoch, _) = begun(&before);
    let said = |settings: &Settings| differs(&epoch, settings, &row(&settings.model)).unwrap_or_default();
    assert_eq!(said(&settings("claude-sonnet-5-5")), "the model changes from claude-opus-5-5 to claude-sonnet-5-5");
    let more = Settings {
        max_tokens: 64_000,
        thinking: Some(r#"{"type":"adaptive"}"#.into()),
        effort: Some("high".into()),
        ..before.clone()
    };
    assert_eq!(
        said(&more),
        "max_tokens changes from 32000 to 64000; thinking changes from the model's own to {\"type\":\"adaptive\"}; \
         effort changes from the model's own to {\"effort\":\"high\"}"
    );
    for same in [
        Settings { command_timeout_ms: 5, max_attempts: 9, approvals: "ask".into(), ..before.clone() },
        Settings { effort: Some("unheard of".into()), ..before.clone() },
    ] {
        assert_eq!(said(&same), "", "{same:?}");
    }
}

#[test]
fn an_epoch_of_another_renderer_is_outdated() {
    let settings = settings("claude-opus-5-5");
    for renderer in [RENDERER - 1, RENDERER + 1] {
        let epoch = ContextEpochStarted { renderer, ..begun(&settings).0 };
        let why = differs(&epoch, &settings, &row(&settings.model)).unwrap();
        assert_eq!(why, "it was begun by another version of retrace");
    }
}
