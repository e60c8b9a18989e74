//! The lexer and parser: T-SQL text to the syntax tree, in linear time and bounded stack.
//!
//! `lexer` cuts the text into tokens, `cursor` walks them, and each family of statements has its own
//! file that extends [`cursor::Parser`]. A construct the engine does not implement is refused here,
//! by name, so that nothing unknown reaches the binder.

mod call;
mod column;
mod condition;
mod constraint;
mod control;
mod cursor;
mod database;
mod declare;
mod define;
mod dml;
mod drop;
pub(crate) mod errors;
mod exec;
mod expr;
#[cfg(test)]
mod go;
mod group;
mod hints;
mod index;
mod keywords;
mod lexer;
mod names;
mod procedure;
mod query;
mod refuse;
mod render;
mod security;
mod set;
mod source;
mod stmt;
mod switching;
mod table;
mod token;
mod tran;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub use call::expression_names;
#[cfg(test)]
pub use go::split_go;

use crate::ast::{Batch, ObjectName, ProcParam};
use crate::error::SqlResult;

/// Settings of session and database that change how text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// `"x"` is an identifier when on and a string when off.
    pub quoted_identifier: bool,
    /// OPENJSON is a word of the language, which it is from compatibility level 130 on.
    pub open_json: bool,
}

impl Default for ParseOptions {
    /// The setting every modern client logs in with, and the level of a new database.
    fn default() -> Self {
        Self {
            quoted_identifier: true,
            open_json: true,
        }
    }
}

/// Told of tokens, so many at a time, when the text is cut into them, and of none now and then while they are parsed.
/// Its error ends the parsing: nobody wants it any more, or the text is too long.
pub type Progress<'p> = dyn FnMut(usize) -> SqlResult<()> + 'p;

/// After so many tokens whoever wants the text parsed hears of it.
const TOKENS_PER_TURN: usize = 1000;

/// Parses one batch.
///
/// # Errors
///
/// SQL Server's syntax errors with the line they are at, or the refusal of a construct that this
/// engine does not implement; besides, that of `progress`.
pub fn parse_text(
    text: &str,
    options: ParseOptions,
    progress: &mut Progress<'_>,
) -> SqlResult<Batch> {
    let tokens = lexer::tokenize(text, options.quoted_identifier, progress)?;
    let mut parser = cursor::Parser::new(text, tokens, progress);
    parser.open_json = options.open_json;
    let batch = parser.batch();
    parser.outcome(batch)
}

/// Parses one batch that nobody waits for.
#[cfg(test)]
pub fn parse_batch(text: &str, options: ParseOptions) -> SqlResult<Batch> {
    parse_text(text, options, &mut unheard)
}

/// Who hears of the tokens of a text that is as short as a name.
fn unheard(_: usize) -> SqlResult<()> {
    Ok(())
}

/// More than a name of four parts can take, each of them the longest there is, doubled and delimited.
pub const NAME_BYTES_MAX: usize = 8192;

/// Parses a dotted name on its own, as OBJECT_ID, RPC requests and EXEC @name carry it.
///
/// # Errors
///
/// A syntax error when the text is anything else, and 103 when it is too long for a name, without a look at the rest.
pub fn parse_name(text: &str) -> SqlResult<ObjectName> {
    if text.len() > NAME_BYTES_MAX {
        return Err(errors::too_long(text, lexer::IDENTIFIER_MAX, 1));
    }
    let mut progress = unheard;
    let tokens = lexer::tokenize(text, true, &mut progress)?;
    let mut parser = cursor::Parser::new(text, tokens, &mut progress);
    let name = parser.object_name()?;
    if !parser.at_end() {
        return Err(parser.fail());
    }
    Ok(name)
}

/// Parses the parameter list of sp_executesql: `@a INT, @b NVARCHAR(20) OUTPUT`.
///
/// # Errors
///
/// A syntax error when the text is anything else, or that of `progress`.
pub fn parse_parameters(text: &str, progress: &mut Progress<'_>) -> SqlResult<Vec<ProcParam>> {
    let tokens = lexer::tokenize(text, true, progress)?;
    let mut parser = cursor::Parser::new(text, tokens, progress);
    let params = parser.proc_params().and_then(|params| {
        if !parser.at_end() {
            return Err(parser.fail());
        }
        Ok(params)
    });
    parser.outcome(params)
}
