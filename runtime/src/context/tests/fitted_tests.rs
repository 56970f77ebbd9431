//! Settings that a model does not take are left out or replaced, and said.

use super::settings;
use crate::claude::{Effort, ModelTable};
use crate::context::fitted::Fitted;
use retrace_events::payload::settings::Settings;

fn fitted(settings: &Settings) -> Fitted {
    Fitted::new(settings, &ModelTable::builtin().unwrap().row(&settings.model))
}

fn effort(model: &str, effort: &str, thinking: Option<&str>) -> Fitted {
    let thinking = thinking.map(str::to_owned);
    fitted(&Settings { effort: Some(effort.to_owned()), thinking, ..settings(model) })
}

#[test]
fn efforts_by_model() {
    let takes = |model: &str| -> Vec<&str> {
        let levels = Effort::ALL.map(Effort::as_str).into_iter();
        levels.filter(|level| effort(model, level, None).output_config.is_some()).collect()
    };
    assert_eq!(takes("claude-opus-5-5"), ["low", "medium", "high", "xhigh", "max"]);
    assert_eq!(takes("claude-haiku-5-5-20261001"), ["low", "medium", "high", "xhigh", "max"]);
    assert_eq!(takes("claude-opus-4-6"), ["low", "medium", "high", "max"]);
    assert_eq!(takes("claude-opus-4-5-20251101"), ["low", "medium", "high"]);
    for none in ["claude-haiku-4-5", "claude-sonnet-4-5", "claude-of-the-future"] {
        assert_eq!(takes(none), [""; 0], "{none}");
    }
}

#[test]
fn an_effort_that_is_not_taken_is_said_with_those_that_are() {
    let fitted = effort("claude-opus-4-6", "xhigh", None);
    assert_eq!(
        fitted.notices,
        ["claude-opus-4-6 does not take effort `xhigh`, so none is asked for. hint: it takes low, medium, high, max"]
    );
    let fitted = effort("claude-haiku-4-5", "high", None);
    assert_eq!(
        fitted.notices,
        ["claude-haiku-4-5 does not take effort `high`, so none is asked for. hint: it has no such setting"]
    );
}

#[test]
fn the_highest_efforts_need_thinking() {
    let off = Some(r#"{"type":"disabled"}"#);
    let fitted = effort("claude-haiku-5-5", "max", off);
    assert_eq!((fitted.output_config, fitted.thinking.as_deref()), (None, off));
    assert!(fitted.notices[0].starts_with("effort `max` needs thinking, which is off"), "{:?}", fitted.notices);
    assert_eq!(effort("claude-haiku-5-5", "high", off).notices, [""; 0]);
    let between = effort("claude-sonnet-5-5", "xhigh", Some(r#"{"type":"between_tools"}"#));
    assert_eq!(between.output_config, None);
}

#[test]
fn thinking_of_another_model_becomes_the_models_own() {
    let with = |model: &str, thinking: &str| fitted(&Settings { thinking: Some(thinking.into()), ..settings(model) });
    let adaptive = with("claude-haiku-4-5", r#"{"type":"adaptive"}"#);
    assert_eq!(adaptive.thinking.as_deref(), Some(r#"{"type":"enabled","budget_tokens":16000}"#));
    assert_eq!(adaptive.notices, ["claude-haiku-4-5 does not take adaptive thinking; the kind it has is used"]);
    let silent = with("claude-opus-5-5", r#"{"type":"disabled"}"#);
    assert_eq!((silent.thinking, silent.notices.len()), (None, 1), "a model that cannot be silenced");
    let unknown = with("claude-of-the-future", r#"{"type":"dreaming"}"#);
    assert_eq!((unknown.thinking.as_deref(), unknown.notices.len()), (Some(r#"{"type":"dreaming"}"#), 0));
    let same = with("claude-opus-5-5", r#"{"display":"omitted", "type":"adaptive"}"#);
    assert_eq!(same.thinking.as_deref(), Some(r#"{"display":"omitted", "type":"adaptive"}"#), "byte for byte");
}

#[test]
fn answers_are_no_longer_than_the_model_makes_them() {
    let long = |model: &str| fitted(&Settings { max_tokens: 100_000, ..settings(model) });
    assert_eq!(long("claude-opus-5-5").max_tokens, 100_000);
    assert_eq!(long("claude-of-the-future").max_tokens, 100_000, "nothing is known about it");
    let cut = long("claude-haiku-4-5");
    assert_eq!(cut.max_tokens, 64_000);
    assert_eq!(
        cut.notices,
        ["claude-haiku-4-5 answers with at most 64000 tokens; max_tokens is 64000 instead of 100000"]
    );
}
