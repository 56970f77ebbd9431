//! `retrace replay --what-if`: what other settings would have made of a session's contexts.

use crate::cli::exit::{CliError, Exit};
use crate::cli::render::{Style, clean, units};
use crate::cli::setup::Setup;
use crate::replaying::{
    ComparedRequest, ItemKind, OtherSettings, RequestFigures, SettingError, WhatIf, WhatIfError, WhatIfParts,
};
use retrace_events::{EventLog, StreamId};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// Requests that are shown unless all are asked for: those with another epoch, and no more than this.
const SHOWN: usize = 8;

/// Plays the session through, and prints the three columns.
pub(super) async fn run(
    setup: &Setup,
    log: &dyn EventLog,
    stream: &StreamId,
    other: &OtherSettings,
    all: bool,
) -> Result<Exit, CliError> {
    let parts = WhatIfParts {
        log,
        models: &setup.models,
        redactor: Arc::clone(&setup.redactor),
        context_tokens: setup.config.values.context_tokens.value,
    };
    let found = Box::pin(WhatIf::of(&parts, stream, other)).await?;
    if setup.output.json {
        for request in &found.requests {
            setup.output.json_line(&row(request))?;
        }
        setup.output.json_line(&json!({ "summary": sums(&found, stream, other) }))?;
        return Ok(Exit::Done);
    }
    let style = setup.output.data_style();
    setup.output.data(&table(&found, other, style))?;
    setup.output.data(&requests(&found, all, style))?;
    setup.output.data(&style.dim(&explained(&found)))?;
    Ok(Exit::Done)
}

fn row(request: &ComparedRequest) -> Value {
    json!({
        "event": format!("{}@{}", request.event.0.id, request.event.1),
        "sent": figures(&request.sent),
        "logged_settings": figures(&request.baseline),
        "what_if": figures(&request.other),
    })
}

fn figures(figures: &RequestFigures) -> Value {
    let kinds = ItemKind::ALL.iter().map(|kind| {
        let tokens = figures.by_kind.get(kind).copied().unwrap_or_default();
        (kind.name().replace(", ", "_"), json!(tokens))
    });
    json!({
        "epoch": figures.epoch,
        "input_tokens": figures.input_tokens,
        "by_kind": Value::Object(kinds.collect()),
        "cache_read_tokens": figures.read_tokens,
        "cache_written_tokens": figures.written_tokens,
        "output_tokens": figures.output_tokens,
        "cost_microusd": figures.cost_microusd,
    })
}

fn sums(found: &WhatIf, stream: &StreamId, other: &OtherSettings) -> Value {
    let [sent, baseline, changed] = totals(found);
    json!({
        "session": stream.id.as_str(),
        "what_if": other.words,
        "requests": found.requests.len(),
        "sent": figures(&sent),
        "logged_settings": figures(&baseline),
        "other_settings": figures(&changed),
        "context_tokens": found.context_tokens,
        "context_tokens_from": if found.logged_budget { "log" } else { "configuration" },
        "api_summaries": found.api_summaries.0,
        "api_summaries_cost_microusd": found.api_summaries.1,
        "simulated": ["logged_settings", "other_settings"],
    })
}

fn totals(found: &WhatIf) -> [RequestFigures; 3] {
    [
        found.total(|request| &request.sent),
        found.total(|request| &request.baseline),
        found.total(|request| &request.other),
    ]
}

/// The sums for people.
fn table(found: &WhatIf, other: &OtherSettings, style: Style) -> String {
    let columns = totals(found);
    let words = clean::short(&other.words.join(" "), 60);
    let requests = units::of(found.requests.len() as u64, "request");
    let mut text = style.bold(&format!("{requests}, and what if {words}?\n"));
    let head = format!("{:<16} {:>12} {:>16} {:>12} {:>8}\n", "", "sent", "logged settings", "what if", "change");
    text.push_str(&style.dim(&head));
    let mut row = |name: &str, of: &dyn Fn(&RequestFigures) -> u64, shown: &dyn Fn(u64) -> String| {
        let [sent, baseline, changed] = [of(&columns[0]), of(&columns[1]), of(&columns[2])];
        let line = format!(
            "{name:<16} {:>12} {:>16} {:>12} {:>8}",
            shown(sent),
            shown(baseline),
            shown(changed),
            change(baseline, changed)
        );
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    };
    row("epochs", &|figures| figures.epoch, &units::count);
    row("input tokens", &|figures| figures.input_tokens, &units::count);
    for kind in ItemKind::ALL {
        let of = move |figures: &RequestFigures| figures.by_kind.get(&kind).copied().unwrap_or_default();
        row(&format!("  {}", kind.name()), &of, &units::count);
    }
    row("read from cache", &|figures| figures.read_tokens, &units::count);
    row("written to cache", &|figures| figures.written_tokens, &units::count);
    row("neither", &RequestFigures::fresh_tokens, &units::count);
    row("output tokens", &|figures| figures.output_tokens, &units::count);
    row("cost", &|figures| figures.cost_microusd, &units::cost);
    text
}

/// By how much `changed` differs, in percent.
fn change(baseline: u64, changed: u64) -> String {
    if baseline == changed {
        return String::new();
    }
    if baseline == 0 {
        return "new".to_owned();
    }
    let percent = (i128::from(changed) - i128::from(baseline)) * 1_000 / i128::from(baseline);
    let sign = if percent < 0 { '-' } else { '+' };
    format!("{sign}{}.{}%", percent.unsigned_abs() / 10, percent.unsigned_abs() % 10)
}

/// Single requests: all of them, or the first of each epoch that is new.
fn requests(found: &WhatIf, all: bool, style: Style) -> String {
    let mut chosen: Vec<&ComparedRequest> = Vec::new();
    let mut before = (0, 0);
    for request in &found.requests {
        let epochs = (request.baseline.epoch, request.other.epoch);
        if all || epochs != before {
            chosen.push(request);
        }
        before = epochs;
    }
    let left = if all { 0 } else { chosen.len().saturating_sub(SHOWN) };
    chosen.truncate(chosen.len() - left);
    let head = format!("\n{:<10} {:>12} {:>16} {:>12}  epoch\n", "request at", "sent", "logged settings", "what if");
    let mut text = style.dim(&head);
    for request in chosen {
        let ComparedRequest { event: (_, seq), sent, baseline, other } = request;
        let _ = writeln!(
            text,
            "event {seq:<5} {:>11} {:>16} {:>12}  {} · {} · {}",
            units::count(sent.input_tokens),
            units::count(baseline.input_tokens),
            units::count(other.input_tokens),
            sent.epoch,
            baseline.epoch,
            other.epoch
        );
    }
    if !all && found.requests.len() > 1 {
        let more =
            if left > 0 { format!("; {} more begin an epoch", units::count(left as u64)) } else { String::new() };
        let _ =
            writeln!(text, "{}", style.dim(&format!("each the first of an epoch{more}; --all shows every request")));
    }
    text
}

/// What is simulated, in a few lines.
fn explained(found: &WhatIf) -> String {
    let budget = found
        .context_tokens
        .map_or_else(|| "the model's window".to_owned(), |tokens| format!("{} tokens", units::count(tokens)));
    let from = if found.logged_budget { "the log says so" } else { "today's configuration; the log does not say" };
    let mut text = format!(
        "\nsimulated: the last two columns. Epochs, seeds, tails and the cache are worked out again by the agent's own rules; the\n\
         conversation, what the index found and the tokens per byte are the log's. Logged settings: a context of {budget}\n\
         ({from}). How far the first two columns agree says what the third is worth.\n"
    );
    if found.api_summaries.0 > 0 {
        let _ = writeln!(
            text,
            "not simulated: {} by the API ({}); a seed stands in for each.",
            units::of(found.api_summaries.0, "summary").replace("summarys", "summaries"),
            units::cost(found.api_summaries.1)
        );
    }
    text
}

impl From<SettingError> for CliError {
    fn from(error: SettingError) -> Self {
        match error {
            SettingError::Value(error) => error.into(),
            SettingError::NoPair { .. } | SettingError::UnknownKey { .. } | SettingError::Twice { .. } => {
                Self::new(Exit::Usage, error.to_string())
            }
        }
    }
}

impl From<WhatIfError> for CliError {
    fn from(error: WhatIfError) -> Self {
        match error {
            WhatIfError::Log(error) => error.into(),
            WhatIfError::NoSuchSession(_) | WhatIfError::NoRequest(_) => Self::new(Exit::NotFound, error.to_string()),
            WhatIfError::Render { .. } => Self::new(Exit::Failed, error.to_string()),
        }
    }
}
