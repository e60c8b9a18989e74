//! What a statement is bound against, and the entry points of the binder.

use crate::ast::{Condition, Expr, ObjectName, QuerySpec, StmtKind, TableSource};
use crate::catalog::{Catalog, Database, ObjectId, TemporaryTables};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Bound, BoundKind, Required, Typed, VariableMap};

use super::cte::CteEnvironment;
use super::scope::{Clause, Scope};
use super::through::{Modifiable, Passed};

/// What a statement may refer to.
#[derive(Clone, Copy)]
pub struct BindContext<'a> {
    /// All databases.
    pub catalog: &'a Catalog,
    /// The current database.
    pub database: &'a Database,
    /// Where a name without schema is looked up first.
    pub default_schema: &'a str,
    /// The variables of the batch or procedure.
    pub variables: &'a VariableMap,
    /// QUOTED_IDENTIFIER; filtered indexes and their tables demand ON.
    pub quoted_identifier: bool,
    /// The temporary tables of the session.
    pub temporaries: &'a TemporaryTables,
}

/// The state of binding one statement.
pub(super) struct Binder<'a> {
    pub(super) ctx: &'a BindContext<'a>,
    /// Open query levels, outermost first; a scope's position is its level.
    pub(super) scopes: Vec<Scope>,
    pub(super) ctes: CteEnvironment<'a>,
    pub(super) depends: Vec<(ObjectId, u64)>,
    pub(super) requires: Vec<Required>,
    /// How many view bodies enclose the current place; what is read there needs no permission of
    /// its own.
    pub(super) view_depth: usize,
    pub(super) next_recursive_id: usize,
    pub(super) max_recursion: u32,
    pub(super) force_order: bool,
    /// The FROM item that an UPDATE or DELETE changes.
    pub(super) target_source: Option<&'a TableSource>,
    /// The SELECT through which the statement changes rows.
    pub(super) through: Option<&'a QuerySpec>,
    /// The target, once it has been added.
    pub(super) modified: Option<Modifiable<'a>>,
    /// What the query through which rows are changed passes on, once it has been bound.
    pub(super) passed: Option<Passed<'a>>,
    /// The table that SELECT … INTO makes.
    pub(super) into: Option<&'a ObjectName>,
}

impl<'a> Binder<'a> {
    pub(super) fn new(ctx: &'a BindContext<'a>) -> Self {
        Self {
            ctx,
            scopes: Vec::new(),
            ctes: CteEnvironment::default(),
            depends: Vec::new(),
            requires: Vec::new(),
            view_depth: 0,
            next_recursive_id: 0,
            max_recursion: 100,
            force_order: false,
            target_source: None,
            into: None,
            through: None,
            modified: None,
            passed: None,
        }
    }

    /// Notes that the statement holds only while the object has this version.
    pub(super) fn depend(&mut self, id: ObjectId, version: u64) {
        if !self.depends.contains(&(id, version)) {
            self.depends.push((id, version));
        }
    }

    /// Notes a permission to check at run time.
    pub(super) fn require(&mut self, object: ObjectId, permission: &'static str) {
        let required = Required { object, permission };
        if self.view_depth == 0 && !self.requires.contains(&required) {
            self.requires.push(required);
        }
    }

    fn finish(self, kind: BoundKind) -> Bound {
        Bound {
            kind,
            depends: self.depends,
            requires: self.requires,
        }
    }
}

/// Binds a SELECT, INSERT, UPDATE or DELETE.
///
/// # Errors
///
/// Names that do not exist, types that do not fit, clauses in the wrong place: SQL Server's number
/// for each.
pub fn bind_statement<'a>(ctx: &'a BindContext<'a>, statement: &'a StmtKind) -> SqlResult<Bound> {
    let mut binder = Binder::new(ctx);
    let kind = match statement {
        StmtKind::Select(select) => binder.bind_select_statement(select)?,
        StmtKind::Insert(insert) => BoundKind::Insert(binder.bind_insert(insert)?),
        StmtKind::Update(update) => BoundKind::Update(binder.bind_update(update)?),
        StmtKind::Delete(delete) => BoundKind::Delete(binder.bind_delete(delete)?),
        _ => {
            return Err(SqlError::internal(
                "binding a statement other than SELECT or DML",
            ));
        }
    };
    Ok(binder.finish(kind))
}

/// Binds the condition of IF or WHILE.
///
/// # Errors
///
/// As [`bind_statement`].
pub fn bind_condition<'a>(ctx: &'a BindContext<'a>, condition: &'a Condition) -> SqlResult<Bound> {
    let mut binder = Binder::new(ctx);
    let cond = binder.bind_cond(condition)?;
    Ok(binder.finish(BoundKind::Condition(cond)))
}

/// Binds values outside of a query: SET, DECLARE, RETURN, PRINT, arguments.
///
/// # Errors
///
/// As [`bind_statement`].
pub fn bind_scalars<'a>(ctx: &'a BindContext<'a>, exprs: &[&'a Expr]) -> SqlResult<Bound> {
    let mut binder = Binder::new(ctx);
    let values = exprs
        .iter()
        .map(|expr| {
            binder.bind_expr(expr).map(|ex| Typed {
                expr: ex.expr,
                ty: ex.ty,
            })
        })
        .collect::<SqlResult<Vec<_>>>()?;
    Ok(binder.finish(BoundKind::Scalars(values)))
}

impl Binder<'_> {
    /// The clause being bound in the innermost query, if there is one.
    pub(super) fn clause(&self) -> Clause {
        self.scopes.last().map_or(Clause::Other, |s| s.clause)
    }
}
