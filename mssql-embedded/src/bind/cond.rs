//! Search conditions.

use crate::ast::{CompareOp, Condition, Expr, QueryExpr};
use crate::error::SqlResult;
use crate::plan::{Cond, Query};
use crate::value::{DataType, Length};

use super::collate::{Meeting, settle};
use super::compare::{compare, operands};
use super::context::Binder;
use super::expr::{common, one_column};
use super::state::QueryUse;
use super::typing::{Coercibility, Ex, coerce};

impl<'a> Binder<'a> {
    /// Binds a condition whose unknown counts as false: WHERE, ON, HAVING, IF, CASE WHEN.
    pub(super) fn bind_cond(&mut self, cond: &'a Condition) -> SqlResult<Cond> {
        self.bind_part(cond, true)
    }

    fn bind_part(&mut self, cond: &'a Condition, filters: bool) -> SqlResult<Cond> {
        self.in_level(|b| b.bind_condition(cond, filters))
    }

    /// `filters`: unknown and false have the same effect here, which NOT ends.
    fn bind_condition(&mut self, cond: &'a Condition, filters: bool) -> SqlResult<Cond> {
        match cond {
            Condition::And(a, b) => {
                let (a, b) = (self.bind_part(a, filters)?, self.bind_part(b, filters)?);
                Ok(all(vec![a, b]))
            }
            Condition::Or(a, b) => {
                let mut list = Vec::new();
                for part in [a, b] {
                    match self.bind_part(part, filters)? {
                        Cond::Or(more) => list.extend(more),
                        one @ (Cond::Const(_)
                        | Cond::And(_)
                        | Cond::Not(_)
                        | Cond::Compare { .. }
                        | Cond::IsNull(_)
                        | Cond::InList { .. }
                        | Cond::Like { .. }
                        | Cond::Exists(_)
                        | Cond::Quantified { .. }) => list.push(one),
                    }
                }
                Ok(Cond::Or(list))
            }
            Condition::Not(c) => Ok(not(self.bind_part(c, false)?)),
            Condition::Compare(op, a, b) => {
                let (a, b) = (self.bind_expr(a)?, self.bind_expr(b)?);
                compare(*op, a, b)
            }
            Condition::Quantified {
                op,
                left,
                all,
                query,
            } => {
                let left = self.bind_expr(left)?;
                self.bind_quantified(*op, *all, left, query)
            }
            Condition::IsNull { expr, negated } => {
                let ex = self.bind_expr(expr)?;
                Ok(negate_if(*negated, Cond::IsNull(ex.expr)))
            }
            Condition::Between {
                expr,
                low,
                high,
                negated,
            } => {
                let ex = self.bind_expr(expr)?;
                let (low, high) = (self.bind_expr(low)?, self.bind_expr(high)?);
                let low = compare(CompareOp::Ge, self.copy(&ex)?, low)?;
                let high = compare(CompareOp::Le, ex, high)?;
                Ok(negate_if(*negated, all(vec![low, high])))
            }
            Condition::InList {
                expr,
                list,
                negated,
            } => {
                let cond = self.bind_in_list(expr, list)?;
                Ok(negate_if(*negated, cond))
            }
            Condition::InQuery {
                expr,
                query,
                negated,
            } => {
                let left = self.bind_expr(expr)?;
                let cond = self.bind_in_query(left, query, filters && !negated)?;
                Ok(negate_if(*negated, cond))
            }
            Condition::Like {
                expr,
                pattern,
                escape,
                negated,
            } => {
                let cond = self.bind_like(expr, pattern, escape.as_ref())?;
                Ok(negate_if(*negated, cond))
            }
            Condition::Exists(query) => {
                self.allow_subquery()?;
                let query = self.bind_nested(query, QueryUse::Exists)?;
                Ok(Cond::Exists(Box::new(query)))
            }
        }
    }

    fn bind_in_list(&mut self, expr: &'a Expr, list: &'a [Expr]) -> SqlResult<Cond> {
        let left = self.bind_expr(expr)?;
        if let [single] = list {
            let right = self.bind_expr(single)?;
            return compare(CompareOp::Eq, left, right);
        }
        let mut values = Vec::with_capacity(list.len() + 1);
        for item in list {
            values.push(self.bind_expr(item)?);
        }
        in_list(left, values)
    }

    /// `left IN (query)`. Where unknown counts as false it becomes EXISTS with the equality inside,
    /// which can seek; so it does elsewhere if neither side can be NULL.
    pub(super) fn bind_in_query(
        &mut self,
        left: Ex,
        query: &'a QueryExpr,
        filters: bool,
    ) -> SqlResult<Cond> {
        self.allow_subquery()?;
        if filters && super::query::can_take_equality(query) {
            let query = self.bind_nested(query, QueryUse::Member(left))?;
            return Ok(Cond::Exists(Box::new(query)));
        }
        if left.nullable || !super::query::can_take_equality(query) || !self.may_bind_twice() {
            return self.bind_quantified(CompareOp::Eq, false, left, query);
        }
        let plain = self.in_two_forms(|b| b.bind_nested(query, QueryUse::Value))?;
        if plain.columns.len() == 1 && !plain.columns[0].nullable {
            let query = self.in_two_forms(|b| b.bind_nested(query, QueryUse::Member(left)))?;
            return Ok(Cond::Exists(Box::new(query)));
        }
        Self::quantified(CompareOp::Eq, false, left, plain)
    }

    fn bind_quantified(
        &mut self,
        op: CompareOp,
        all: bool,
        left: Ex,
        query: &'a QueryExpr,
    ) -> SqlResult<Cond> {
        self.allow_subquery()?;
        let query = self.bind_nested(query, QueryUse::Value)?;
        Self::quantified(op, all, left, query)
    }

    fn quantified(op: CompareOp, all: bool, left: Ex, mut query: Query) -> SqlResult<Cond> {
        if query.columns.len() != 1 {
            return Err(one_column());
        }
        let ([column], Some(output)) = (query.columns.as_slice(), query.output.pop()) else {
            return Err(one_column());
        };
        let mut right = Ex::new(output, column.ty.clone(), column.nullable);
        right.coll = column.label;
        let (left, right, ty) = operands(left, right, "equal to")?;
        query.output = vec![right];
        query.columns[0].ty = ty.clone();
        Ok(Cond::Quantified {
            op,
            all,
            left,
            query: Box::new(query),
            ty,
        })
    }

    fn bind_like(
        &mut self,
        expr: &'a Expr,
        pattern: &'a Expr,
        escape: Option<&'a Expr>,
    ) -> SqlResult<Cond> {
        let mut text = as_text(self.bind_expr(expr)?, self.ctx.database.collation)?;
        let mut pattern = as_text(self.bind_expr(pattern)?, self.ctx.database.collation)?;
        settle([&mut text, &mut pattern], Meeting::Compared("like"))?;
        let escape = match escape {
            Some(escape) => {
                let escape = self.bind_expr(escape)?;
                Some(as_text(escape, self.ctx.database.collation)?.expr)
            }
            None => None,
        };
        let collation = text.ty.collation().unwrap_or(self.ctx.database.collation);
        let blanks = !text.ty.is_unicode() && !pattern.ty.is_unicode();
        Ok(Cond::Like {
            expr: text.expr,
            pattern: pattern.expr,
            escape,
            collation,
            blanks,
        })
    }
}

fn in_list(left: Ex, values: Vec<Ex>) -> SqlResult<Cond> {
    let mut list = vec![left];
    list.extend(values);
    let common = common(list, Meeting::Compared("equal to"))?;
    let ty = if matches!(common.ty, DataType::Null) {
        DataType::Int
    } else {
        common.ty
    };
    let mut values = common.values;
    let expr = values.remove(0);
    Ok(Cond::InList {
        expr,
        list: values,
        ty,
    })
}

fn as_text(ex: Ex, collation: crate::value::Collation) -> SqlResult<Ex> {
    if ex.ty.is_string() {
        return Ok(ex);
    }
    let ty = DataType::VarChar(Length::Limited(8000), collation);
    let nullable = ex.nullable;
    Ok(Ex {
        expr: coerce(ex, &ty)?,
        ty,
        nullable,
        coll: Coercibility::Default,
    })
}

/// The conjunction of several conditions, flat.
pub(super) fn all(list: Vec<Cond>) -> Cond {
    let mut flat = Vec::with_capacity(list.len());
    for cond in list {
        match cond {
            Cond::And(more) => flat.extend(more),
            Cond::Const(Some(true)) => {}
            one @ (Cond::Const(_)
            | Cond::Or(_)
            | Cond::Not(_)
            | Cond::Compare { .. }
            | Cond::IsNull(_)
            | Cond::InList { .. }
            | Cond::Like { .. }
            | Cond::Exists(_)
            | Cond::Quantified { .. }) => flat.push(one),
        }
    }
    match flat.len() {
        0 => Cond::Const(Some(true)),
        1 => flat.remove(0),
        _ => Cond::And(flat),
    }
}

fn not(cond: Cond) -> Cond {
    if let Cond::Not(inner) = cond {
        *inner
    } else {
        Cond::Not(Box::new(cond))
    }
}

fn negate_if(negated: bool, cond: Cond) -> Cond {
    if negated { not(cond) } else { cond }
}
