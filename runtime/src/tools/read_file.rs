//! `read_file`: a range of a file's lines, numbered.
//!
//! The file comes in blocks and only the lines asked for are kept, so a huge file costs time and no memory. What it
//! is (other encoding, CRLF, binary, empty) is said, since the model's next edit depends on it.

use super::guest::{self, GuestError};
use super::image::{self, Format};
use super::lines::LineScanner;
use super::missing;
use super::output::{LINE_CHARS, one_line, plural, thousands};
use super::text_file::{Encoding, LineEnds, NotText, detect};
use super::typed::TypedTool;
use super::window::Window;
use super::{ToolContext, ToolFailure, ToolResult, magic};
use retrace_events::payload::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Lines that are shown when the input names no number.
const DEFAULT_LINES: u64 = 2_000;
/// The most text that is shown at once, in bytes.
const MAX_SHOWN_BYTES: usize = 48_000;
/// How much is read at a time, in bytes.
const BLOCK_BYTES: u64 = 1024 * 1024;
/// How much of a file is looked through for lines, in bytes.
const MAX_SCANNED_BYTES: u64 = 128 * 1024 * 1024;
/// How much of a file's beginning decides what it is, in bytes.
const SAMPLE_BYTES: usize = 64 * 1024;

/// The tool.
pub(super) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file, relative to the workspace.
    path: String,
    /// The first line to show, counted from 1. Left out: the beginning.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// How many lines to show at most. Left out: 2,000.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

impl TypedTool for ReadFile {
    type Input = Input;

    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "\
        Reads a text file of the workspace. Comes back with each line as `number<tab>text` and a last line in brackets \
        that says how many lines there are in all, which are shown, and how the file is encoded when that is not plain \
        UTF-8 with LF line ends. Shows up to 2,000 lines and 48,000 bytes at once, lines cut after 2,000 characters; use \
        offset and limit for the rest. A PNG, JPEG, GIF or WebP image comes back as \
        an image. Of another binary file it shows size, probable kind and first bytes. Not for folders \
        (list_dir) or for finding something in many files (search_files).";
    const EFFECT: ToolEffect = ToolEffect::ReadOnly;

    fn summary(input: &Value) -> String {
        let path = one_line(input["path"].as_str().unwrap_or("?"), 80);
        match (input["offset"].as_u64(), input["limit"].as_u64()) {
            (None, None) => path,
            (offset, None) => format!("{path}, from line {}", offset.unwrap_or(1)),
            (offset, Some(limit)) => {
                let first = offset.unwrap_or(1);
                format!("{path}, lines {first} to {}", first.saturating_add(limit).saturating_sub(1))
            }
        }
    }

    async fn run(context: &ToolContext, input: Input) -> Result<ToolResult, ToolFailure> {
        guest::settle_look(context, read(context, &input)).await
    }
}

async fn read(context: &ToolContext, input: &Input) -> Result<ToolResult, GuestError> {
    let (block, size_bytes) = match context.sandbox.read(&input.path, 0, BLOCK_BYTES).await {
        Ok(contents) => (contents.bytes, contents.total_bytes),
        Err(error) => return missing::explain(context, &input.path, error.into()).await,
    };
    if block.is_empty() && guest::is_masked(context, &input.path) {
        return Ok(guest::masked(&input.path));
    }
    if block.is_empty() {
        return Ok(ToolResult::text("[the file is empty]"));
    }
    if Format::of(&block).is_some() {
        return picture(context, input, block, size_bytes).await;
    }
    let sample = &block[..block.len().min(SAMPLE_BYTES)];
    match detect(sample, sample.len() as u64 >= size_bytes) {
        Ok(encoding) => text(context, input, encoding, block).await,
        Err(why) => Ok(ToolResult::text(not_text(&why, &block, size_bytes))),
    }
}

/// The file as an image for the model; one that is damaged is described like any other binary file.
async fn picture(
    context: &ToolContext,
    input: &Input,
    mut bytes: Vec<u8>,
    size_bytes: u64,
) -> Result<ToolResult, GuestError> {
    if let Some(why) = image::too_many_bytes(&input.path, size_bytes) {
        return Ok(ToolResult::error(why));
    }
    if (bytes.len() as u64) < size_bytes {
        bytes = context.sandbox.read(&input.path, 0, image::MAX_IMAGE_BYTES + 1).await?.bytes;
    }
    Ok(match image::image_of(&input.path, bytes) {
        Ok(image) => ToolResult { content: image.describe(), images: vec![image], ..ToolResult::default() },
        Err(why) => ToolResult::error(why),
    })
}

fn not_text(why: &NotText, bytes: &[u8], size_bytes: u64) -> String {
    let size = plural(size_bytes, "byte");
    let head = magic::hex_head(bytes);
    match why {
        NotText::Binary | NotText::Invalid(_) => {
            format!("[binary file, {size}: {}; its first bytes:]\n{head}", magic::kind(bytes))
        }
        NotText::UnknownEncoding => {
            format!("[{size}, {why}; `iconv` or `file` in bash may help; its first bytes:]\n{head}")
        }
    }
}

async fn text(
    context: &ToolContext,
    input: &Input,
    encoding: Encoding,
    mut block: Vec<u8>,
) -> Result<ToolResult, GuestError> {
    let mut window = Window::new(input.offset.unwrap_or(1), input.limit.unwrap_or(DEFAULT_LINES), MAX_SHOWN_BYTES);
    let (mut scanner, mut decoder) = (LineScanner::new(LINE_CHARS as u64), encoding.decoder());
    let (mut damaged, mut scanned_bytes, mut more) = (false, 0, false);
    while !block.is_empty() {
        scanned_bytes += block.len() as u64;
        damaged |= feed(&mut decoder, &block, false, &mut scanner, &mut window);
        if scanned_bytes >= MAX_SCANNED_BYTES {
            more = true;
            break;
        }
        block = context.sandbox.read(&input.path, scanned_bytes, BLOCK_BYTES).await?.bytes;
    }
    damaged |= feed(&mut decoder, &[], true, &mut scanner, &mut window);
    let (lines, ends) = scanner.finish(&mut |line| window.take(line));
    if window.last().is_none() {
        return Ok(ToolResult::error(past_end(input, lines, more)));
    }
    let remarks = Remarks { lines, ends, more, damaged, encoding };
    let body = window.numbered(|text| context.redactor.redact(text).into_owned());
    Ok(ToolResult::text(format!("{body}{}", remarks.line(&window))))
}

fn feed(
    decoder: &mut encoding_rs::Decoder,
    block: &[u8],
    last: bool,
    scanner: &mut LineScanner,
    window: &mut Window,
) -> bool {
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(block.len()).unwrap_or_default());
    let (_, _, damaged) = decoder.decode_to_string(block, &mut text, last);
    scanner.feed(&text, &mut |line| window.take(line));
    damaged
}

fn past_end(input: &Input, lines: u64, more: bool) -> String {
    let offset = thousands(input.offset.unwrap_or(1));
    if more {
        let scanned = thousands(MAX_SCANNED_BYTES);
        return format!(
            "line {offset} of {} lies beyond the first {scanned} bytes; use bash (sed -n, tail)",
            input.path
        );
    }
    format!("there is no line {offset}: {} has {}", input.path, plural(lines, "line"))
}

/// What is said beside the lines themselves.
struct Remarks {
    lines: u64,
    ends: LineEnds,
    more: bool,
    damaged: bool,
    encoding: Encoding,
}

impl Remarks {
    fn line(&self, window: &Window) -> String {
        let mut remarks = vec![self.range(window)];
        remarks.extend(self.encoding.label().map(str::to_owned));
        remarks.extend(self.ends.label());
        if self.ends.crlf + self.ends.lf < self.lines && !self.more {
            remarks.push("no line end after the last line".to_owned());
        }
        if self.damaged {
            remarks.push("some bytes are not valid and shown as \u{FFFD}".to_owned());
        }
        format!("[{}]", remarks.join("; "))
    }

    fn range(&self, window: &Window) -> String {
        let last = window.last().unwrap_or_default();
        let at_least = if self.more { "more than " } else { "" };
        if window.first() == 1 && last == self.lines && !self.more {
            return plural(self.lines, "line");
        }
        let range = format!(
            "lines {} to {} of {at_least}{}",
            thousands(window.first()),
            thousands(last),
            thousands(self.lines)
        );
        if last < self.lines { format!("{range}; to go on: offset {}", last + 1) } else { range }
    }
}
