//! The languages: which nodes of each grammar define something, and what belongs to a definition.

use super::chunk::DefinitionKind::{Constant, Function, Implementation, Interface, Macro, Module, Type};
use super::grammar::{Grammar, Name, Rule};
use super::heredocs::HereDocuments;
use std::sync::OnceLock;
use tree_sitter::Language;

pub(super) static RUST: Grammar = Grammar {
    language: || tree_sitter_rust::LANGUAGE.into(),
    separator: "::",
    rules: &[
        Rule::field("function_item", Function),
        Rule::field("function_signature_item", Function),
        Rule::field("struct_item", Type),
        Rule::field("enum_item", Type),
        Rule::field("union_item", Type),
        Rule::field("type_item", Type),
        Rule::field("trait_item", Interface),
        Rule::new("impl_item", Implementation, Name::Implementation),
        Rule::field("mod_item", Module),
        Rule::field("macro_definition", Macro),
        Rule::field("const_item", Constant),
        Rule::field("static_item", Constant),
    ],
    wrappers: &[],
    leading: &["line_comment", "block_comment", "attribute_item"],
    counts_indents: false,
    here_documents: HereDocuments::None,
    roles: OnceLock::new(),
};

pub(super) static PYTHON: Grammar = Grammar {
    language: || tree_sitter_python::LANGUAGE.into(),
    separator: ".",
    rules: &[Rule::field("class_definition", Type), Rule::field("function_definition", Function)],
    wrappers: &["decorated_definition"],
    leading: &["comment"],
    counts_indents: true,
    here_documents: HereDocuments::None,
    roles: OnceLock::new(),
};

const SCRIPT_RULES: &[Rule] = &[
    Rule::field("function_declaration", Function),
    Rule::field("generator_function_declaration", Function),
    Rule::field("function_expression", Function),
    Rule::field("class_declaration", Type),
    Rule::field("abstract_class_declaration", Type),
    Rule::field("class", Type),
    Rule::field("method_definition", Function),
    Rule::field("interface_declaration", Interface),
    Rule::field("enum_declaration", Type),
    Rule::field("type_alias_declaration", Type),
    Rule::field("internal_module", Module),
    Rule::field("module", Module),
    Rule::new("variable_declarator", Function, Name::Assigned("name", "value")),
    Rule::new("field_definition", Function, Name::Assigned("property", "value")),
    Rule::new("public_field_definition", Function, Name::Assigned("name", "value")),
    Rule::new("assignment_expression", Function, Name::Assigned("left", "right")),
    Rule::new("pair", Function, Name::Assigned("key", "value")),
];
const SCRIPT_WRAPPERS: &[&str] =
    &["export_statement", "lexical_declaration", "variable_declaration", "expression_statement", "ambient_declaration"];

pub(super) static JAVASCRIPT: Grammar = script(|| tree_sitter_javascript::LANGUAGE.into());
pub(super) static TYPESCRIPT: Grammar = script(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into());
pub(super) static TSX: Grammar = script(|| tree_sitter_typescript::LANGUAGE_TSX.into());

const fn script(language: fn() -> Language) -> Grammar {
    Grammar {
        language,
        separator: ".",
        rules: SCRIPT_RULES,
        wrappers: SCRIPT_WRAPPERS,
        leading: &["comment", "decorator"],
        counts_indents: false,
        here_documents: HereDocuments::None,
        roles: OnceLock::new(),
    }
}

pub(super) static GO: Grammar = Grammar {
    language: || tree_sitter_go::LANGUAGE.into(),
    separator: ".",
    rules: &[
        Rule::field("function_declaration", Function),
        Rule::new("method_declaration", Function, Name::Receiver),
        Rule::field("type_spec", Type),
        Rule::field("type_alias", Type),
    ],
    wrappers: &["type_declaration"],
    leading: &["comment"],
    counts_indents: false,
    here_documents: HereDocuments::None,
    roles: OnceLock::new(),
};

pub(super) static JAVA: Grammar = Grammar {
    language: || tree_sitter_java::LANGUAGE.into(),
    separator: ".",
    rules: &[
        Rule::field("class_declaration", Type),
        Rule::field("record_declaration", Type),
        Rule::field("enum_declaration", Type),
        Rule::field("interface_declaration", Interface),
        Rule::field("annotation_type_declaration", Interface),
        Rule::field("method_declaration", Function),
        Rule::field("constructor_declaration", Function),
        Rule::field("compact_constructor_declaration", Function),
    ],
    wrappers: &[],
    leading: &["line_comment", "block_comment"],
    counts_indents: false,
    here_documents: HereDocuments::None,
    roles: OnceLock::new(),
};

const C_RULES: [Rule; 6] = [
    Rule::new("function_definition", Function, Name::Declarator),
    Rule::field("struct_specifier", Type).with("body"),
    Rule::field("union_specifier", Type).with("body"),
    Rule::field("enum_specifier", Type).with("body"),
    Rule::new("type_definition", Type, Name::Declarator),
    Rule::field("preproc_function_def", Macro),
];

pub(super) static C: Grammar = Grammar {
    language: || tree_sitter_c::LANGUAGE.into(),
    separator: "::",
    rules: &C_RULES,
    wrappers: &["declaration"],
    leading: &["comment"],
    counts_indents: false,
    here_documents: HereDocuments::None,
    roles: OnceLock::new(),
};

pub(super) static CPP: Grammar = Grammar {
    language: || tree_sitter_cpp::LANGUAGE.into(),
    separator: "::",
    rules: &{
        let [function, structure, union, enumeration, typedef, definition] = C_RULES;
        [
            function,
            structure,
            union,
            enumeration,
            typedef,
            definition,
            Rule::field("class_specifier", Type).with("body"),
            Rule::field("namespace_definition", Module),
            Rule::field("alias_declaration", Type),
            Rule::field("concept_definition", Interface),
        ]
    },
    wrappers: &["template_declaration", "declaration", "field_declaration"],
    leading: &["comment"],
    counts_indents: false,
    here_documents: HereDocuments::None,
    roles: OnceLock::new(),
};

pub(super) static C_SHARP: Grammar = Grammar {
    language: || tree_sitter_c_sharp::LANGUAGE.into(),
    separator: ".",
    rules: &[
        Rule::field("namespace_declaration", Module),
        Rule::field("class_declaration", Type),
        Rule::field("struct_declaration", Type),
        Rule::field("record_declaration", Type),
        Rule::field("enum_declaration", Type),
        Rule::field("delegate_declaration", Type),
        Rule::field("interface_declaration", Interface),
        Rule::field("method_declaration", Function),
        Rule::field("constructor_declaration", Function),
        Rule::field("destructor_declaration", Function),
        Rule::field("property_declaration", Function),
        Rule::field("local_function_statement", Function),
    ],
    wrappers: &[],
    leading: &["comment"],
    counts_indents: false,
    here_documents: HereDocuments::None,
    roles: OnceLock::new(),
};

pub(super) static RUBY: Grammar = Grammar {
    language: || tree_sitter_ruby::LANGUAGE.into(),
    separator: "::",
    rules: &[
        Rule::field("module", Module),
        Rule::field("class", Type),
        Rule::field("method", Function).behind("#"),
        Rule::field("singleton_method", Function).behind("."),
    ],
    wrappers: &[],
    leading: &["comment"],
    counts_indents: false,
    here_documents: HereDocuments::Ruby,
    roles: OnceLock::new(),
};

pub(super) static PHP: Grammar = Grammar {
    language: || tree_sitter_php::LANGUAGE_PHP.into(),
    separator: "::",
    rules: &[
        Rule::field("namespace_definition", Module).behind("\\"),
        Rule::field("class_declaration", Type).behind("\\"),
        Rule::field("trait_declaration", Interface).behind("\\"),
        Rule::field("interface_declaration", Interface).behind("\\"),
        Rule::field("enum_declaration", Type).behind("\\"),
        Rule::field("function_definition", Function).behind("\\"),
        Rule::field("method_declaration", Function),
    ],
    wrappers: &[],
    leading: &["comment"],
    counts_indents: false,
    here_documents: HereDocuments::Php,
    roles: OnceLock::new(),
};

pub(super) static BASH: Grammar = Grammar {
    language: || tree_sitter_bash::LANGUAGE.into(),
    separator: "::",
    rules: &[Rule::field("function_definition", Function)],
    wrappers: &[],
    leading: &["comment"],
    counts_indents: false,
    here_documents: HereDocuments::Bash,
    roles: OnceLock::new(),
};
