//! The definitions of a file: a walk over its tree.
//!
//! Invariants: definitions of one level are in the order of the file and share no row; each lies within the rows of the
//! one around it. Where two stand in the same row, the first has the names of both. The walk keeps no stack of its own
//! calls, so a tree may be as deep as it likes.

use super::chunk::DefinitionKind;
use super::grammar::{Grammar, Name, Role, Rule};
use super::lines::Lines;
use super::pieces::SPLIT_BYTES;
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// Definitions nested deeper are not looked for.
const MAX_NESTING: usize = 12;
/// The longest single name, in bytes.
const MAX_NAME_BYTES: usize = 160;
/// The longest path of a name.
const MAX_PATH_BYTES: usize = 300;
/// How many steps a declarator may be nested.
const MAX_DECLARATORS: usize = 24;

/// Something that is defined in some rows.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) rows: Range<usize>,
    /// Its names; none for what only holds others (`impl`, `namespace`).
    pub(super) names: Vec<String>,
    /// What is said of rows in it that define nothing.
    pub(super) label: String,
    /// What stands before the names of what is defined in it.
    path: String,
    pub(super) kind: DefinitionKind,
    pub(super) children: Vec<Definition>,
}

/// The definitions of a file, from the top.
pub(super) fn collect(grammar: &'static Grammar, tree: &Tree, lines: &Lines<'_>) -> Vec<Definition> {
    let mut walk = Walk { grammar, lines, leading: vec![false; lines.count()], open: Vec::new(), roots: Vec::new() };
    let mut around: Vec<Around> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if walk.visit(node, &around) && cursor.goto_first_child() {
            around.push(Around::of(grammar, node));
            continue;
        }
        loop {
            walk.close(around.len());
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return walk.roots;
            }
            around.pop();
        }
    }
}

/// A node around the present one.
#[derive(Clone, Copy)]
struct Around {
    wraps: bool,
    start: usize,
    end: usize,
}

impl Around {
    fn of(grammar: &'static Grammar, node: Node<'_>) -> Self {
        let wraps = matches!(grammar.role(node.kind_id()), Role::Wrapper);
        Self { wraps, start: node.start_position().row, end: end_row(node) }
    }
}

struct Walk<'a> {
    grammar: &'static Grammar,
    lines: &'a Lines<'a>,
    /// Rows that begin with a comment or an attribute.
    leading: Vec<bool>,
    /// The definitions around the present node, and the depth of each.
    open: Vec<(usize, Definition)>,
    roots: Vec<Definition>,
}

impl Walk<'_> {
    /// Takes in a node; says whether to look into it.
    fn visit(&mut self, node: Node<'_>, around: &[Around]) -> bool {
        let spans_rows = node.start_position().row != node.end_position().row;
        match self.grammar.role(node.kind_id()) {
            Role::Other => spans_rows || self.is_body(around.len()),
            Role::Wrapper => true,
            Role::Leading => {
                self.mark(node);
                false
            }
            Role::Definition(rule) => {
                if self.open.len() >= MAX_NESTING {
                    return false;
                }
                // What a small function defines inside stays with it.
                let is_leaf = rule.kind == DefinitionKind::Function && node.byte_range().len() <= SPLIT_BYTES;
                if self.begin(rule, node, around) { !is_leaf } else { spans_rows }
            }
        }
    }

    /// Whether a node at this depth is the whole file, or the body of a definition.
    fn is_body(&self, depth: usize) -> bool {
        depth == 0 || self.open.last().is_some_and(|(opened_at, _)| opened_at + 1 == depth)
    }

    fn mark(&mut self, node: Node<'_>) {
        let (first, end) = (node.start_position().row, end_row(node));
        let begins_line = self.lines.indent(first) == node.start_position().column;
        if begins_line && let Some(rows) = self.leading.get_mut(first..end) {
            rows.fill(true);
        }
    }

    /// Opens a definition, if the node is one.
    fn begin(&mut self, rule: &'static Rule, node: Node<'_>, around: &[Around]) -> bool {
        if rule.needs.is_some_and(|field| node.child_by_field_name(field).is_none()) {
            return false;
        }
        let Some((name, label)) = name_of(rule, node, self.lines.all()) else { return false };
        let parent = self.open.last().map(|(_, parent)| parent);
        let rows = self.rows_of(node, around);
        if parent.is_some_and(|parent| parent.kind == DefinitionKind::Type && parent.rows == rows) {
            return false;
        }
        let path = match parent.map(|parent| parent.path.as_str()).filter(|path| !path.is_empty()) {
            Some(path) if path.len() + name.len() <= MAX_PATH_BYTES => {
                format!("{path}{}{name}", rule.separator.unwrap_or(self.grammar.separator))
            }
            _ => name,
        };
        let holds_only = matches!(rule.kind, DefinitionKind::Implementation | DefinitionKind::Module);
        let names = if holds_only { Vec::new() } else { vec![path.clone()] };
        let label = label.unwrap_or_else(|| path.clone());
        let definition = Definition { rows, names, label, path, kind: rule.kind, children: Vec::new() };
        self.open.push((around.len(), definition));
        true
    }

    /// The rows of a definition with what belongs to it, and without what belongs to the one before it.
    fn rows_of(&self, node: Node<'_>, around: &[Around]) -> Range<usize> {
        let (mut start, mut end) = (node.start_position().row, end_row(node));
        for wrapper in around.iter().rev().take_while(|around| around.wraps) {
            start = start.min(wrapper.start);
            if wrapper.end <= end + 1 {
                end = end.max(wrapper.end);
            }
        }
        let (outer, siblings) = match self.open.last() {
            Some((_, parent)) => (parent.rows.clone(), &parent.children),
            None => (0..self.lines.count(), &self.roots),
        };
        let floor = siblings.last().map_or(outer.start, |before| before.rows.end);
        while start > floor && self.leading.get(start - 1) == Some(&true) {
            start -= 1;
        }
        let end = end.min(outer.end);
        start.max(floor).min(end)..end
    }

    /// Closes the definition that was opened at this depth.
    fn close(&mut self, depth: usize) {
        while let Some((_, definition)) = self.open.pop_if(|(opened_at, _)| *opened_at >= depth) {
            let (siblings, outer) = match self.open.last_mut() {
                Some((_, parent)) => (&mut parent.children, Some(&mut parent.names)),
                None => (&mut self.roots, None),
            };
            if !definition.rows.is_empty() {
                siblings.push(definition);
            } else if let Some(names) = siblings.last_mut().map(|before| &mut before.names).or(outer) {
                names.extend(definition.names);
            }
        }
    }
}

/// The row behind a node.
fn end_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row } else { end.row + 1 }
}

/// The name of what a node defines, and what is said of its other lines when that is something else.
fn name_of(rule: &Rule, node: Node<'_>, text: &str) -> Option<(String, Option<String>)> {
    let field = |name: &str| node.child_by_field_name(name);
    let found = match rule.name {
        Name::Field(name) => text_of(field(name)?, text),
        Name::Assigned(name, value) => {
            let makes = matches!(
                field(value)?.kind(),
                "arrow_function" | "function_expression" | "generator_function" | "class" | "function"
            );
            if !makes {
                return None;
            }
            text_of(field(name)?, text)
        }
        Name::Declarator => text_of(declared(node)?, text),
        Name::Implementation => {
            let of = field("type")?;
            let short = text_of(of.child_by_field_name("type").unwrap_or(of), text);
            let whole = text_of(of, text);
            let label = match field("trait") {
                Some(implemented) => format!("impl {} for {whole}", text_of(implemented, text)),
                None => format!("impl {whole}"),
            };
            return Some((short, Some(label))).filter(|(name, _)| !name.is_empty());
        }
        Name::Receiver => {
            let receiver = field("receiver").map(|receiver| receiver_type(text_of(receiver, text)));
            let name = text_of(field("name")?, text);
            match receiver.filter(|receiver| !receiver.is_empty()) {
                Some(receiver) => format!("{receiver}.{name}"),
                None => name,
            }
        }
    };
    Some((found, None)).filter(|(name, _)| !name.is_empty())
}

/// `Server` of `(s *Server[T])`.
fn receiver_type(receiver: String) -> String {
    let inner = receiver.trim_matches(['(', ')']);
    let named = inner.split('[').next().unwrap_or(inner);
    named.rsplit([' ', '*']).next().unwrap_or_default().to_owned()
}

/// The name at the bottom of a C declarator.
fn declared(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    for _ in 0..MAX_DECLARATORS {
        let inner = at.child_by_field_name("declarator");
        let inner = inner.or_else(|| at.named_child(0).filter(|_| at.kind().ends_with("_declarator")));
        match inner {
            Some(inner) => at = inner,
            None => return Some(at),
        }
    }
    None
}

/// The text of a node on one line, cut.
fn text_of(node: Node<'_>, text: &str) -> String {
    let whole = text.get(node.byte_range()).unwrap_or_default();
    let cut = &whole[..whole.floor_char_boundary(MAX_NAME_BYTES)];
    cut.split_whitespace().collect::<Vec<_>>().join(" ")
}
