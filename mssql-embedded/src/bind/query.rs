//! Queries of any shape: SELECT, set operators, VALUES, FOR JSON.

use crate::ast::{
    Expr, ForJson, JoinStrategy, ObjectName, QueryBody, QueryExpr, QueryHint, SelectStmt,
    TableSource,
};
use crate::error::{SqlError, SqlResult};
use crate::parse::errors::{assignment_with_data, order_by_in_subquery};
use crate::plan::{AssignQuery, BoundKind, JsonFormat, Node, Query, Replan, Scalar, SelectInto};
use crate::value::json::{root_without_wrapper, unnamed_column};
use crate::value::{Collation, ColumnMeta, DataType};

use super::collate::{Meeting, require_settled};
use super::context::Binder;
use super::expr::common;
use super::items::meta;
use super::names::{Relation, relation};
use super::planner::prune;
use super::select::Built;
use super::state::QueryUse;
use super::typing::{Coercibility, Ex};

/// The name of the one column of FOR JSON.
const JSON_COLUMN: &str = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B";

/// Whether `x IN (query)` can be an equality inside the query.
pub(super) fn can_take_equality(query: &QueryExpr) -> bool {
    query.offset.is_none()
        && query.for_json.is_none()
        && matches!(&query.body, QueryBody::Select(spec) if spec.top.is_none())
}

impl<'a> Binder<'a> {
    pub(super) fn bind_select_statement(&mut self, select: &'a SelectStmt) -> SqlResult<BoundKind> {
        self.apply_hints(&select.options);
        self.push_ctes(&select.with)?;
        self.into = into_of(&select.query.body);
        let built = self.bind_built(&select.query, QueryUse::Statement)?;
        require_settled(&built.query.columns, "SELECT")?;
        if let Some(name) = self.into {
            if !built.assign.is_empty() {
                return Err(assignment_with_data(0));
            }
            return Ok(BoundKind::SelectInto(SelectInto {
                name: name.clone(),
                identity: self.inherited_identity(&select.query, &built.query),
                query: built.query,
            }));
        }
        Ok(if built.assign.is_empty() {
            BoundKind::Select(built.query)
        } else {
            BoundKind::Assign(AssignQuery {
                query: built.query,
                assign: built.assign,
            })
        })
    }

    /// The identity column that SELECT … INTO keeps: one that is selected once, from a single table.
    fn inherited_identity(&self, query: &QueryExpr, bound: &Query) -> Option<(usize, (i64, i64))> {
        let QueryBody::Select(spec) = &query.body else {
            return None;
        };
        let [TableSource::Named { name, .. }] = spec.from.as_slice() else {
            return None;
        };
        if !spec.group_by.is_empty() || spec.distinct {
            return None;
        }
        let mut marked = bound.columns.iter().enumerate().filter(|(_, c)| c.identity);
        let (position, _) = marked.next()?;
        if marked.next().is_some() {
            return None;
        }
        let table = match relation(&self.ctx, name).ok()? {
            Relation::Object(found) => found.object.as_table()?,
            Relation::System(..) => return None,
        };
        let identity = table.columns.iter().find_map(|c| c.identity)?;
        Some((position, identity))
    }

    /// Notes the query hints that change plans.
    pub(super) fn apply_hints(&mut self, hints: &[QueryHint]) {
        for hint in hints {
            match hint {
                QueryHint::MaxRecursion(n) => self.max_recursion = *n,
                QueryHint::ForceOrder => self.force_order = true,
                QueryHint::Join(strategy) => {
                    // Several hints leave the choice among them.
                    self.join_strategy = match self.join_strategy {
                        JoinStrategy::Any if self.joins_hinted => JoinStrategy::Any,
                        JoinStrategy::Any => *strategy,
                        other if other == *strategy => other,
                        JoinStrategy::Loop | JoinStrategy::Hash => JoinStrategy::Any,
                    };
                    self.joins_hinted = true;
                }
                QueryHint::KeepFixedPlan => self.replan = Replan::OnChange,
                QueryHint::Recompile => self.replan = Replan::Always,
                QueryHint::NoPerformanceSpool => self.no_spool = true,
                // Neither plans nor the way they are found can be observed.
                QueryHint::MaxDop(_) | QueryHint::OptimizeFor | QueryHint::NoEffect => {}
            }
        }
    }

    /// Binds a query one level deeper than the current one.
    pub(super) fn bind_nested(&mut self, query: &'a QueryExpr, use_: QueryUse) -> SqlResult<Query> {
        self.bind_built(query, use_).map(|b| b.query)
    }

    pub(super) fn bind_built(&mut self, query: &'a QueryExpr, use_: QueryUse) -> SqlResult<Built> {
        let depth = self.scopes.len();
        let built = self.in_query(|b| b.bind_body(query, use_));
        self.scopes.truncate(depth);
        built
    }

    fn bind_body(&mut self, query: &'a QueryExpr, use_: QueryUse) -> SqlResult<Built> {
        if let Some(json) = &query.for_json {
            return self.bind_for_json(query, json, use_).map(Built::plain);
        }
        self.check_order_allowed(query, &use_)?;
        let plain = query.order_by.is_empty() && query.offset.is_none();
        match &query.body {
            QueryBody::Select(spec) => self.bind_spec(spec, query, use_),
            QueryBody::Nested(inner) if plain => self.bind_built(inner, use_),
            QueryBody::Nested(_) | QueryBody::SetOp { .. } => {
                self.bind_combined(query, use_).map(Built::plain)
            }
            QueryBody::Values(rows) => self.bind_values(rows, use_).map(Built::plain),
        }
    }

    /// 1033: an ORDER BY in a subquery means something only with TOP, OFFSET or FOR JSON.
    fn check_order_allowed(&self, query: &QueryExpr, use_: &QueryUse) -> SqlResult<()> {
        let has_top = matches!(&query.body, QueryBody::Select(spec) if spec.top.is_some());
        if query.order_by.is_empty()
            || has_top
            || query.offset.is_some()
            || matches!(use_, QueryUse::Statement | QueryUse::Part)
        {
            return Ok(());
        }
        Err(order_by_in_subquery(0))
    }

    /// Whether a use hides the names outside.
    pub(super) fn is_closed(use_: &QueryUse) -> bool {
        matches!(use_, QueryUse::Closed)
    }

    fn bind_for_json(
        &mut self,
        query: &'a QueryExpr,
        json: &'a ForJson,
        use_: QueryUse,
    ) -> SqlResult<Query> {
        if json.root.is_some() && json.without_array_wrapper {
            return Err(root_without_wrapper());
        }
        let level = self.push_scope(Self::is_closed(&use_));
        let depth = self.scopes.len();
        let built = match &query.body {
            QueryBody::Select(spec) => self.bind_spec(spec, query, QueryUse::Part)?,
            QueryBody::SetOp { .. } | QueryBody::Nested(_) | QueryBody::Values(_) => {
                Built::plain(self.bind_combined(query, QueryUse::Part)?)
            }
        };
        self.scopes.truncate(depth);
        if !built.assign.is_empty() {
            return Err(assignment_with_data(0));
        }
        let inner = built.query;
        if let Some(i) = inner.columns.iter().position(|c| c.name.is_empty()) {
            return Err(unnamed_column(i + 1));
        }
        let raw = inner.output.iter().map(is_json).collect();
        let format = JsonFormat {
            root: json.root.clone(),
            include_null_values: json.include_null_values,
            without_array_wrapper: json.without_array_wrapper,
            raw,
        };
        let base = self.scope().allocate(1);
        let root = Node::ForJson {
            query: Box::new(inner),
            format,
            base,
        };
        let column = ColumnMeta {
            name: JSON_COLUMN.to_owned(),
            ty: DataType::nvarchar_max(Collation::SqlLatin1CiAs)
                .with_collation(self.ctx.database.collation),
            nullable: true,
            identity: false,
            label: Coercibility::Default,
        };
        Ok(self.finish_query(
            level,
            root,
            vec![Scalar::Slot { level, slot: base }],
            vec![column],
        ))
    }

    /// VALUES as a table.
    fn bind_values(&mut self, rows: &'a [Vec<Expr>], use_: QueryUse) -> SqlResult<Query> {
        let level = self.push_scope(Self::is_closed(&use_));
        let mut bound = Vec::with_capacity(rows.len());
        for row in rows {
            let row = row
                .iter()
                .map(|e| self.bind_expr(e))
                .collect::<SqlResult<Vec<_>>>()?;
            bound.push(row);
        }
        let (root, columns) = self.values_node(bound)?;
        let output = slots(level, &root, columns.len());
        Ok(self.finish_query(level, root, output, columns))
    }

    /// Rows of expressions as an operator of the innermost level; each column gets its common type.
    pub(super) fn values_node(&mut self, rows: Vec<Vec<Ex>>) -> SqlResult<(Node, Vec<ColumnMeta>)> {
        let count = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|r| r.len() != count) {
            return Err(SqlError::internal("rows of different length"));
        }
        let mut by_column: Vec<Vec<Ex>> = (0..count).map(|_| Vec::new()).collect();
        let height = rows.len();
        for row in rows {
            for (i, ex) in row.into_iter().enumerate() {
                by_column[i].push(ex);
            }
        }
        let mut rows: Vec<Vec<Scalar>> = (0..height).map(|_| Vec::with_capacity(count)).collect();
        let mut columns = Vec::with_capacity(count);
        for column in by_column {
            let common = common(column, Meeting::Joined("UNION ALL"))?;
            for (row, value) in rows.iter_mut().zip(common.values) {
                row.push(value);
            }
            let mut column = meta("", &common.ty, common.nullable);
            column.label = common.coll;
            columns.push(column);
        }
        let base = self.scope().allocate(count);
        Ok((Node::Values { rows, base }, columns))
    }

    /// Closes the level and makes the query.
    pub(super) fn finish_query(
        &mut self,
        level: usize,
        root: Node,
        output: Vec<Scalar>,
        columns: Vec<ColumnMeta>,
    ) -> Query {
        let width = self.scopes[level].width;
        let mut query = Query {
            level,
            correlated: false,
            width,
            root,
            output,
            columns,
        };
        prune(&mut query, &[]);
        query
    }
}

/// The INTO of a query's first SELECT.
fn into_of(body: &QueryBody) -> Option<&ObjectName> {
    match body {
        QueryBody::Select(spec) => spec.into.as_ref(),
        QueryBody::SetOp { left, .. } => into_of(left),
        QueryBody::Nested(query) => into_of(&query.body),
        QueryBody::Values(_) => None,
    }
}

/// Reads the first `count` slots that an operator fills.
pub(super) fn slots(level: usize, node: &Node, count: usize) -> Vec<Scalar> {
    let base = match node {
        Node::Values { base, .. } | Node::Concat { base, .. } | Node::Set { base, .. } => *base,
        Node::Once
        | Node::Scan(_)
        | Node::LocalScan(_)
        | Node::SystemView { .. }
        | Node::OpenJson { .. }
        | Node::StringSplit { .. }
        | Node::Derived { .. }
        | Node::Recursive { .. }
        | Node::Working { .. }
        | Node::Filter { .. }
        | Node::Loop { .. }
        | Node::Hash(_)
        | Node::Full { .. }
        | Node::Compute { .. }
        | Node::Group(_)
        | Node::Window { .. }
        | Node::Distinct { .. }
        | Node::Sort { .. }
        | Node::Top { .. }
        | Node::Offset { .. }
        | Node::ForJson { .. } => 0,
    };
    (base..base + count)
        .map(|slot| Scalar::Slot { level, slot })
        .collect()
}

/// Whether an output already is JSON text: JSON_QUERY, JSON_MODIFY, or a nested FOR JSON. Without its
/// array wrapper the latter need not be JSON, and is text like any other ("FOR JSON … escapes it").
pub(super) fn is_json(output: &Scalar) -> bool {
    match output {
        Scalar::Call { function, .. } => matches!(
            function.name(),
            "JSON_QUERY" | "JSON_MODIFY" | "JSON_MODIFY(JSON)"
        ),
        Scalar::Subquery(query) => {
            matches!(&query.root, Node::ForJson { format, .. } if !format.without_array_wrapper)
        }
        Scalar::Const(_)
        | Scalar::Variable(_)
        | Scalar::Slot { .. }
        | Scalar::Arith { .. }
        | Scalar::Negate(..)
        | Scalar::BitNot(..)
        | Scalar::Cast { .. }
        | Scalar::Case { .. }
        | Scalar::Coalesce(_) => false,
    }
}
