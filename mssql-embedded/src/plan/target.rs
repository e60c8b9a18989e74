//! The scan of the table that an UPDATE or DELETE changes.

use super::{Cond, Node, Purpose, Scalar, Scan};
use crate::catalog::ObjectId;

impl Node {
    /// Whether each row that comes in goes out, as far as it is wanted: this operator has no say in which rows
    /// qualify.
    fn hands_on(&self) -> bool {
        matches!(
            self,
            Self::Top { .. } | Self::Compute { .. } | Self::Loop { .. }
        )
    }

    /// The scan of the changed table, wherever in the plan it is.
    fn target(&self) -> Option<&Scan> {
        if let Self::Scan(scan) = self {
            return (scan.purpose == Purpose::Modify).then_some(scan);
        }
        self.inputs().into_iter().find_map(Self::target)
    }

    /// The scan of the changed table, as far as only joins by loop and TOP stand above it: then no other
    /// operator has a say in which of its rows qualify.
    pub fn target_scan(&self) -> Option<&Scan> {
        if self.hands_on() {
            return self.inputs().into_iter().find_map(Self::target_scan);
        }
        matches!(self, Self::Scan(_)).then(|| self.target())?
    }

    /// Whether ROWLOCK was asked for on the table that the statement changes, wherever in the plan it
    /// is read.
    pub fn target_rows_only(&self) -> bool {
        self.target().is_some_and(|scan| scan.hints.rowlock)
    }

    /// Lets the scan of the changed table look at rows before it locks them, where it may.
    pub fn let_target_qualify_first(&mut self) {
        if let Self::Scan(scan) = self {
            scan.qualify_first = scan.purpose == Purpose::Modify;
        } else if self.hands_on() {
            for input in self.inputs_mut() {
                input.let_target_qualify_first();
            }
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
}
