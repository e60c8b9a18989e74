//! UNION, EXCEPT, INTERSECT, and a parenthesised query with an ORDER BY of its own.

use crate::ast::{QueryBody, QueryExpr, SetOp};
use crate::error::{SqlError, SqlResult};
use crate::parse::errors::assignment_with_data;
use crate::plan::{Node, Query, Scalar};
use crate::value::precedence::common_type;
use crate::value::{ColumnMeta, DataType};

use super::collate::{Meeting, settle};
use super::context::Binder;
use super::errors;
use super::items::Item;
use super::items::meta;
use super::state::QueryUse;
use super::typing::{Coercibility, Ex, coerce};

impl<'a> Binder<'a> {
    /// Binds a combination of queries; each of them is a level deeper.
    pub(super) fn bind_combined(
        &mut self,
        query: &'a QueryExpr,
        use_: QueryUse,
    ) -> SqlResult<Query> {
        let level = self.push_scope(Self::is_closed(&use_));
        let limits = self.bind_limits(query)?;
        let (mut node, columns, base) =
            self.in_recursive_part(None, |b| b.bind_set(&query.body))?;
        let item = |(i, c): (usize, &ColumnMeta)| Item {
            name: c.name.clone(),
            ex: Ex {
                expr: Scalar::Slot {
                    level,
                    slot: base + i,
                },
                ty: c.ty.clone(),
                nullable: c.nullable,
                coll: c.label,
            },
            identity: false,
        };
        let items: Vec<Item> = columns.iter().enumerate().map(item).collect();
        let keys = self.bind_order_of_columns(&query.order_by, &items)?;
        if !keys.is_empty() {
            node = Node::Sort {
                input: Box::new(node),
                keys,
            };
        }
        if let Some((offset, fetch)) = limits {
            node = Node::Offset {
                input: Box::new(node),
                offset,
                fetch,
            };
        }
        let output = items.into_iter().map(|i| i.ex.expr).collect();
        Ok(self.finish_query(level, node, output, columns))
    }

    /// One operand as a query of its own.
    fn bind_operand(&mut self, body: &'a QueryBody) -> SqlResult<Query> {
        self.in_level(|b| b.bind_operand_here(body))
    }

    fn bind_operand_here(&mut self, body: &'a QueryBody) -> SqlResult<Query> {
        let depth = self.scopes.len();
        let result = match body {
            QueryBody::Select(spec) => {
                // An operand has no ORDER BY; the parser gives that to the whole.
                let bare = &BARE;
                self.bind_spec(spec, bare, QueryUse::Part)
                    .and_then(|built| {
                        if built.assign.is_empty() {
                            Ok(built.query)
                        } else {
                            Err(assignment_with_data(0))
                        }
                    })
            }
            QueryBody::Nested(inner) => self.bind_nested(inner, QueryUse::Part),
            QueryBody::Values(_) => Err(SqlError::unsupported(
                "VALUES as an operand of a set operator",
            )),
            QueryBody::SetOp { .. } => {
                let level = self.push_scope(false);
                self.bind_set(body).map(|(node, columns, base)| {
                    let output = (base..base + columns.len())
                        .map(|slot| Scalar::Slot { level, slot })
                        .collect();
                    self.finish_query(level, node, output, columns)
                })
            }
        };
        self.scopes.truncate(depth);
        result
    }

    /// The operator for a body, its columns and the slot of the first.
    fn bind_set(&mut self, body: &'a QueryBody) -> SqlResult<(Node, Vec<ColumnMeta>, usize)> {
        let QueryBody::SetOp {
            op,
            all,
            left,
            right,
        } = body
        else {
            let query = self.bind_operand(body)?;
            let columns = query.columns.clone();
            let base = self.scope().allocate(columns.len());
            return Ok((
                Node::Derived {
                    query: Box::new(query),
                    base,
                },
                columns,
                base,
            ));
        };
        if *op == SetOp::Union && *all {
            let mut operands = Vec::new();
            union_all(body, &mut operands);
            let queries = operands
                .into_iter()
                .map(|b| self.bind_operand(b))
                .collect::<SqlResult<Vec<_>>>()?;
            let (queries, columns) = unify(queries, *op, *all)?;
            let base = self.scope().allocate(columns.len());
            return Ok((
                Node::Concat {
                    inputs: queries,
                    base,
                },
                columns,
                base,
            ));
        }
        let queries = vec![self.bind_operand(left)?, self.bind_operand(right)?];
        let (queries, columns) = unify(queries, *op, *all)?;
        let base = self.scope().allocate(columns.len());
        let types: Vec<DataType> = columns.iter().map(|c| c.ty.clone()).collect();
        let node = match (op, <[Query; 2]>::try_from(queries)) {
            (SetOp::Union, Ok(inputs)) => Node::Distinct {
                input: Box::new(Node::Concat {
                    inputs: inputs.into(),
                    base,
                }),
                keys: types
                    .into_iter()
                    .enumerate()
                    .map(|(i, t)| (base + i, t))
                    .collect(),
            },
            (op, Ok([left, right])) => Node::Set {
                op: *op,
                left: Box::new(left),
                right: Box::new(right),
                base,
                types,
            },
            (_, Err(_)) => {
                return Err(SqlError::internal("a set operator without two operands"));
            }
        };
        Ok((node, columns, base))
    }
}

/// What surrounds an operand: nothing.
static BARE: QueryExpr = QueryExpr {
    body: QueryBody::Values(Vec::new()),
    order_by: Vec::new(),
    offset: None,
    fetch: None,
    for_json: None,
};

/// The operands of a chain of UNION ALL, in order.
pub(super) fn union_all<'q>(body: &'q QueryBody, operands: &mut Vec<&'q QueryBody>) {
    match body {
        QueryBody::SetOp {
            op: SetOp::Union,
            all: true,
            left,
            right,
        } => {
            union_all(left, operands);
            union_all(right, operands);
        }
        other @ (QueryBody::Select(_)
        | QueryBody::SetOp { .. }
        | QueryBody::Nested(_)
        | QueryBody::Values(_)) => operands.push(other),
    }
}

/// Casts the outputs of all queries to their common types; the first names the columns.
pub(super) fn unify(
    mut queries: Vec<Query>,
    op: SetOp,
    all: bool,
) -> SqlResult<(Vec<Query>, Vec<ColumnMeta>)> {
    let count = queries.first().map_or(0, |q| q.columns.len());
    if queries.iter().any(|q| q.columns.len() != count) {
        return Err(errors::unequal_columns());
    }
    let mut columns = Vec::with_capacity(count);
    for i in 0..count {
        let mut list: Vec<Ex> = queries
            .iter_mut()
            .map(|q| {
                let ty = if let Scalar::Const(crate::value::Value::Null) = &q.output[i] {
                    DataType::Null
                } else {
                    q.columns[i].ty.clone()
                };
                Ex {
                    coll: q.columns[i].label,
                    ..Ex::new(q.output[i].clone(), ty, q.columns[i].nullable)
                }
            })
            .collect();
        let label = settle_column(&mut list, op, all)?;
        let mut ty = DataType::Null;
        for ex in &list {
            ty = common_type(&ty, &ex.ty)?;
        }
        let nullable = match op {
            SetOp::Union => list.iter().any(|ex| ex.nullable),
            SetOp::Except => list.first().is_some_and(|ex| ex.nullable),
            SetOp::Intersect => list.iter().all(|ex| ex.nullable),
        };
        let mut column = meta(&queries[0].columns[i].name, &ty, nullable);
        column.label = label;
        for (query, ex) in queries.iter_mut().zip(list) {
            query.output[i] = coerce(ex, &column.ty)?;
            query.columns[i].ty = column.ty.clone();
        }
        columns.push(column);
    }
    Ok((queries, columns))
}

/// Settles the collation of one column. UNION ALL only puts rows side by side; the others compare them.
fn settle_column(list: &mut [Ex], op: SetOp, all: bool) -> SqlResult<Coercibility> {
    if op == SetOp::Union && all {
        return settle(list, Meeting::Joined("UNION ALL"));
    }
    let explicit = list.iter().any(|ex| ex.label() == Coercibility::Explicit);
    let unresolved = list.iter().find(|ex| ex.label().conflict().is_some());
    if let (Some(ex), false) = (unresolved, explicit) {
        return Err(SqlError::new(
            5335,
            format!(
                "The data type {} cannot be used as an operand to the UNION, INTERSECT or EXCEPT \
                 operators because it is not comparable.",
                ex.ty.name()
            ),
        ));
    }
    settle(list, Meeting::Compared(word(op)))
}

fn word(op: SetOp) -> &'static str {
    match op {
        SetOp::Union => "UNION",
        SetOp::Except => "EXCEPT",
        SetOp::Intersect => "INTERSECT",
    }
}

/// The surroundings of a query without ORDER BY, OFFSET or FOR.
pub(super) fn bare() -> &'static QueryExpr {
    &BARE
}
