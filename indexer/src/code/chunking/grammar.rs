//! What is known of a language: its grammar, and which nodes of it define something.

use super::chunk::DefinitionKind;
use super::heredocs::HereDocuments;
use std::sync::OnceLock;
use tree_sitter::Language;

/// A language that is cut by definition.
pub(super) struct Grammar {
    pub(super) language: fn() -> Language,
    /// What stands between the parts of a name.
    pub(super) separator: &'static str,
    pub(super) rules: &'static [Rule],
    /// Nodes around a definition that belong to it: decorators, `export`, `template <…>`.
    pub(super) wrappers: &'static [&'static str],
    /// Nodes before a definition that belong to it: comments, attributes.
    pub(super) leading: &'static [&'static str],
    /// Whether its scanner keeps a number for each level of indentation.
    pub(super) counts_indents: bool,
    /// How it writes here-documents, which its scanner cannot be trusted with.
    pub(super) here_documents: HereDocuments,
    /// What each kind of node is; made when first used.
    pub(super) roles: OnceLock<Vec<Role>>,
}

/// A node that defines something.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) node: &'static str,
    pub(super) kind: DefinitionKind,
    pub(super) name: Name,
    /// What stands before its name, where that differs from the language's separator.
    pub(super) separator: Option<&'static str>,
    /// A field without which it only mentions something (`struct stat` without a body).
    pub(super) needs: Option<&'static str>,
}

/// Where the name of a definition stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name {
    /// In a field.
    Field(&'static str),
    /// In a field, when the other field holds a function or a class.
    Assigned(&'static str, &'static str),
    /// At the bottom of nested declarators, as in C.
    Declarator,
    /// In the type of an `impl` block.
    Implementation,
    /// In a field, behind the type of the receiver.
    Receiver,
}

/// What a node is for the cutting.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Role {
    #[default]
    Other,
    Definition(&'static Rule),
    Wrapper,
    Leading,
}

impl Grammar {
    /// What a kind of node is.
    pub(super) fn role(&'static self, kind_id: u16) -> Role {
        let roles = self.roles.get_or_init(|| self.all_roles());
        roles.get(usize::from(kind_id)).copied().unwrap_or_default()
    }

    fn all_roles(&'static self) -> Vec<Role> {
        let language = (self.language)();
        let mut roles = vec![Role::Other; language.node_kind_count()];
        let mut set = |kind: &str, role: Role| {
            if let Some(slot) = roles.get_mut(usize::from(language.id_for_node_kind(kind, true))) {
                *slot = role;
            }
        };
        self.leading.iter().for_each(|kind| set(kind, Role::Leading));
        self.wrappers.iter().for_each(|kind| set(kind, Role::Wrapper));
        self.rules.iter().for_each(|rule| set(rule.node, Role::Definition(rule)));
        roles
    }
}

impl Rule {
    pub(super) const fn new(node: &'static str, kind: DefinitionKind, name: Name) -> Self {
        Self { node, kind, name, separator: None, needs: None }
    }

    pub(super) const fn field(node: &'static str, kind: DefinitionKind) -> Self {
        Self::new(node, kind, Name::Field("name"))
    }

    pub(super) const fn behind(self, separator: &'static str) -> Self {
        Self { separator: Some(separator), ..self }
    }

    pub(super) const fn with(self, field: &'static str) -> Self {
        Self { needs: Some(field), ..self }
    }
}
