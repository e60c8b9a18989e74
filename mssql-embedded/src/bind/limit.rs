//! TOP, OFFSET and FETCH.

use crate::ast::{QueryExpr, Top};
use crate::error::SqlResult;
use crate::parse::errors::ties_without_order;
use crate::plan::{Node, Scalar, SortKey};
use crate::value::DataType;
use crate::value::errors::rows_not_an_integer;

use super::context::Binder;
use super::typing::{Ex, coerce};

/// TOP with its bound count.
pub(super) struct BoundTop {
    count: Scalar,
    percent: bool,
    with_ties: bool,
}

/// OFFSET and FETCH with their bound counts.
pub(super) type Limits = (Scalar, Option<Scalar>);

impl<'a> Binder<'a> {
    pub(super) fn bind_top(&mut self, top: Option<&'a Top>) -> SqlResult<Option<BoundTop>> {
        let Some(top) = top else { return Ok(None) };
        let count = self.bind_expr(&top.count)?;
        let count = if top.percent {
            coerce(count, &DataType::Float)?
        } else {
            rows(count)?
        };
        Ok(Some(BoundTop {
            count,
            percent: top.percent,
            with_ties: top.with_ties,
        }))
    }

    /// The count of TOP for INSERT, UPDATE and DELETE.
    pub(super) fn dml_top(&mut self, node: Node, top: Option<&'a Top>) -> SqlResult<Node> {
        Ok(match self.bind_top(top)? {
            Some(BoundTop { count, percent, .. }) => Node::Top {
                input: Box::new(node),
                count,
                percent,
                ties: None,
            },
            None => node,
        })
    }

    pub(super) fn bind_limits(&mut self, query: &'a QueryExpr) -> SqlResult<Option<Limits>> {
        let Some(offset) = &query.offset else {
            return Ok(None);
        };
        let offset = self.bind_expr(offset)?;
        let offset = rows(offset)?;
        let fetch = match &query.fetch {
            Some(fetch) => {
                let fetch = self.bind_expr(fetch)?;
                Some(rows(fetch)?)
            }
            None => None,
        };
        Ok(Some((offset, fetch)))
    }

    pub(super) fn limit(
        &mut self,
        node: Node,
        top: Option<BoundTop>,
        limits: Option<Limits>,
        order: &[SortKey],
    ) -> SqlResult<Node> {
        let mut node = node;
        if let Some(BoundTop {
            count,
            percent,
            with_ties,
        }) = top
        {
            if with_ties && order.is_empty() {
                return Err(ties_without_order(0));
            }
            let ties = match with_ties {
                true => Some(self.copy_keys(order)?),
                false => None,
            };
            node = Node::Top {
                input: Box::new(node),
                count,
                percent,
                ties,
            };
        }
        if let Some((offset, fetch)) = limits {
            node = Node::Offset {
                input: Box::new(node),
                offset,
                fetch,
            };
        }
        Ok(node)
    }
}

/// A number of rows, whose type must have no digits after the point.
fn rows(count: Ex) -> SqlResult<Scalar> {
    let whole = match count.ty {
        DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt => true,
        DataType::Decimal { scale, .. } => scale == 0,
        DataType::Real
        | DataType::Float
        | DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..)
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => false,
    };
    if !whole {
        return Err(rows_not_an_integer());
    }
    coerce(count, &DataType::BigInt)
}
