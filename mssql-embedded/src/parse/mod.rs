//! The lexer and parser.
