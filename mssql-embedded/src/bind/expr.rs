//! Scalar expressions.

use crate::ast::{BinaryOp, Condition, Expr, ExprKind, Ident, QueryExpr, TypeName, UnaryOp};
use crate::error::{SqlError, SqlResult};
use crate::func::{AT_TIME_ZONE, lookup};
use crate::parse::errors::subquery_not_allowed;
use crate::plan::{Cond, Scalar, undeclared};
use crate::refused::{Kind, refusal};
use crate::value::arith::{bit_not, negate};
use crate::value::operation::operation;
use crate::value::precedence::{check_explicit, common_type};
use crate::value::{BareLength, DataType, Value, refuse_style};

use super::collate::{Meeting, require_for, settle};
use super::context::Binder;
use super::literal::bind_literal;
use super::scope::Clause;
use super::state::QueryUse;
use super::typing::{Coercibility, Ex, coerce, convert, same_representation};
use super::{errors, resolve_collation, resolve_type};

impl<'a> Binder<'a> {
    pub(super) fn bind_expr(&mut self, expr: &'a Expr) -> SqlResult<Ex> {
        self.ctx.go_on()?;
        self.in_level(|b| b.bind_kind(expr))
            .map_err(|e| e.at(expr.pos.line))
    }

    fn bind_kind(&mut self, expr: &'a Expr) -> SqlResult<Ex> {
        match &expr.kind {
            ExprKind::Literal(literal) => bind_literal(literal, self.ctx.database.collation),
            ExprKind::Variable(name) => {
                let variable = self.ctx.variables.scalar(name, expr.pos)?;
                Ok(Ex::new(
                    Scalar::Variable(variable.slot),
                    variable.ty.clone(),
                    true,
                ))
            }
            ExprKind::GlobalVariable(name) => {
                let known = format!("@@{}", name.to_ascii_uppercase());
                let function = lookup(&known).ok_or_else(|| {
                    let unknown = || undeclared(&format!("@@{name}"), expr.pos);
                    refusal(Kind::Function, &known).unwrap_or_else(unknown)
                })?;
                self.call_function(function, Vec::new())
            }
            ExprKind::Column(name) => self.resolve_column(name),
            ExprKind::Binary(op, left, right) => {
                let (l, r) = (self.bind_expr(left)?, self.bind_expr(right)?);
                let (left_type, right_type) = (l.ty.clone(), r.ty.clone());
                let l = literal_digits(left, l, &right_type);
                combine(*op, l, literal_digits(right, r, &left_type))
            }
            ExprKind::Unary(op, operand) => {
                let bound = self.bind_expr(operand)?;
                let bound = unary(*op, bound)?;
                Ok(if matches!(operand.kind, ExprKind::Literal(_)) {
                    smallest_int(bound)
                } else {
                    bound
                })
            }
            ExprKind::Call(call) => self.bind_call(call, expr.pos),
            ExprKind::Cast { expr, ty, try_ } => self.bind_cast(expr, ty, None, *try_),
            ExprKind::Convert {
                expr,
                ty,
                style,
                try_,
            } => self.bind_cast(expr, ty, style.as_deref(), *try_),
            ExprKind::SimpleCase {
                operand,
                whens,
                otherwise,
            } => self.in_case(|b| b.bind_simple_case(operand, whens, otherwise.as_deref())),
            ExprKind::SearchedCase { whens, otherwise } => {
                let conds = whens.iter().map(|(c, _)| c);
                let mut results: Vec<&'a Expr> = whens.iter().map(|(_, r)| r).collect();
                results.extend(otherwise.as_deref());
                self.in_case(|b| b.bind_case(conds.collect(), results))
            }
            ExprKind::Iif {
                condition,
                then,
                otherwise,
            } => self.in_case(|b| b.bind_case(vec![condition], vec![then, otherwise])),
            ExprKind::Subquery(query) => self.bind_scalar_subquery(query),
            ExprKind::Collate(operand, name) => self.bind_collate(operand, name),
            ExprKind::AtTimeZone(operand, zone) => {
                let args = vec![self.bind_expr(operand)?, self.bind_expr(zone)?];
                self.call_named(AT_TIME_ZONE, args)
            }
        }
    }

    fn bind_cast(
        &mut self,
        operand: &'a Expr,
        ty: &TypeName,
        style: Option<&'a Expr>,
        try_: bool,
    ) -> SqlResult<Ex> {
        let operand = self.bind_expr(operand)?;
        let collation = operand
            .ty
            .collation()
            .unwrap_or(self.ctx.database.collation);
        let to = resolve_type(ty, collation, BareLength::Thirty)
            .map_err(|e| errors::undefined_in_cast(e, &ty.name))?;
        check_explicit(&operand.ty, &to)?;
        if to.is_string() && !to.is_unicode() {
            require_for(operand.label(), "CONVERT", 20)?;
        }
        let coll = operand.label();
        let style = match style {
            Some(style) => {
                let style = self.bind_expr(style)?;
                let style = coerce(style, &DataType::Int)?;
                if let Scalar::Const(Value::Int(n)) = style
                    && let Ok(n) = i32::try_from(n)
                {
                    refuse_style(&operand.ty, &to, n)?;
                }
                Some(Box::new(style))
            }
            None => None,
        };
        let nullable = operand.nullable || try_ || style.is_some();
        let expr = if style.is_none() && (!try_ || same_representation(&operand.ty, &to)) {
            convert(operand.expr, &operand.ty, &to)
        } else {
            Scalar::Cast {
                expr: Box::new(operand.expr),
                from: operand.ty,
                to: to.clone(),
                style,
                try_,
            }
        };
        Ok(Ex {
            expr,
            ty: to,
            nullable,
            coll,
        })
    }

    fn bind_simple_case(
        &mut self,
        operand: &'a Expr,
        whens: &'a [(Expr, Expr)],
        otherwise: Option<&'a Expr>,
    ) -> SqlResult<Ex> {
        let operand = self.bind_expr(operand)?;
        let mut conds = Vec::new();
        for (value, _) in whens {
            let value = self.bind_expr(value)?;
            conds.push(super::compare::compare(
                crate::ast::CompareOp::Eq,
                self.copy(&operand)?,
                value,
            )?);
        }
        let mut results = Vec::new();
        for result in whens.iter().map(|(_, r)| r).chain(otherwise) {
            results.push(self.bind_expr(result)?);
        }
        case(conds, results)
    }

    fn bind_case(&mut self, conds: Vec<&'a Condition>, results: Vec<&'a Expr>) -> SqlResult<Ex> {
        let conds = conds
            .into_iter()
            .map(|c| self.bind_cond(c))
            .collect::<SqlResult<Vec<_>>>()?;
        let results = results
            .into_iter()
            .map(|r| self.bind_expr(r))
            .collect::<SqlResult<Vec<_>>>()?;
        case(conds, results)
    }

    fn bind_scalar_subquery(&mut self, query: &'a QueryExpr) -> SqlResult<Ex> {
        self.allow_subquery()?;
        let query = self.bind_nested(query, QueryUse::Value)?;
        let [column] = query.columns.as_slice() else {
            return Err(one_column());
        };
        let (ty, coll) = (column.ty.clone(), column.label);
        Ok(Ex {
            expr: Scalar::Subquery(Box::new(query)),
            ty,
            nullable: true,
            coll,
        })
    }

    /// Refuses subqueries where the language has none.
    pub(super) fn allow_subquery(&self) -> SqlResult<()> {
        match self.clause() {
            Clause::GroupBy => Err(errors::not_in_group_by()),
            Clause::AggregateArg => Err(nested_aggregate()),
            Clause::Rule => Err(subquery_not_allowed(0)),
            Clause::Other
            | Clause::Select
            | Clause::Where
            | Clause::On
            | Clause::Having
            | Clause::OrderBy
            | Clause::WindowArg
            | Clause::Set
            | Clause::Output => Ok(()),
        }
    }

    fn bind_collate(&mut self, operand: &'a Expr, name: &Ident) -> SqlResult<Ex> {
        let repeated = matches!(operand.kind, ExprKind::Collate(..));
        let operand = self.bind_expr(operand)?;
        let collation = resolve_collation(name, self.ctx.database.collation)?;
        if !operand.ty.is_string() {
            return Err(SqlError::new(
                447,
                format!(
                    "Expression type {} is invalid for COLLATE clause.",
                    operand.ty.name()
                ),
            ));
        }
        if let Some(inner) = operand.ty.collation()
            && repeated
            && inner != collation
        {
            return Err(SqlError::new(
                449,
                format!(
                    "Collation conflict caused by collate clauses with different collation '{}' and \
                     '{}'.",
                    inner.name(),
                    collation.name()
                ),
            ));
        }
        if !operand.ty.is_unicode() {
            require_for(operand.coll, "COLLATE", 6)?;
        }
        let ty = operand.ty.with_collation(collation);
        let expr = convert(operand.expr, &operand.ty, &ty);
        Ok(Ex {
            expr,
            ty,
            nullable: operand.nullable,
            coll: Coercibility::Explicit,
        })
    }
}

/// 116: a subquery of several columns where a value is wanted.
pub(super) fn one_column() -> SqlError {
    SqlError::new(
        116,
        "Only one expression can be specified in the select list when the subquery is not introduced \
         with EXISTS.",
    )
}

/// 130: an aggregate over an aggregate or a subquery.
pub(super) fn nested_aggregate() -> SqlError {
    SqlError::new(
        130,
        "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.",
    )
}

/// `a op b` of an assignment, whose right side is seldom a constant that is no literal.
pub(super) fn arithmetic(op: BinaryOp, left: Ex, right: Ex) -> SqlResult<Ex> {
    let right = digits_beside_decimal(right, &left.ty);
    combine(op, left, right)
}

fn combine(op: BinaryOp, mut left: Ex, mut right: Ex) -> SqlResult<Ex> {
    let coll = settle([&mut left, &mut right], Meeting::Joined("add"))?;
    let types = operation(op, &left.ty, &right.ty)?;
    // What may overflow may be NULL: that is what it gives with ARITHABORT and ANSI_WARNINGS OFF.
    let computes = matches!(
        op,
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod
    );
    let joins = types.result.is_string() || types.result.is_binary();
    let nullable = left.nullable || right.nullable || computes && !joins;
    Ok(Ex {
        expr: Scalar::Arith {
            op,
            left: Box::new(convert(left.expr, &left.ty, &types.left)),
            right: Box::new(convert(right.expr, &right.ty, &types.right)),
            ty: types.result.clone(),
        },
        ty: types.result,
        nullable,
        coll,
    })
}

/// Applies to literals alone: `CAST(3 AS INT)` has the ten digits of its type.
fn literal_digits(written: &Expr, ex: Ex, other: &DataType) -> Ex {
    let mut written = written;
    while let ExprKind::Unary(UnaryOp::Plus | UnaryOp::Minus, operand) = &written.kind {
        written = operand;
    }
    if matches!(written.kind, ExprKind::Literal(_)) {
        digits_beside_decimal(ex, other)
    } else {
        ex
    }
}

/// An integer literal beside a decimal counts with the digits it has, not with the ten of INT: `1.0 / 3`
/// has six decimals.
fn digits_beside_decimal(ex: Ex, other: &DataType) -> Ex {
    let (Scalar::Const(Value::Int(n)), DataType::Int, DataType::Decimal { .. }) =
        (&ex.expr, &ex.ty, other)
    else {
        return ex;
    };
    let digits = n.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
    let units = i128::from(*n);
    Ex {
        expr: Scalar::Const(Value::Decimal { units, scale: 0 }),
        ty: DataType::Decimal {
            precision: digits as u8,
            scale: 0,
        },
        ..ex
    }
}

/// The sign is part of a literal: 2147483648 is a DECIMAL, and -2147483648 an INT.
fn smallest_int(ex: Ex) -> Ex {
    let smallest = i32::MIN;
    if let Scalar::Const(Value::Decimal { units, scale: 0 }) = &ex.expr
        && *units == smallest.into()
    {
        return Ex {
            expr: Scalar::Const(Value::Int(smallest.into())),
            ty: DataType::Int,
            ..ex
        };
    }
    ex
}

fn unary(op: UnaryOp, operand: Ex) -> SqlResult<Ex> {
    let Ex {
        expr,
        ty,
        nullable,
        coll,
    } = operand;
    let ty = if matches!(ty, DataType::Null) {
        DataType::Int
    } else if op == UnaryOp::Minus && ty == DataType::TinyInt {
        // It has no negative numbers.
        DataType::SmallInt
    } else {
        ty
    };
    let refused = |what: &str| Err(crate::value::errors::invalid_operand(&ty, what));
    let expr = match op {
        UnaryOp::Plus => expr,
        UnaryOp::Minus if !ty.is_numeric() => return refused("minus"),
        UnaryOp::BitNot if !(ty.is_integer() || matches!(ty, DataType::Bit)) => {
            return refused("'~'");
        }
        UnaryOp::Minus => {
            if let Scalar::Const(v) = &expr
                && !v.is_null()
            {
                match negate(v, &ty) {
                    Ok(v) => Scalar::Const(v),
                    Err(_) => Scalar::Negate(Box::new(expr), ty.clone()),
                }
            } else {
                Scalar::Negate(Box::new(expr), ty.clone())
            }
        }
        UnaryOp::BitNot => {
            if let Scalar::Const(v) = &expr
                && !v.is_null()
            {
                Scalar::Const(bit_not(v, &ty)?)
            } else {
                Scalar::BitNot(Box::new(expr), ty.clone())
            }
        }
    };
    Ok(Ex {
        expr,
        ty,
        nullable,
        coll,
    })
}

/// Values that take one common type.
pub(super) struct Common {
    pub(super) values: Vec<Scalar>,
    pub(super) ty: DataType,
    pub(super) nullable: bool,
    pub(super) coll: Coercibility,
}

/// Finds the common type of several values and converts them to it.
pub(super) fn common(mut list: Vec<Ex>, meeting: Meeting<'_>) -> SqlResult<Common> {
    let coll = settle(&mut list, meeting)?;
    let mut ty = DataType::Null;
    for ex in &list {
        ty = common_type(&ty, &ex.ty)?;
    }
    let nullable = list.iter().any(|ex| ex.nullable);
    let values = list
        .into_iter()
        .map(|ex| coerce(ex, &ty))
        .collect::<SqlResult<Vec<_>>>()?;
    Ok(Common {
        values,
        ty,
        nullable,
        coll,
    })
}

/// CASE: one more result than conditions when there is an ELSE.
fn case(conds: Vec<Cond>, mut results: Vec<Ex>) -> SqlResult<Ex> {
    if results.iter().all(|r| matches!(r.ty, DataType::Null)) {
        return Err(SqlError::new(
            8133,
            "At least one of the result expressions in a CASE specification must be an expression \
             other than the NULL constant.",
        ));
    }
    if results.len() == conds.len() {
        results.push(Ex::new(Scalar::Const(Value::Null), DataType::Null, true));
    }
    let mut common = common(results, Meeting::Joined("CASE"))?;
    let otherwise = common.values.pop().unwrap_or(Scalar::Const(Value::Null));
    Ok(Ex {
        expr: Scalar::Case {
            whens: conds.into_iter().zip(common.values).collect(),
            otherwise: Box::new(otherwise),
        },
        ty: common.ty,
        nullable: common.nullable,
        coll: common.coll,
    })
}
