//! Results of calls.

use super::*;
use retrace_events::payload::tool::{ToolEffect, ToolFinished};
use retrace_events::payload::{Context, Tool};
use retrace_events::{BlobRef, Hash};

/// The events of a result: `content` and `is_error` as JSON, and what stands beside it.
fn result_drafts(tool: &str, input: &str, content: &str, is_error: bool, beside: &str) -> Vec<Draft> {
    let block = format!(r#"[{{"type":"tool_result","tool_use_id":"t1","is_error":{is_error},"content":{content}}}]"#);
    let rest = format!(r#""message":{{"content":{block}}},"toolUseResult":{beside}"#);
    let result = line("r", "user", &rest).replace("10:00:00Z", "10:00:05Z");
    after_prompt(&[answer("a", "m", &call("t1", tool, input)), result]).split_off(2)
}

fn result(tool: &str, input: &str, content: &str, is_error: bool, beside: &str) -> ToolFinished {
    let drafts = result_drafts(tool, input, content, is_error, beside);
    match &drafts[..] {
        [Draft { payload: Payload::Tool(Tool::Finished(finished)), .. }] => finished.clone(),
        other => panic!("{other:?}"),
    }
}

fn exit_of(content: &str, is_error: bool, beside: &str) -> Option<i32> {
    result("Bash", "{}", content, is_error, beside).exit.and_then(|exit| exit.code)
}

#[test]
fn exit_codes_are_told_where_they_are_known() {
    let fine = r#"{"stdout":"x","stderr":"","interrupted":false}"#;
    assert_eq!(exit_of(r#""x""#, false, fine), Some(0));
    assert_eq!(exit_of(r#""Exit code 101\nfailed""#, true, r#""Error""#), Some(101));
    assert_eq!(exit_of(r#""Exit code 99999999999""#, true, "null"), None);
    assert_eq!(exit_of(r#""timed out""#, true, "null"), None);
    assert_eq!(exit_of(r#""x""#, false, "null"), None, "nothing says that it was well");
    for odd in
        [r#""interrupted":true"#, r#""returnCodeInterpretation":"No matches found""#, r#""backgroundTaskId":"b1""#]
    {
        assert_eq!(exit_of(r#""x""#, false, &format!(r#"{{"stdout":"x",{odd}}}"#)), None, "{odd}");
    }
    // A file may say what it likes.
    assert_eq!(result("Read", "{}", r#""Exit code 3""#, true, "null").exit, None);
}

#[test]
fn changed_files_are_named_relative_to_the_workspace() {
    let changed = |tool: &str, input: &str, is_error: bool, beside: &str| {
        result(tool, input, r#""ok""#, is_error, beside).changed
    };
    let inside = r#"{"filePath":"/home/ada/parser/src/a.rs"}"#;
    assert_eq!(changed("Edit", "{}", false, inside), ["src/a.rs"]);
    assert_eq!(changed("Write", r#"{"file_path":"/etc/b"}"#, false, "null"), ["/etc/b"]);
    assert_eq!(changed("NotebookEdit", r#"{"notebook_path":"/home/ada/parser/n.ipynb"}"#, false, "7"), ["n.ipynb"]);
    assert!(changed("Edit", "{}", true, inside).is_empty());
    assert!(changed("Read", "{}", false, inside).is_empty());
    assert!(changed("Write", r#"{"file_path":7}"#, false, "null").is_empty());
}

#[test]
fn large_outputs_go_to_the_blob_store() {
    let large = "line of output\n".repeat(40_000);
    let content = serde_json::to_string(&large).unwrap();
    let drafts = result_drafts("Bash", "{}", &content, false, "null");
    let Payload::Tool(Tool::Finished(finished)) = &drafts[0].payload else { panic!("{drafts:?}") };
    assert!(finished.content.len() < 300_000 && finished.content.contains("bytes left out here"));
    assert_eq!(drafts[0].blobs, [large.clone().into_bytes()]);
    assert_eq!(finished.output, Some(BlobRef { hash: Hash::of(large.as_bytes()), size_bytes: large.len() as u64 }));
    // What Claude Code cut for its model stands beside the result.
    let beside =
        serde_json::json!({ "stdout": format!("{large}AKIAIOSFODNN7EXAMPLE"), "stderr": "warned" }).to_string();
    let drafts = result_drafts("Bash", "{}", r#""cut""#, false, &beside);
    let kept = String::from_utf8(drafts[0].blobs[0].clone()).unwrap();
    assert!(kept.ends_with("]\nwarned") && !kept.contains("AKIAIOSFODNN7EXAMPLE"), "{}", &kept[kept.len() - 60..]);
    assert_eq!(result("Bash", "{}", r#""all""#, false, r#"{"stdout":"all"}"#).output, None);
}

#[test]
fn images_stand_before_their_result_and_bad_ones_are_told() {
    let png = SESSION.split_once(r#""media_type":"image/png","data":""#).unwrap().1.split_once('"').unwrap().0;
    let image = |data: &str| {
        format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#)
    };
    let drafts = result_drafts("Read", "{}", &format!("[{}]", image(png)), false, "null");
    assert_eq!(kinds(&drafts), ["context.image_attached", "tool.finished"]);
    let Payload::Context(Context::ImageAttached(attached)) = &drafts[0].payload else { panic!("{drafts:?}") };
    assert_eq!((attached.width_px, attached.height_px, attached.data_base64.as_str()), (2, 2, png));
    for bad in ["", "%%%", "aGVsbG8=", &png[..png.len() - 8]] {
        let finished = result("Read", "{}", &format!("[{}]", image(bad)), false, "null");
        assert!(finished.content.contains("[image left out: "), "{bad}: {}", finished.content);
    }
    let finished =
        result("Read", "{}", r#"[{"type":"document","source":{}},{"type":"text","text":"and"},7]"#, false, "null");
    assert_eq!(finished.content, "and\n[document: not taken over]\n[unknown: not taken over]");
}

#[test]
fn a_call_has_one_result_or_a_word_that_it_has_none() {
    let ask = answer("a", "m", &call("t1", "Bash", "{}"));
    let done =
        |name: &str, id: &str| user(name, &format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]"#));
    let text = answer("z", "m9", r#"{"type":"text","text":"so"}"#);
    let rest = |lines: &[String]| kinds(&after_prompt(lines))[2..].to_vec();
    let end = ["turn.answered", "turn.ended"];
    assert_eq!(
        rest(&[ask.clone(), done("r", "t1"), done("s", "t1"), text.clone()]),
        [&["tool.finished"], &end[..]].concat()
    );
    assert_eq!(rest(&[ask.clone(), done("r", "other"), text.clone()]), [&["tool.outcome_unknown"], &end[..]].concat());
    assert_eq!(rest(&[ask.clone(), text.clone()]), [&["tool.outcome_unknown"], &end[..]].concat());
    assert_eq!(rest(&[ask.clone(), user("q", r#""next""#)]), ["tool.outcome_unknown", "turn.prompted"]);
    let stop = user("i", r#""[Request interrupted by user for tool use]""#);
    assert_eq!(rest(&[ask.clone(), stop]), ["tool.outcome_unknown", "turn.interrupted"]);
    // At the very end it stays open: whoever goes on settles it.
    assert_eq!(rest(&[ask]), Vec::<&str>::new());
}

#[test]
fn what_a_tool_may_do_is_known_by_its_name_or_taken_for_anything() {
    let effect = |tool: &str| match &after_prompt(&[answer("a", "m", &call("t1", tool, "{}"))])[1].payload {
        Payload::Tool(Tool::Called(called)) => called.effect,
        other => panic!("{other:?}"),
    };
    assert_eq!(effect("Read"), ToolEffect::ReadOnly);
    assert_eq!(effect("Bash"), ToolEffect::Writes);
    assert_eq!(effect("mcp__db__query"), ToolEffect::Writes);
}

#[test]
fn a_result_tells_how_long_it_took() {
    let took = |beside: &str| result("Task", "{}", r#""x""#, false, beside).duration_ms;
    assert_eq!(took(r#"{"totalDurationMs":1234}"#), 1_234);
    assert_eq!(took(r#"{"durationMs":56.7}"#), 56);
    assert_eq!(took("null"), 5_000, "from the call's line to the result's");
    assert_eq!(took(r#"{"durationMs":-1}"#), 5_000);
    assert_eq!(took(r#"{"durationMs":1e300}"#), 5_000);
}
