//! What a statement is bound against, and the entry points of the binder.

use std::num::NonZeroU32;

use crate::adversary::Choices;
use crate::ast::{
    Condition, Expr, JoinStrategy, ObjectName, Permission, QuerySpec, TableSource, TableStmt,
};
use crate::catalog::{
    Catalog, Database, LookedUp, Names, ObjectId, TableDef, TemporaryTables, is_temporary,
};
use crate::error::SqlResult;
use crate::interrupt::{Asking, stop_if};
use crate::plan::{Bound, BoundKind, Replan, Required, Typed, VariableMap};

use super::scope::{Clause, Scope};
use super::state::{CteEnvironment, Growth, Modifiable, Passed};

/// How deep queries that are bound in two forms may nest; each level doubles the work.
const TWOFOLD_MAX: usize = 4;

/// What a statement may refer to.
#[derive(Clone, Copy)]
pub struct BindContext<'a> {
    pub catalog: &'a Catalog,
    /// The current database.
    pub database: &'a Database,
    /// Where a name without schema is looked up first.
    pub default_schema: &'a str,
    /// The login that asks, for names in other databases.
    pub login: &'a str,
    /// The variables of the batch or procedure.
    pub variables: &'a VariableMap,
    /// QUOTED_IDENTIFIER; filtered indexes and their tables demand ON.
    pub quoted_identifier: bool,
    pub temporaries: &'a TemporaryTables,
    /// What the adversary decides for the statement, if there is one.
    pub choices: Option<&'a Choices>,
    /// Where it is noted what was looked up.
    pub looked_up: Option<&'a LookedUp>,
    /// Asks the client side whether to stop.
    pub interrupted: Asking<'a>,
}

impl<'a> BindContext<'a> {
    /// Where names are looked up.
    pub fn names(&self) -> Names<'a> {
        Names {
            catalog: self.catalog,
            database: self.database,
            default_schema: self.default_schema,
            login: self.login,
            temporaries: self.temporaries,
            looked_up: self.looked_up,
        }
    }

    /// Asks whether to go on. Binding can last: a statement may name many tables, and views as many again.
    ///
    /// # Errors
    ///
    /// That of an interrupt.
    pub fn go_on(&self) -> SqlResult<()> {
        stop_if((self.interrupted)())
    }

    /// The context in which the rules of a table hold: they were written in the table's own database.
    pub fn home_of(&self, table: &TableDef) -> Self {
        let foreign = table.database != self.database.name && !is_temporary(&table.name);
        let home = foreign.then(|| self.catalog.database(&table.database));
        Self {
            database: home.flatten().unwrap_or(self.database),
            ..*self
        }
    }
}

/// The state of binding one statement.
pub(super) struct Binder<'a> {
    pub(super) ctx: BindContext<'a>,
    /// Open query levels, outermost first; a scope's position is its level.
    pub(super) scopes: Vec<Scope>,
    pub(super) ctes: CteEnvironment<'a>,
    pub(super) depends: Vec<(ObjectId, u64)>,
    pub(super) requires: Vec<Required>,
    /// How many view bodies enclose the current place; what is read there needs no permission of
    /// its own.
    pub(super) view_depth: usize,
    /// How large and how deep the statement has become.
    pub(super) growth: Growth,
    /// How many enclosing queries are being bound in two forms, of which the planner takes one.
    pub(super) twofold: usize,
    pub(super) next_recursive_id: usize,
    /// The CTE whose recursive part is being bound.
    pub(super) recursive_part: Option<&'a str>,
    pub(super) max_recursion: Option<NonZeroU32>,
    pub(super) force_order: bool,
    /// How tables may be joined, by OPTION.
    pub(super) join_strategy: JoinStrategy,
    /// OPTION says something about joins.
    pub(super) joins_hinted: bool,
    /// When another plan may be made, by OPTION.
    pub(super) replan: Replan,
    pub(super) no_spool: bool,
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
    pub(super) fn new(ctx: &BindContext<'a>) -> Self {
        Self {
            ctx: *ctx,
            scopes: Vec::new(),
            ctes: CteEnvironment::default(),
            depends: Vec::new(),
            requires: Vec::new(),
            view_depth: 0,
            growth: Growth::default(),
            twofold: 0,
            next_recursive_id: 0,
            recursive_part: None,
            max_recursion: NonZeroU32::new(100),
            force_order: false,
            join_strategy: JoinStrategy::Any,
            joins_hinted: false,
            replan: Replan::Freely,
            no_spool: false,
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

    /// Notes a permission on an object to check at run time. A view vouches for what it reads, but
    /// not in another database than its own.
    pub(super) fn require_in(&mut self, home: &Database, object: ObjectId, permission: Permission) {
        let depth = self.view_depth;
        if home.id != self.ctx.database.id {
            self.view_depth = 0;
        }
        self.require(object, permission);
        self.view_depth = depth;
    }

    /// Notes a permission to check at run time.
    pub(super) fn require(&mut self, object: ObjectId, permission: Permission) {
        let required = Required { object, permission };
        if self.view_depth == 0 && !self.requires.contains(&required) {
            self.requires.push(required);
        }
    }

    /// Binds a query in one of two forms that both have to be bound. Inside such queries there are two
    /// forms again, so that only a few levels may have them: the others are content with the plain one.
    pub(super) fn in_two_forms<T>(
        &mut self,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.twofold += 1;
        let bound = bind(self);
        self.twofold -= 1;
        bound
    }

    /// Whether a query may be bound in two forms here.
    pub(super) fn may_bind_twice(&self) -> bool {
        self.twofold < TWOFOLD_MAX
    }

    fn finish(self, kind: BoundKind) -> Bound {
        let assigns = match &kind {
            BoundKind::Assign(_) => true,
            BoundKind::Update(update) => !update.assign.is_empty(),
            BoundKind::Select(_)
            | BoundKind::SelectInto(_)
            | BoundKind::Insert(_)
            | BoundKind::Delete(_)
            | BoundKind::Condition(_)
            | BoundKind::Scalars(_) => false,
        };
        Bound {
            may_spool: !self.no_spool && !assigns,
            kind,
            depends: self.depends,
            requires: self.requires,
            replan: self.replan,
        }
    }
}

/// Binds a SELECT, INSERT, UPDATE or DELETE.
///
/// # Errors
///
/// Names that do not exist, types that do not fit, clauses in the wrong place: SQL Server's number
/// for each.
pub fn bind_statement<'a>(ctx: &'a BindContext<'a>, statement: &'a TableStmt) -> SqlResult<Bound> {
    let mut binder = Binder::new(ctx);
    let kind = match statement {
        TableStmt::Select(select) => binder.bind_select_statement(select)?,
        TableStmt::Insert(insert) => BoundKind::Insert(binder.bind_insert(insert)?),
        TableStmt::Update(update) => BoundKind::Update(binder.bind_update(update)?),
        TableStmt::Delete(delete) => BoundKind::Delete(binder.bind_delete(delete)?),
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
