//! The scan of the table that an UPDATE or DELETE changes.

use super::{Cond, Node, Purpose, Scalar, Scan};
use crate::catalog::ObjectId;

impl Node {
    /// The scan of the changed table, as far as only joins by loop and TOP stand above it: then no other
    /// operator has a say in which of its rows qualify.
    pub fn target_scan(&self) -> Option<&Scan> {
        match self {
            Self::Scan(scan) => (scan.purpose == Purpose::Modify).then_some(&**scan),
            Self::Top { input, .. } | Self::Compute { input, .. } => input.target_scan(),
            Self::Loop { left, right, .. } => left.target_scan().or_else(|| right.target_scan()),
            Self::Once
            | Self::Values { .. }
            | Self::LocalScan(_)
            | Self::SystemView { .. }
            | Self::OpenJson { .. }
            | Self::StringSplit { .. }
            | Self::Derived { .. }
            | Self::Recursive { .. }
            | Self::Working { .. }
            | Self::Filter { .. }
            | Self::Hash(_)
            | Self::Full { .. }
            | Self::Group(_)
            | Self::Window { .. }
            | Self::Distinct { .. }
            | Self::Sort { .. }
            | Self::Offset { .. }
            | Self::Concat { .. }
            | Self::Set { .. }
            | Self::ForJson { .. } => None,
        }
    }

    /// Whether ROWLOCK was asked for on the table that the statement changes, wherever in the plan it
    /// is read.
    pub fn target_rows_only(&self) -> bool {
        match self {
            Self::Scan(scan) => scan.purpose == Purpose::Modify && scan.hints.rowlock,
            Self::Top { input, .. }
            | Self::Compute { input, .. }
            | Self::Filter { input, .. }
            | Self::Distinct { input, .. }
            | Self::Sort { input, .. }
            | Self::Offset { input, .. }
            | Self::Window { input, .. } => input.target_rows_only(),
            Self::Loop { left, right, .. } | Self::Full { left, right, .. } => {
                left.target_rows_only() || right.target_rows_only()
            }
            Self::Hash(join) => join.left.target_rows_only() || join.right.target_rows_only(),
            Self::Once
            | Self::Values { .. }
            | Self::LocalScan(_)
            | Self::SystemView { .. }
            | Self::OpenJson { .. }
            | Self::StringSplit { .. }
            | Self::Derived { .. }
            | Self::Recursive { .. }
            | Self::Working { .. }
            | Self::Group(_)
            | Self::Concat { .. }
            | Self::Set { .. }
            | Self::ForJson { .. } => false,
        }
    }

    /// Whether nothing but the search for the rows to change reads the changed table. When in doubt, no.
    pub fn reads_only_as_target(&self, table: ObjectId) -> bool {
        match self {
            Self::Scan(scan) => scan.purpose == Purpose::Modify || scan.table.id != table,
            Self::Once | Self::LocalScan(_) | Self::SystemView { .. } | Self::Working { .. } => {
                true
            }
            Self::Values { rows, .. } => !rows.iter().flatten().any(Scalar::has_query),
            Self::OpenJson { json, path, .. } => {
                !json.has_query() && !path.as_ref().is_some_and(Scalar::has_query)
            }
            Self::StringSplit {
                text, separator, ..
            } => !text.has_query() && !separator.has_query(),
            Self::Top { input, .. } => input.reads_only_as_target(table),
            Self::Filter { input, cond } => !cond.has_query() && input.reads_only_as_target(table),
            Self::Compute { input, exprs } => {
                !exprs.iter().any(|(_, expr)| expr.has_query()) && input.reads_only_as_target(table)
            }
            Self::Loop {
                left, right, on, ..
            } => {
                !on.as_ref().is_some_and(Cond::has_query)
                    && left.reads_only_as_target(table)
                    && right.reads_only_as_target(table)
            }
            Self::Derived { .. }
            | Self::Recursive { .. }
            | Self::Hash(_)
            | Self::Full { .. }
            | Self::Group(_)
            | Self::Window { .. }
            | Self::Distinct { .. }
            | Self::Sort { .. }
            | Self::Offset { .. }
            | Self::Concat { .. }
            | Self::Set { .. }
            | Self::ForJson { .. } => false,
        }
    }

    /// Lets the scan of the changed table look at rows before it locks them, where it may.
    pub fn let_target_qualify_first(&mut self) {
        match self {
            Self::Scan(scan) => scan.qualify_first = scan.purpose == Purpose::Modify,
            Self::Top { input, .. } | Self::Compute { input, .. } => {
                input.let_target_qualify_first();
            }
            Self::Loop { left, right, .. } => {
                left.let_target_qualify_first();
                right.let_target_qualify_first();
            }
            Self::Once
            | Self::Values { .. }
            | Self::LocalScan(_)
            | Self::SystemView { .. }
            | Self::OpenJson { .. }
            | Self::StringSplit { .. }
            | Self::Derived { .. }
            | Self::Recursive { .. }
            | Self::Working { .. }
            | Self::Filter { .. }
            | Self::Hash(_)
            | Self::Full { .. }
            | Self::Group(_)
            | Self::Window { .. }
            | Self::Distinct { .. }
            | Self::Sort { .. }
            | Self::Offset { .. }
            | Self::Concat { .. }
            | Self::Set { .. }
            | Self::ForJson { .. } => {}
        }
    }
}
