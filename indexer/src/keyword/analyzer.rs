//! From text to tokens, for tantivy, for queries and for snippets: the same in all three, or nothing would be found.
//!
//! Tokens are in lower case and without accents. Parts are reduced to their stems; wholes are kept as they are.

use crate::keyword::stems::Stems;
use crate::keyword::words::{Piece, PieceKind, Pieces, TOKEN_BYTES, is_accent};
use std::cell::RefCell;
use std::ops::Range;
use tantivy::tokenizer::{AsciiFoldingFilter, TextAnalyzer, Token, TokenStream, Tokenizer};

/// The name under which the analyzer stands in the schema.
pub(super) const ANALYZER: &str = "retrace_words_1";

/// One token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnalyzedToken {
    /// As it stands in the index.
    pub(crate) text: String,
    /// Where it stands in the text, in bytes.
    pub(crate) span: Range<usize>,
    /// Its place, in parts.
    pub(crate) position: usize,
    /// Whether it is made of several parts, which come as tokens of their own.
    pub(crate) whole: bool,
}

thread_local! {
    /// The analyzer that was used last, with what it knows of stems.
    static LAST: RefCell<Option<TextAnalyzer>> = const { RefCell::new(None) };
}

/// The tokens of a text, in the order of their positions; `take` is asked after each whether to go on.
pub(crate) fn analyze(text: &str, mut take: impl FnMut(AnalyzedToken) -> bool) {
    // It is taken out while it is used: `take` may analyze something itself.
    let mut analyzer = LAST.with(|last| last.borrow_mut().take()).unwrap_or_else(analyzer);
    let mut stream = analyzer.token_stream(text);
    while let Some(token) = stream.next() {
        let (text, span) = (token.text.clone(), token.offset_from..token.offset_to);
        if !take(AnalyzedToken { text, span, position: token.position, whole: token.position_length != PART }) {
            break;
        }
    }
    drop(stream);
    LAST.with(|last| last.replace(Some(analyzer)));
}

/// The analyzer of all fields that hold words.
pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(Words::default()).filter(AsciiFoldingFilter).build()
}

/// The length of a part, in positions; a whole has at least two.
const PART: usize = 1;

#[derive(Clone, Default)]
struct Words {
    token: Token,
    stems: Stems,
    pieces: ReusedPieces,
}

/// Pieces keep their memory from text to text; a copy of the tokenizer begins with none.
#[derive(Default)]
struct ReusedPieces(Pieces);

impl Clone for ReusedPieces {
    fn clone(&self) -> Self {
        Self::default()
    }
}

struct WordStream<'a> {
    text: &'a str,
    words: &'a mut Words,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        self.pieces.0.reset();
        WordStream { text, words: self }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(piece) = self.words.pieces.0.advance(self.text) else { return false };
        self.words.set(self.text, &piece);
        true
    }

    fn token(&self) -> &Token {
        &self.words.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.words.token
    }
}

impl Words {
    #[inline]
    fn set(&mut self, text: &str, piece: &Piece) {
        let token = &mut self.token;
        token.offset_from = piece.span.start;
        token.offset_to = piece.span.end;
        token.position = piece.position;
        token.position_length = if piece.kind == PieceKind::Part { PART } else { piece.positions };
        token.text.clear();
        let source = &text[piece.span.clone()];
        let source = &source[..source.floor_char_boundary(TOKEN_BYTES)];
        if source.is_ascii() {
            token.text.push_str(source);
            token.text.make_ascii_lowercase();
            if piece.kind == PieceKind::Part {
                self.stems.reduce(&mut token.text);
            }
        } else {
            let letters = source.chars().filter(|letter| !is_accent(*letter)).flat_map(char::to_lowercase);
            token.text.extend(letters.filter(|letter| !is_accent(*letter)));
        }
    }
}
