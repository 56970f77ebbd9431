//! Scripts as tree-sitter's grammar of bash sees them: the second of two readers that must agree before anything is allowed.
//!
//! The grammar is forgiving, and its scanner is C that is known to crash on some texts (a brace before a character outside the
//! first plane) and to take very long for others. So it is only ever given what [`super::plain`] has accepted: short,
//! without here-documents, and with every byte outside ASCII replaced, which such a byte in quotes does not mind. The
//! work is bounded by steps, never by a clock: the same script must always be judged alike.

use std::ops::{ControlFlow, Range};
use tree_sitter::{Node, ParseOptions, Parser, Tree, TreeCursor};

/// The deepest tree that is walked.
const MAX_DEPTH: usize = 256;
/// How often the parser may report progress; a script of the largest size takes a few hundred.
const MAX_REPORTS: u32 = 10_000;

/// The places of the words of each command in `script`, when there is nothing but plain commands in it.
pub(super) fn plain_commands(script: &str) -> Option<Vec<Vec<Range<usize>>>> {
    let bytes: Vec<u8> = script.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect();
    let tree = parse(&bytes)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut commands = Vec::new();
    let mut cursor = tree.walk();
    let mut depth = 0;
    loop {
        if depth > MAX_DEPTH || !take_plain(cursor.node(), &mut commands) {
            return None;
        }
        if !advance(&mut cursor, &mut depth) {
            return Some(commands);
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut reports = 0;
    let mut watch = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MAX_REPORTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Goes to the next node in the order of the text.
fn advance(cursor: &mut TreeCursor<'_>, depth: &mut usize) -> bool {
    if cursor.goto_first_child() {
        *depth += 1;
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
        *depth -= 1;
    }
    true
}

/// Takes in a node of a plain script; `false` when it is none.
fn take_plain(node: Node<'_>, commands: &mut Vec<Vec<Range<usize>>>) -> bool {
    if !node.is_named() {
        let kinds = ["&&", "||", ";", "|", "\n", "\"", "'", ">", "<", ">&", "&>"];
        return kinds.contains(&node.kind());
    }
    match node.kind() {
        "command" => commands.push(words(node)),
        "program"
        | "list"
        | "pipeline"
        | "command_name"
        | "redirected_statement"
        | "file_redirect"
        | "file_descriptor"
        | "comment"
        | "word"
        | "number"
        | "string"
        | "string_content"
        | "raw_string"
        | "concatenation" => {}
        _ => return false,
    }
    true
}

fn words(command: Node<'_>) -> Vec<Range<usize>> {
    let mut cursor = command.walk();
    let mut words: Vec<Range<usize>> =
        command.child_by_field_name("name").map(|name| name.byte_range()).into_iter().collect();
    words.extend(command.children_by_field_name("argument", &mut cursor).map(|word| word.byte_range()));
    words
}
