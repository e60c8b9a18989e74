//! Signatures of the binder, until it lands (replace this whole file by the real one).
use crate::ast::*;
use crate::catalog::*;
use crate::error::*;
use crate::plan::*;
use crate::value::*;
use std::sync::Arc;
pub struct BindContext<'a> {
    pub catalog: &'a Catalog,
    pub database: &'a Database,
    pub default_schema: &'a str,
    pub variables: &'a VariableMap,
    pub quoted_identifier: bool,
}
#[derive(Clone, Debug)]
pub struct ScalarVariable {
    pub slot: usize,
    pub ty: DataType,
}
#[derive(Clone, Debug)]
pub struct TableVariable {
    pub slot: usize,
    pub table: Arc<TableDef>,
}
#[derive(Clone, Debug, Default)]
pub struct VariableMap {
    s: Vec<ScalarVariable>,
    t: Vec<TableVariable>,
}
impl VariableMap {
    pub fn collect(_p: &[(String, DataType)], _b: &[Stmt], _d: &Database) -> SqlResult<Self> {
        todo!()
    }
    pub fn scalars(&self) -> &[ScalarVariable] {
        &self.s
    }
    pub fn tables(&self) -> &[TableVariable] {
        &self.t
    }
    pub fn scalar_named(&self, _n: &str) -> SqlResult<&ScalarVariable> {
        todo!()
    }
}
pub fn fold(_d: &Database, _n: &str) -> String {
    todo!()
}
pub fn bind_statement<'a>(_c: &'a BindContext<'a>, _s: &'a StmtKind) -> SqlResult<Bound> {
    todo!()
}
pub fn bind_condition<'a>(_c: &'a BindContext<'a>, _s: &'a Condition) -> SqlResult<Bound> {
    todo!()
}
pub fn bind_scalars<'a>(_c: &'a BindContext<'a>, _s: &[&'a Expr]) -> SqlResult<Bound> {
    todo!()
}
pub fn resolve_collation(_name: &Ident, _default: Collation) -> SqlResult<Collation> {
    todo!()
}
pub fn resolve_type(
    _name: &TypeName,
    _collation: Collation,
    _bare: BareLength,
) -> SqlResult<DataType> {
    todo!()
}
