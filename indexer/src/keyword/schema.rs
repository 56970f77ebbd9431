//! The fields of the index. One schema for sessions and code, so that both are searched alike.
//!
//! `text` alone has positions, for phrases. What filters ask for is a fast field, and indexed as well where it can drive a
//! search. Changing anything here, or in the analyzer, means a new [`VERSION`].

use crate::keyword::analyzer::{ANALYZER, analyzer};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STORED, Schema, SchemaBuilder, TextFieldIndexing,
    TextOptions,
};
use tantivy::tokenizer::{LowerCaser, TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

/// The version of what is written: schema, analyzer, commit note.
pub(super) const VERSION: &str = "1";
/// The stored kind of records.
pub(super) const RECORD_KIND: u64 = 255;

/// Names of the fast fields, by which their columns are opened.
pub(super) mod column {
    pub(in crate::keyword) const KEY: &str = "key";
    pub(in crate::keyword) const KIND: &str = "kind";
    pub(in crate::keyword) const STREAM: &str = "stream";
    pub(in crate::keyword) const WORKSPACE: &str = "workspace";
    pub(in crate::keyword) const TOOL: &str = "tool";
    pub(in crate::keyword) const PATH: &str = "path";
    pub(in crate::keyword) const POSITION: &str = "position";
    pub(in crate::keyword) const AT_MS: &str = "at_ms";
    pub(in crate::keyword) const ORDINAL: &str = "ordinal";
    pub(in crate::keyword) const EXIT: &str = "exit";
}

/// The tokenizer of path components.
const COMPONENTS: &str = "retrace_components_1";

/// The fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) key: Field,
    pub(super) kind: Field,
    pub(super) stream: Field,
    pub(super) workspace: Field,
    pub(super) tool: Field,
    pub(super) path: Field,
    /// The words of the paths, for ranking.
    pub(super) path_words: Field,
    /// The components of the paths, for filters.
    pub(super) path_parts: Field,
    pub(super) symbol: Field,
    pub(super) text: Field,
    pub(super) position: Field,
    pub(super) at_ms: Field,
    pub(super) ordinal: Field,
    pub(super) exit: Field,
    pub(super) seq: Field,
    pub(super) part: Field,
    pub(super) step: Field,
    pub(super) event: Field,
    pub(super) is_error: Field,
    pub(super) first_line: Field,
    pub(super) last_line: Field,
    pub(super) record_key: Field,
    pub(super) record: Field,
}

/// The schema and its fields.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = SchemaBuilder::new();
    let stored_number: NumericOptions = STORED.into();
    let fast_number: NumericOptions = (STORED | FAST).into();
    let fields = Fields {
        key: builder.add_text_field(column::KEY, raw()),
        kind: builder.add_u64_field(column::KIND, STORED | FAST | INDEXED),
        stream: builder.add_text_field(column::STREAM, raw()),
        workspace: builder.add_text_field(column::WORKSPACE, raw()),
        tool: builder.add_text_field(column::TOOL, raw()),
        path: builder.add_text_field(column::PATH, raw()),
        path_words: builder.add_text_field("path_words", words(IndexRecordOption::WithFreqs)),
        path_parts: builder.add_text_field("path_parts", basic(COMPONENTS)),
        symbol: builder.add_text_field("symbol", words(IndexRecordOption::WithFreqs).set_stored()),
        text: builder.add_text_field("text", words(IndexRecordOption::WithFreqsAndPositions).set_stored()),
        position: builder.add_u64_field(column::POSITION, fast_number.clone()),
        at_ms: builder.add_i64_field(column::AT_MS, fast_number.clone()),
        ordinal: builder.add_u64_field(column::ORDINAL, fast_number.clone()),
        exit: builder.add_i64_field(column::EXIT, fast_number),
        seq: builder.add_u64_field("seq", stored_number.clone()),
        part: builder.add_u64_field("part", stored_number.clone()),
        step: builder.add_u64_field("step", stored_number.clone()),
        event: builder.add_text_field("event", STORED),
        is_error: builder.add_bool_field("is_error", STORED),
        first_line: builder.add_u64_field("first_line", stored_number.clone()),
        last_line: builder.add_u64_field("last_line", stored_number),
        record_key: builder.add_text_field("record_key", basic("raw")),
        record: builder.add_bytes_field("record", STORED),
    };
    (builder.build(), fields)
}

/// The analyzers by their names.
pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(ANALYZER, analyzer());
    manager.register(COMPONENTS, components());
    manager
}

/// One whole value: found by equality, had without the store.
fn raw() -> TextOptions {
    basic("raw").set_stored().set_fast("raw")
}

fn basic(tokenizer: &str) -> TextOptions {
    let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_fieldnorms(false);
    TextOptions::default().set_indexing_options(indexing.set_index_option(IndexRecordOption::Basic))
}

fn words(record: IndexRecordOption) -> TextOptions {
    TextOptions::default()
        .set_indexing_options(TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(record))
}

/// The components of a path in lower case, each as it is.
fn components() -> TextAnalyzer {
    TextAnalyzer::builder(Components::default()).filter(LowerCaser).build()
}

#[derive(Clone, Default)]
struct Components(Token);

struct ComponentStream<'a> {
    path: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for Components {
    type TokenStream<'a> = ComponentStream<'a>;

    fn token_stream<'a>(&'a mut self, path: &'a str) -> ComponentStream<'a> {
        self.0.reset();
        ComponentStream { path, token: &mut self.0 }
    }
}

impl TokenStream for ComponentStream<'_> {
    fn advance(&mut self) -> bool {
        self.path = self.path.trim_start_matches('/');
        let end = self.path.find('/').unwrap_or(self.path.len());
        let (component, rest) = self.path.split_at(end);
        self.path = rest;
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        self.token.text.push_str(component);
        !component.is_empty()
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
