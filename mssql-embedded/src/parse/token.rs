//! What the lexer produces: kinds of token and their place in the text.

use crate::ast::Pos;

/// The kind of a token. Values are decoded from the text only when the parser asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    /// An identifier that is not reserved, including contextual keywords such as `THROW`.
    Word,
    Reserved,
    /// `[name]` or `"name"`.
    Quoted,
    /// `@name`.
    Variable,
    /// `@@name`.
    Global,
    /// `#name` and `##name`.
    Temp,
    /// `'text'`, and `"text"` when QUOTED_IDENTIFIER is off.
    Str,
    /// `N'text'`.
    NStr,
    /// Digits.
    Int,
    /// Digits with a point.
    Decimal,
    /// A number with an exponent.
    Float,
    /// `$1.5`.
    Money,
    /// `0xFF`.
    Binary,
    /// `$action` and other pseudo columns.
    Pseudo,
    LParen,
    RParen,
    Comma,
    Dot,
    Semi,
    Colon,
    ColonColon,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Amp,
    Pipe,
    Caret,
    Tilde,
    Eq,
    Lt,
    Gt,
    Le,
    Ge,
    Ne,
    /// An arithmetic operator followed by `=`; the operator is the first byte.
    CompoundAssign,
    /// A character that begins no token.
    Other,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Tok,
    /// Where it starts.
    pub pos: Pos,
    /// Byte offset just past it.
    pub end: u32,
}
