//! What came of a tool call: Claude Code's result as an event of ours.

use super::blocks::{Block, Content, ImageSource};
use super::record::object;
use crate::import::Draft;
use crate::tools;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use retrace_events::payload::context::ContextImageAttached;
use retrace_events::payload::tool::{ToolDenied, ToolEffect, ToolExit, ToolFinished};
use retrace_events::redact::Redactor;
use retrace_events::{BlobRef, CallId, Hash, Payload};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

/// The most of a result that stands in the event; the whole is in the blob store.
const INLINE_BYTES: usize = 256 * 1024;
/// How a call's result begins that the user did not allow.
const REJECTED: &str = "The user doesn't want to";
/// How the result of a command begins that failed.
const EXIT_CODE: &str = "Exit code ";

/// Tools that only look.
const LOOKING: [&str; 14] = [
    "Read",
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "WebFetch",
    "WebSearch",
    "BashOutput",
    "TaskOutput",
    "TodoRead",
    "ToolSearch",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "AskUserQuestion",
];
/// Tools that change the file they name.
const EDITING: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/// A call that has no result yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenCall {
    /// The model's id of it.
    pub(super) id: String,
    /// The tool.
    pub(super) tool: String,
    /// Its input as raw JSON.
    pub(super) input: String,
    /// When it was asked for, in milliseconds since 1970.
    pub(super) at_ms: u64,
}

/// What a tool may do, by its name; what is not known may do anything.
pub(super) fn effect_of(tool: &str) -> ToolEffect {
    if LOOKING.contains(&tool) { ToolEffect::ReadOnly } else { ToolEffect::Writes }
}

/// What came of a call, as the transcript has it.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The call.
    pub(super) call: String,
    is_error: bool,
    text: String,
    images: Vec<ImageSource>,
    details: Details,
}

/// What Claude Code notes beside a result.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    #[serde(deserialize_with = "super::record::lenient")]
    stdout: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    stderr: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    interrupted: Option<bool>,
    #[serde(deserialize_with = "super::record::lenient")]
    return_code_interpretation: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    background_task_id: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    file_path: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    duration_ms: Option<f64>,
    #[serde(deserialize_with = "super::record::lenient")]
    total_duration_ms: Option<f64>,
}

impl Outcome {
    /// Reads a result.
    pub(super) fn of(block: &Block<'_>) -> Self {
        let content = Content::of(block.content);
        Self {
            call: block.tool_use_id.clone().unwrap_or_default(),
            is_error: block.is_error.unwrap_or_default(),
            text: content.texts.join("\n") + &content.left_out(),
            images: content.images,
            details: Details::default(),
        }
    }

    /// Takes over what stands beside the result.
    pub(super) fn detail(&mut self, raw: &RawValue) {
        self.details = object(raw.get()).unwrap_or_default();
    }

    /// The events of it: images, then the result. `record` names the line, `call` is the call if it is known, and `at_ms`
    /// is when the result came.
    pub(super) fn drafts(
        self,
        record: &str,
        call: Option<&OpenCall>,
        at_ms: u64,
        workspace: &str,
        redactor: &Redactor,
    ) -> Vec<Draft> {
        let id = CallId(self.call.clone());
        let (mut drafts, mut blobs, mut notes) = (Vec::new(), Vec::new(), String::new());
        for (place, image) in self.images.iter().enumerate() {
            match attached(image, &format!("result {}", place + 1), Some(id.clone())) {
                Ok(payload) => drafts.push(draft(record, &format!("image {} {place}", self.call), at_ms, payload)),
                Err(why) => notes.push_str(&format!("\n[image left out: {why}]")),
            }
        }
        let text = redactor.redact(&(self.text.clone() + &notes)).into_owned();
        let result: Payload = if self.is_error && text.starts_with(REJECTED) {
            ToolDenied { call: id, by: "user".to_owned(), content: text }.into()
        } else {
            let whole = self.whole(&text, redactor);
            let output = whole.map(|bytes| {
                let blob = BlobRef { hash: Hash::of(&bytes), size_bytes: bytes.len() as u64 };
                blobs.push(bytes);
                blob
            });
            ToolFinished {
                call: id,
                is_error: self.is_error,
                exit: self.exit(call),
                changed: self.changed(call, workspace),
                duration_ms: self.duration_ms(call, at_ms),
                content: inline(text),
                output,
            }
            .into()
        };
        let name = format!("{record}/result {}", self.call);
        drafts.push(Draft { name, at_ms, payload: result, blobs });
        drafts
    }

    /// The whole output, when the event shows only a part of it.
    fn whole(&self, text: &str, redactor: &Redactor) -> Option<Vec<u8>> {
        let (stdout, stderr) = (self.details.stdout.as_deref(), self.details.stderr.as_deref());
        let all = [stdout, stderr].into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        if all.len() > text.len() {
            return Some(redactor.redact(&all).into_owned().into_bytes());
        }
        (text.len() > INLINE_BYTES).then(|| text.as_bytes().to_vec())
    }

    /// How a command ended, where that can be told.
    fn exit(&self, call: Option<&OpenCall>) -> Option<ToolExit> {
        let ended = |code| Some(ToolExit { code: Some(code), signal: None, timed_out: false });
        if call.is_none_or(|call| call.tool != "Bash") {
            return None;
        }
        if let Some(rest) = self.text.strip_prefix(EXIT_CODE).filter(|_| self.is_error) {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            return digits.parse().ok().and_then(ended);
        }
        let odd = self.is_error
            || self.details.stdout.is_none()
            || self.details.interrupted.unwrap_or_default()
            || self.details.background_task_id.is_some()
            || self.details.return_code_interpretation.is_some();
        if odd { None } else { ended(0) }
    }

    /// The file it changed, where that can be told.
    fn changed(&self, call: Option<&OpenCall>, workspace: &str) -> Vec<String> {
        let Some(call) = call.filter(|call| !self.is_error && EDITING.contains(&call.tool.as_str())) else {
            return Vec::new();
        };
        let Some(path) = self.details.file_path.clone().or_else(|| path_in(&call.input)) else { return Vec::new() };
        let beneath = Path::new(&path).strip_prefix(workspace).map(|path| path.to_string_lossy().into_owned());
        vec![beneath.unwrap_or(path)]
    }

    fn duration_ms(&self, call: Option<&OpenCall>, at_ms: u64) -> u64 {
        let noted = self.details.total_duration_ms.or(self.details.duration_ms);
        let noted = noted.filter(|ms| ms.is_finite() && *ms >= 0.0 && *ms < 1e12);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a small number")]
        let noted = noted.map(|ms| ms as u64);
        noted.unwrap_or_else(|| call.map_or(0, |call| at_ms.saturating_sub(call.at_ms)))
    }
}

/// An image as an event; or why the model would not take it.
pub(super) fn attached(image: &ImageSource, name: &str, call: Option<CallId>) -> Result<Payload, String> {
    let bytes = STANDARD.decode(image.data.as_bytes()).map_err(|_| "it is not base64".to_owned())?;
    let image = tools::image_of(name, bytes)?;
    Ok(ContextImageAttached {
        name: image.name,
        media_type: image.media_type,
        data_base64: STANDARD.encode(&image.bytes),
        call,
        width_px: image.width_px,
        height_px: image.height_px,
    }
    .into())
}

/// An event of the record `record`.
pub(super) fn draft(record: &str, part: &str, at_ms: u64, payload: Payload) -> Draft {
    Draft { name: format!("{record}/{part}"), at_ms, payload, blobs: Vec::new() }
}

/// Head and tail of a text that is too long for an event.
fn inline(text: String) -> String {
    if text.len() <= INLINE_BYTES {
        return text;
    }
    let head = &text[..text.floor_char_boundary(INLINE_BYTES / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - INLINE_BYTES / 2)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[{left_out} bytes left out here; the whole output is kept]\n{tail}")
}

/// The file that an editing call names.
fn path_in(input: &str) -> Option<String> {
    let input: serde_json::Value = serde_json::from_str(input).ok()?;
    ["file_path", "notebook_path"].iter().find_map(|name| input.get(name)?.as_str().map(str::to_owned))
}
