//! Common table expressions. Each reference is bound anew, at the level where it stands.

use std::collections::HashSet;

use crate::ast::{Cte, ObjectName, QueryBody, SetOp};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Node, Query};
use crate::value::ColumnMeta;

use super::context::Binder;
use super::errors;
use super::inline::Part;
use super::planner::Rel;
use super::recursion::{in_subquery, several_references};
use super::set_op::{unify, union_all};
use super::source::{check_names, rename};
use super::state::{CteDef, QueryUse, Working};

/// Makes the operator of a source from its first slot.
type MakeNode = Box<dyn FnOnce(usize) -> Node>;

impl<'a> Binder<'a> {
    /// Makes the CTEs of a statement known.
    pub(super) fn push_ctes(&mut self, with: &'a [Cte]) -> SqlResult<()> {
        let mut names = HashSet::new();
        for cte in with {
            if !names.insert(self.ctx.database.fold(&cte.name.name)) {
                return Err(SqlError::new(
                    239,
                    format!(
                        "Duplicate common table expression name '{}' was specified.",
                        cte.name.name
                    ),
                ));
            }
            self.ctes.defs.push(CteDef { cte, working: None });
        }
        self.ctes.visible = self.ctes.defs.len();
        Ok(())
    }

    /// The operator and columns of a CTE by its name, if there is one.
    pub(super) fn bind_cte(
        &mut self,
        name: &'a ObjectName,
    ) -> SqlResult<Option<(MakeNode, Vec<ColumnMeta>)>> {
        let [single] = name.parts.as_slice() else {
            return Ok(None);
        };
        let folded = self.ctx.database.fold(&single.name);
        let visible = &self.ctes.defs[..self.ctes.visible];
        let Some(index) = visible
            .iter()
            .rposition(|d| self.ctx.database.fold(&d.cte.name.name) == folded)
        else {
            return self.refuse_itself(&folded).map(|()| None);
        };
        if let Some(working) = self.ctes.defs[index].working.clone() {
            let Working { id, columns, .. } = working;
            if !std::ptr::eq(working.reference, name) {
                return Err(in_subquery());
            }
            return Ok(Some((
                Box::new(move |base| Node::Working { id, base }),
                columns,
            )));
        }
        let cte = self.ctes.defs[index].cte;
        let before = std::mem::replace(&mut self.ctes.visible, index);
        let current = self.ctes.current.replace(index);
        let bound = if self.mentions(&cte.query.body, &folded) {
            self.bind_recursive(index, cte)
        } else {
            self.bind_nested(&cte.query, QueryUse::Closed)
                .and_then(|mut query| {
                    rename(&mut query.columns, &cte.columns, &cte.name.name)?;
                    check_names(&query.columns, &cte.name.name)?;
                    let columns = query.columns.clone();
                    let make: MakeNode = Box::new(move |base| Node::Derived {
                        query: Box::new(query),
                        base,
                    });
                    Ok((make, columns))
                })
        };
        self.ctes.visible = before;
        self.ctes.current = current;
        bound.map(Some)
    }

    /// Refuses the name of the CTE that is being bound: as it does not stand in FROM, it stands in a subquery.
    fn refuse_itself(&self, folded: &str) -> SqlResult<()> {
        let current = self.ctes.current.and_then(|i| self.ctes.defs.get(i));
        match current {
            Some(def) if self.ctx.database.fold(&def.cte.name.name) == folded => Err(in_subquery()),
            Some(_) | None => Ok(()),
        }
    }

    /// Runs `f` on a CTE where only the CTEs before it can be named; there must be one of this name.
    pub(super) fn within_cte<T>(
        &mut self,
        name: &str,
        f: impl FnOnce(&mut Self, &'a Cte) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let folded = self.ctx.database.fold(name);
        let visible = &self.ctes.defs[..self.ctes.visible];
        let index = visible
            .iter()
            .rposition(|d| self.ctx.database.fold(&d.cte.name.name) == folded)
            .ok_or_else(|| SqlError::internal("a common table expression that is none"))?;
        let cte = self.ctes.defs[index].cte;
        let before = std::mem::replace(&mut self.ctes.visible, index);
        let current = self.ctes.current.replace(index);
        let result = f(self, cte);
        self.ctes.visible = before;
        self.ctes.current = current;
        result
    }

    /// Merges a CTE into the innermost level, if it is simple and not recursive.
    pub(super) fn inline_cte(&mut self, name: &str, exposed: &str) -> SqlResult<Option<Rel>> {
        let folded = self.ctx.database.fold(name);
        let recursive = self.ctes.defs[..self.ctes.visible]
            .iter()
            .rfind(|d| self.ctx.database.fold(&d.cte.name.name) == folded)
            .is_some_and(|d| d.working.is_some() || self.mentions(&d.cte.query.body, &folded));
        if recursive {
            return Ok(None);
        }
        self.within_cte(name, |binder, cte| {
            binder.inline(&Part {
                query: &cte.query,
                exposed,
                names: &cte.columns,
                closed: true,
            })
        })
    }

    fn bind_recursive(
        &mut self,
        index: usize,
        cte: &'a Cte,
    ) -> SqlResult<(MakeNode, Vec<ColumnMeta>)> {
        let name = &cte.name.name;
        let folded = self.ctx.database.fold(name);
        let mut operands = Vec::new();
        union_all(&cte.query.body, &mut operands);
        if operands.len() < 2 {
            return Err(SqlError::new(
                252,
                format!(
                    "Recursive common table expression '{name}' does not contain a top-level UNION \
                     ALL operator."
                ),
            ));
        }
        let split = operands
            .iter()
            .position(|b| self.mentions(b, &folded))
            .unwrap_or(operands.len());
        let (anchors, members) = operands.split_at(split);
        if anchors.is_empty() || members.iter().any(|b| !self.mentions(b, &folded)) {
            return Err(SqlError::new(
                246,
                format!("No anchor member was specified for recursive query \"{name}\"."),
            ));
        }
        let anchor = self.in_recursive_part(None, |b| b.bind_anchors(anchors))?;
        let mut columns = anchor.columns.clone();
        rename(&mut columns, &cte.columns, name)?;
        check_names(&columns, name)?;
        // What recursion adds may be NULL even if the anchor is not.
        columns.iter_mut().for_each(|c| c.nullable = true);
        let id = self.next_recursive_id;
        self.next_recursive_id += 1;
        self.ctes.visible = index + 1;
        let mut recursive = Vec::with_capacity(members.len());
        for member in members {
            let [reference] = self.mentions_in(member, &folded)[..] else {
                return Err(several_references(name));
            };
            self.ctes.defs[index].working = Some(Working {
                id,
                columns: columns.clone(),
                reference,
            });
            let bound = self.in_recursive_part(Some(name), |b| b.bind_member(member));
            self.ctes.defs[index].working = None;
            recursive.push(bound?);
        }
        for query in &recursive {
            check_types(name, &anchor, query)?;
        }
        let max_recursion = self.max_recursion;
        let anchor = Box::new(anchor);
        let make: MakeNode = Box::new(move |base| Node::Recursive {
            id,
            anchor,
            recursive,
            base,
            max_recursion,
        });
        Ok((make, columns))
    }

    /// The anchor members as one query.
    fn bind_anchors(&mut self, anchors: &[&'a QueryBody]) -> SqlResult<Query> {
        if let [single] = anchors {
            return self.bind_member(single);
        }
        let depth = self.scopes.len();
        let level = self.push_scope(true);
        let queries = anchors
            .iter()
            .map(|b| self.bind_member(b))
            .collect::<SqlResult<Vec<_>>>()?;
        let (inputs, columns) = unify(queries, SetOp::Union, true)?;
        let base = self.scope().allocate(columns.len());
        let root = Node::Concat { inputs, base };
        let output = super::query::slots(level, &root, columns.len());
        let query = self.finish_query(level, root, output, columns);
        self.scopes.truncate(depth);
        Ok(query)
    }

    fn bind_member(&mut self, body: &'a QueryBody) -> SqlResult<Query> {
        let depth = self.scopes.len();
        let query = match body {
            QueryBody::Select(spec) => self
                .bind_spec(spec, super::set_op::bare(), QueryUse::Closed)
                .map(|b| b.query),
            QueryBody::Nested(inner) => self.bind_nested(inner, QueryUse::Closed),
            QueryBody::SetOp { .. } | QueryBody::Values(_) => Err(SqlError::unsupported(
                "a set operator other than UNION ALL in a recursive query",
            )),
        };
        self.scopes.truncate(depth);
        query
    }

    /// Whether a query names a table or CTE in any FROM.
    fn mentions(&self, body: &QueryBody, name: &str) -> bool {
        !self.mentions_in(body, name).is_empty()
    }
}

/// 240: each recursive member has exactly the anchor's types.
fn check_types(name: &str, anchor: &Query, member: &Query) -> SqlResult<()> {
    if anchor.columns.len() != member.columns.len() {
        return Err(errors::unequal_columns());
    }
    for (a, b) in anchor.columns.iter().zip(&member.columns) {
        if a.ty != b.ty {
            return Err(SqlError::new(
                240,
                format!(
                    "Types don't match between the anchor and the recursive part in column \"{}\" of \
                     recursive query \"{name}\".",
                    a.name
                ),
            ));
        }
    }
    Ok(())
}

impl Binder<'_> {
    /// Whether a CTE of this name can be named here.
    pub(super) fn is_cte(&self, name: &str) -> bool {
        let folded = self.ctx.database.fold(name);
        let visible = &self.ctes.defs[..self.ctes.visible];
        visible
            .iter()
            .any(|d| self.ctx.database.fold(&d.cte.name.name) == folded)
    }
}
