//! Reads a script out of TOML, with errors that name the step and the line.

use std::time::Duration;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;
use toml::Spanned;

use super::fault::FaultFile;
use super::script::{CompactionStep, Script, Span};
use super::step::{Delivery, Step, StepBlock, ToolInput, UsageOverrides};

/// The largest script, and the largest compiled expression in it.
const MAX_SCRIPT_BYTES: usize = 4 << 20;
const MAX_REGEX_BYTES: usize = 1 << 20;

/// What is wrong with a script, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("script, line {line}{}: {message}", step.as_ref().map(|step| format!(", step {step}")).unwrap_or_default())]
pub struct ScriptError {
    /// The line, counted from 1.
    pub line: usize,
    /// The step: its number counted from 1, and its name if it has one.
    pub step: Option<String>,
    /// What is wrong.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    #[serde(default)]
    delivery: DeliveryFile,
    #[serde(default)]
    step: Vec<Spanned<StepFile>>,
    compaction: Option<CompactionFile>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct CompactionFile {
    summary: Option<String>,
    stop_reason: Option<String>,
    usage: UsageOverrides,
    fault: Vec<FaultFile>,
}

impl CompactionFile {
    fn check(self, delivery: Delivery) -> Result<CompactionStep, String> {
        let Self { summary, stop_reason, usage, fault } = self;
        let mut faults = Vec::new();
        for fault in fault {
            faults.extend(fault.check()?);
        }
        let step = Step {
            name: "compaction".to_owned(),
            when: None,
            next: Vec::new(),
            blocks: Vec::new(),
            stop_reason: stop_reason.unwrap_or_else(|| "compaction".to_owned()),
            stop_sequence: None,
            stop_details: Value::Null,
            usage,
            faults,
            delivery,
        };
        Ok(CompactionStep { summary, step })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFile {
    name: Option<String>,
    when: Option<Spanned<String>>,
    #[serde(alias = "goto")]
    next: Option<Spanned<NextFile>>,
    #[serde(default)]
    block: Vec<Spanned<BlockFile>>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    refusal: Option<RefusalFile>,
    #[serde(default)]
    usage: UsageOverrides,
    #[serde(default)]
    fault: Vec<Spanned<FaultFile>>,
    delivery: Option<DeliveryFile>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NextFile {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusalFile {
    category: Option<String>,
    explanation: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockFile {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    name: Option<String>,
    input: Option<toml::Table>,
    raw_input: Option<String>,
}

#[derive(Deserialize, Clone, Default)]
#[serde(deny_unknown_fields, default)]
struct DeliveryFile {
    split: usize,
    delay_ms: u64,
    delta_chars: usize,
    odd: bool,
}

impl From<DeliveryFile> for Delivery {
    fn from(file: DeliveryFile) -> Self {
        Self {
            split_bytes: file.split,
            delay: Duration::from_millis(file.delay_ms),
            delta_chars: file.delta_chars,
            odd: file.odd,
        }
    }
}

impl Script {
    /// Reads a script; `retrace demo` ships one that shows the format.
    ///
    /// # Errors
    /// When `text` is not a script, naming the step and the line.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        if text.len() > MAX_SCRIPT_BYTES {
            let message = format!("the script is larger than {MAX_SCRIPT_BYTES} bytes");
            return Err(ScriptError { line: 1, step: None, message });
        }
        let file: ScriptFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            let number = text.lines().take(line).filter(|line| line.trim_start().starts_with("[[step]]")).count();
            ScriptError { line, step: (number > 0).then(|| number.to_string()), message: error.message().to_owned() }
        })?;
        if file.step.is_empty() {
            return Err(ScriptError {
                line: 1,
                step: None,
                message: "a script needs at least one [[step]]".to_owned(),
            });
        }
        let reader = Reader { text, names: file.step.iter().map(|step| step.get_ref().name.clone()).collect() };
        let general = file.delivery;
        let steps = file.step.into_iter().enumerate().map(|(index, step)| reader.step(index, step, &general));
        let compaction = file.compaction.unwrap_or_default().check(general.clone().into());
        let compaction =
            compaction.map_err(|message| ScriptError { line: 1, step: Some("compaction".to_owned()), message })?;
        Ok(Self { steps: steps.collect::<Result<_, _>>()?, compaction })
    }
}

/// What the checks of all steps need.
struct Reader<'a> {
    text: &'a str,
    names: Vec<Option<String>>,
}

impl Reader<'_> {
    fn error(&self, index: usize, span: &Span, message: impl Into<String>) -> ScriptError {
        let name = self.names[index].as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        ScriptError {
            line: line_of(self.text, span.start),
            step: Some(format!("{}{name}", index + 1)),
            message: message.into(),
        }
    }

    fn step(&self, index: usize, step: Spanned<StepFile>, general: &DeliveryFile) -> Result<Step, ScriptError> {
        let span = step.span();
        let file = step.into_inner();
        if let Some(name) = &file.name
            && self.names.iter().filter(|other| other.as_ref() == Some(name)).count() > 1
        {
            return Err(self.error(index, &span, format!("the name {name:?} is given to several steps")));
        }
        let when = file.when.map(|when| self.regex(index, &when)).transpose()?;
        let next = file.next.map(|next| self.next(index, next)).transpose()?.unwrap_or_default();
        let mut blocks = Vec::new();
        for block in file.block {
            let at = block.span();
            blocks.push(check_block(block.into_inner()).map_err(|message| self.error(index, &at, message))?);
        }
        let mut faults = Vec::new();
        for fault in file.fault {
            let at = fault.span();
            faults.extend(fault.into_inner().check().map_err(|message| self.error(index, &at, message))?);
        }
        let calls_tool = blocks.iter().any(|block| matches!(block, StepBlock::ToolUse { .. }));
        let usual = match (&file.refusal, &file.stop_sequence) {
            (Some(_), _) => "refusal",
            (None, Some(_)) => "stop_sequence",
            (None, None) if calls_tool => "tool_use",
            (None, None) => "end_turn",
        };
        Ok(Step {
            name: file.name.unwrap_or_else(|| (index + 1).to_string()),
            when,
            next,
            blocks,
            stop_reason: file.stop_reason.unwrap_or_else(|| usual.to_owned()),
            stop_sequence: file.stop_sequence,
            stop_details: file.refusal.map_or(Value::Null, |refusal| {
                let RefusalFile { category, explanation } = refusal;
                serde_json::json!({ "type": "refusal", "category": category, "explanation": explanation })
            }),
            usage: file.usage,
            faults,
            delivery: file.delivery.unwrap_or_else(|| general.clone()).into(),
        })
    }

    fn regex(&self, index: usize, when: &Spanned<String>) -> Result<Regex, ScriptError> {
        let built = RegexBuilder::new(when.get_ref()).size_limit(MAX_REGEX_BYTES).build();
        built.map_err(|error| {
            // The crate draws the expression over several lines; its last line says what is wrong.
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
            self.error(index, &when.span(), format!("`when` is not a regular expression: {reason}"))
        })
    }

    fn next(&self, index: usize, next: Spanned<NextFile>) -> Result<Vec<usize>, ScriptError> {
        let span = next.span();
        let wanted = match next.into_inner() {
            NextFile::One(name) => vec![name],
            NextFile::Several(names) => names,
        };
        let find = |name: String| {
            let found = self.names.iter().position(|other| other.as_deref() == Some(name.as_str()));
            found.ok_or_else(|| self.error(index, &span, format!("`next` names {name:?}, which no step is called")))
        };
        wanted.into_iter().map(find).collect()
    }
}

fn check_block(block: BlockFile) -> Result<StepBlock, String> {
    let BlockFile { kind, text, name, input, raw_input } = block;
    let foreign =
        |present: bool, field: &str| if present { Err(format!("a {kind} block has no `{field}`")) } else { Ok(()) };
    if kind != "tool_use" {
        foreign(name.is_some(), "name")?;
        foreign(input.is_some(), "input")?;
        foreign(raw_input.is_some(), "raw_input")?;
    }
    match kind.as_str() {
        "text" => Ok(StepBlock::Text { text: text.ok_or("a text block needs `text`")? }),
        "thinking" => Ok(StepBlock::Thinking { text: text.unwrap_or_default() }),
        "redacted_thinking" => {
            foreign(text.is_some(), "text")?;
            Ok(StepBlock::RedactedThinking)
        }
        "tool_use" => {
            foreign(text.is_some(), "text")?;
            let input = match (input, raw_input) {
                (Some(_), Some(_)) => return Err("`input` and `raw_input` exclude each other".to_owned()),
                (Some(table), None) => ToolInput::Object(json(toml::Value::Table(table))),
                (None, Some(raw)) => ToolInput::Raw(raw),
                (None, None) => ToolInput::Object(Value::Object(Map::new())),
            };
            Ok(StepBlock::ToolUse { name: name.ok_or("a tool_use block needs `name`")?, input })
        }
        other => Err(format!("unknown block type {other:?}: text, thinking, redacted_thinking or tool_use")),
    }
}

/// TOML as JSON; dates become their text.
fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, json(value))).collect(),
    }
}

/// The line of the byte at `offset`, counted from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}
