//! The select list: items, stars, assignments.

use crate::ast::{BinaryOp, ObjectName, SelectItem};
use crate::catalog::dotted;
use crate::error::{SqlError, SqlResult};
use crate::parse::errors::assignment_with_data;
use crate::plan::{Assign, Scalar};
use crate::value::precedence::check_implicit;
use crate::value::{ColumnMeta, DataType};

use super::context::Binder;
use super::expr::arithmetic;
use super::scope::column_ex;
use super::state::QueryUse;
use super::typing::{Coercibility, Ex};

/// How many unknown names of one select list are told of: each error holds the one before it.
const UNKNOWN_TOLD: usize = 100;

/// One item of the select list.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) ex: Ex,
    pub(super) identity: bool,
}

/// How many elements a select list may have ("Columns per SELECT statement" in "Maximum capacity specifications for SQL
/// Server").
const ELEMENTS_MAX: usize = 4096;

/// 1056: a select list with more.
pub(super) fn check_elements(count: usize) -> SqlResult<()> {
    if count <= ELEMENTS_MAX {
        return Ok(());
    }
    Err(SqlError::with(
        1056,
        15,
        1,
        format!(
            "The number of elements in the select list exceeds the maximum allowed number of \
             {ELEMENTS_MAX} elements."
        ),
    ))
}

impl<'a> Binder<'a> {
    pub(super) fn bind_items(
        &mut self,
        items: &'a [SelectItem],
        use_: &QueryUse,
    ) -> SqlResult<(Vec<Item>, Vec<Assign>)> {
        let (mut list, mut assign) = (Vec::new(), Vec::new());
        let mut unknown: Option<SqlError> = None;
        let mut untold = UNKNOWN_TOLD;
        for item in items {
            check_elements(list.len() + assign.len())?;
            match item {
                SelectItem::Star(_) if matches!(use_, QueryUse::Exists) => {}
                SelectItem::Star(prefix) => list.extend(self.expand_star(prefix.as_ref())?),
                SelectItem::Expr { expr, alias } => {
                    let ex = match self.bind_expr(expr) {
                        Ok(ex) => ex,
                        // SQL Server tells of every unknown column of the list.
                        Err(error) if matches!(error.number, 137 | 207) && untold > 0 => {
                            untold -= 1;
                            unknown = Some(match unknown.take() {
                                Some(first) if first.number == error.number => error.after(first),
                                Some(first) => first,
                                None => error,
                            });
                            continue;
                        }
                        Err(error) => return Err(error),
                    };
                    let column = expr.kind.as_column();
                    let identity =
                        column.is_some_and(|c| self.find_column(c).is_ok_and(|(_, c)| c.identity));
                    let own = column.and_then(|c| c.parts.last());
                    let name = alias.as_ref().or(own).map_or("", |n| n.name.as_str());
                    list.push(Item {
                        name: name.to_owned(),
                        ex,
                        identity,
                    });
                }
                SelectItem::Assign { variable, op, expr } => {
                    if !matches!(use_, QueryUse::Statement) {
                        return Err(assignment_with_data(0));
                    }
                    let value = self.bind_expr(expr)?;
                    assign.push(self.assignment(variable, *op, value)?);
                }
            }
        }
        check_elements(list.len() + assign.len())?;
        if let Some(error) = unknown {
            return Err(error);
        }
        if !assign.is_empty() && !list.is_empty() {
            return Err(assignment_with_data(0));
        }
        Ok((list, assign))
    }

    /// `@v = value` or `@v op= value`.
    pub(super) fn assignment(
        &self,
        variable: &str,
        op: Option<BinaryOp>,
        value: Ex,
    ) -> SqlResult<Assign> {
        let target = self.ctx.variables.target_named(variable)?;
        let value = match op {
            Some(op) => {
                let old = Ex::new(Scalar::Variable(target.slot), target.ty.clone(), true);
                arithmetic(op, old, value)?
            }
            None => value,
        };
        check_implicit(&value.ty, &target.ty)?;
        Ok(Assign {
            variable: target.slot,
            value: value.expr,
            ty: value.ty,
        })
    }

    fn expand_star(&mut self, prefix: Option<&ObjectName>) -> SqlResult<Vec<Item>> {
        let level = self.scopes.len() - 1;
        let parts = prefix.map_or(&[][..], |p| p.parts.as_slice());
        let mut items = Vec::new();
        let mut found = false;
        let scope = &self.scopes[level];
        for source in &scope.sources[scope.visible.clone()] {
            if source.hidden || !self.qualifies(source, parts) {
                continue;
            }
            found = true;
            items.extend(source.columns.iter().map(|c| Item {
                name: c.name.clone(),
                ex: column_ex(level, c),
                identity: c.identity,
            }));
        }
        match prefix {
            Some(name) if !found => Err(SqlError::with(
                107,
                15,
                1,
                format!(
                    "The column prefix '{}' does not match with a table name or alias name used in \
                     the query.",
                    dotted(name)
                ),
            )),
            None if !found => Err(SqlError::new(263, "Must specify table to select from.")),
            _ => Ok(items),
        }
    }
}

/// A result column; an untyped NULL is an INT to the outside.
pub(super) fn meta(name: &str, ty: &DataType, nullable: bool) -> ColumnMeta {
    let ty = if matches!(ty, DataType::Null) {
        DataType::Int
    } else {
        ty.clone()
    };
    ColumnMeta {
        name: name.to_owned(),
        ty,
        nullable,
        identity: false,
        label: Coercibility::Default,
    }
}
