//! The syntax tree: what the parser produces and the binder reads.
//!
//! Names keep the spelling of the source; the binder folds case by the database's collation.

mod ddl;
mod dml;
mod expr;
mod permission;
mod query;
mod stmt;
mod switch;

pub use ddl::*;
pub use dml::*;
pub use expr::*;
pub use permission::*;
pub use query::*;
pub use stmt::*;
pub use switch::*;

/// The operators of an expression are those that values have.
pub use crate::value::BinaryOp;

/// A place in the source text of one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pos {
    /// 1-based line within the batch.
    pub line: u32,
    /// 1-based column, in characters.
    pub col: u32,
    /// Byte offset into the batch text.
    pub offset: u32,
}

/// An identifier, without its delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name as written, `]]` and `""` already undone.
    pub name: String,
    pub pos: Pos,
}

/// A dotted name, outermost part first; `db..table` holds an empty schema part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// One to four parts.
    pub parts: Vec<Ident>,
}

/// A type as written: name and arguments, resolved by the binder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// `sys.` or nothing, then the name.
    pub name: ObjectName,
    /// Arguments in parentheses.
    pub args: Vec<TypeArg>,
}

impl TypeName {
    pub fn is_sysname(&self) -> bool {
        let name = self.name.parts.last();
        name.is_some_and(|part| part.name.eq_ignore_ascii_case("sysname"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeArg {
    Number(i64),
    Max,
}
