//! The filters of indexes, tested on a row alone: no statement need be running.

use crate::error::{SqlError, SqlResult};
use crate::func::{Callable, Signature};
use crate::plan::{Query, RowRules, Scalar};
use crate::storage::Row;
use crate::value::Value;

use super::eval::{Scope, eval, test};

/// Whether a row belongs into an index.
pub fn qualifies(rules: &RowRules, index: usize, row: &Row) -> SqlResult<bool> {
    match rules.filters.get(index) {
        Some(Some(cond)) => Ok(test(cond, &mut Columns(row))? == Some(true)),
        _ => Ok(true),
    }
}

/// The value of an expression without variables, such as the default of a parameter.
pub fn constant(expr: &Scalar) -> SqlResult<Value> {
    eval(expr, &mut Columns(&[]))
}

/// The columns of one row, and nothing else.
struct Columns<'r>(&'r [Value]);

fn refused<T>(what: &str) -> SqlResult<T> {
    Err(SqlError::unsupported(format!(
        "{what} in the filter of an index or the default of a parameter"
    )))
}

impl Scope for Columns<'_> {
    fn variable(&self, _: usize) -> SqlResult<Value> {
        refused("a variable")
    }

    fn column(&self, _: usize, slot: usize) -> SqlResult<Value> {
        match self.0.get(slot) {
            Some(value) => Ok(value.clone()),
            None => refused("a column"),
        }
    }

    fn made(&mut self, value: Value) -> SqlResult<Value> {
        Ok(value)
    }

    fn call(&mut self, function: Callable, _: &Signature, _: &[Value]) -> SqlResult<Value> {
        refused(function.name())
    }

    fn subquery(&mut self, _: &Query) -> SqlResult<Value> {
        refused("a subquery")
    }

    fn exists(&mut self, _: &Query) -> SqlResult<bool> {
        refused("EXISTS")
    }

    fn each_member(&mut self, _: &Query, _: &mut dyn FnMut(&Value) -> bool) -> SqlResult<()> {
        refused("a subquery")
    }

    /// What a filter or default makes is no larger than a row or a literal.
    fn room(&self, _: usize) -> SqlResult<()> {
        Ok(())
    }

    /// A filter or default is too simple to last.
    fn ask(&mut self) -> SqlResult<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Cond;
    use crate::value::DataType;

    /// `column IN (members)` over a row of one column.
    fn is_in(column: Value, members: &[Value]) -> Option<bool> {
        let cond = Cond::InList {
            expr: Scalar::Slot { level: 0, slot: 0 },
            list: members.iter().cloned().map(Scalar::Const).collect(),
            ty: DataType::Int,
        };
        let negated = Cond::Not(Box::new(cond.clone()));
        let row = [column];
        let plain = test(&cond, &mut Columns(&row)).unwrap();
        let inverse = test(&negated, &mut Columns(&row)).unwrap();
        assert_eq!(inverse, plain.map(|b| !b));
        plain
    }

    /// A NULL among the members leaves open whether a value that is not found is one of them.
    #[test]
    fn a_null_member_makes_in_unknown() {
        let (one, two, null) = (Value::Int(1), Value::Int(2), Value::Null);
        assert_eq!(is_in(one.clone(), &[one.clone(), null.clone()]), Some(true));
        assert_eq!(is_in(two.clone(), &[one.clone(), null.clone()]), None);
        assert_eq!(is_in(two, std::slice::from_ref(&one)), Some(false));
        assert_eq!(is_in(null, &[one]), None);
    }
}
