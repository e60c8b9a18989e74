//! The select list: items, stars, assignments.

use crate::ast::{BinaryOp, ExprKind, ObjectName, SelectItem};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Assign, Scalar};
use crate::value::precedence::check_implicit;

use super::context::Binder;
use super::errors;
use super::expr::arithmetic;
use super::query::QueryUse;
use super::scope::column_ex;
use super::typing::Ex;

/// One item of the select list.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) ex: Ex,
    pub(super) identity: bool,
}

/// 141.
pub(super) fn mixed_assignment() -> SqlError {
    SqlError::with(
        141,
        15,
        1,
        "A SELECT statement that assigns a value to a variable must not be combined with \
         data-retrieval operations.",
    )
}

impl<'a> Binder<'a> {
    pub(super) fn bind_items(
        &mut self,
        items: &'a [SelectItem],
        use_: &QueryUse,
    ) -> SqlResult<(Vec<Item>, Vec<Assign>)> {
        let (mut list, mut assign) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                SelectItem::Star(_) if matches!(use_, QueryUse::Exists) => {}
                SelectItem::Star(prefix) => list.extend(self.expand_star(prefix.as_ref())?),
                SelectItem::Expr { expr, alias } => {
                    let ex = self.bind_expr(expr)?;
                    let (name, identity) = match (&expr.kind, alias) {
                        (ExprKind::Column(column), _) => {
                            let identity = self.find_column(column).is_ok_and(|(_, c)| c.identity);
                            let own = column.parts.last().map_or("", |p| p.name.as_str());
                            (alias.as_ref().map_or(own, |a| a.name.as_str()), identity)
                        }
                        (_, Some(alias)) => (alias.name.as_str(), false),
                        _ => ("", false),
                    };
                    list.push(Item {
                        name: name.to_owned(),
                        ex,
                        identity,
                    });
                }
                SelectItem::Assign { variable, op, expr } => {
                    if !matches!(use_, QueryUse::Statement) {
                        return Err(mixed_assignment());
                    }
                    let value = self.bind_expr(expr)?;
                    assign.push(self.assignment(variable, *op, value)?);
                }
            }
        }
        if !assign.is_empty() && !list.is_empty() {
            return Err(mixed_assignment());
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
            Some(name) if !found => Err(SqlError::new(
                107,
                format!(
                    "The column prefix '{}' does not match with a table name or alias name used in \
                     the query.",
                    errors::dotted(name)
                ),
            )),
            None if !found => Err(SqlError::new(263, "Must specify table to select from.")),
            _ => Ok(items),
        }
    }
}
