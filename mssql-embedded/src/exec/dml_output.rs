//! OUTPUT: what a statement says of the rows it wrote.

use crate::adversary::Question;
use crate::error::SqlResult;
use crate::memory::KeptRows;
use crate::plan::{Output, OutputInto};

use super::new_row::{DmlResult, check_target, next_identity, write_new};
use super::row::new_row;
use super::{Env, eval};

/// The rows of an OUTPUT clause, gathered while the statement's buffer is in place.
pub(super) struct Outputs {
    rows: KeptRows,
}

impl Outputs {
    pub(super) fn new(env: &Env<'_, '_>) -> Self {
        Self {
            rows: KeptRows::new(&env.core.memory),
        }
    }

    /// Adds what the clause says of the row in the buffer.
    pub(super) fn add(&mut self, output: &Output, env: &mut Env<'_, '_>) -> SqlResult<()> {
        let mut row = Vec::with_capacity(output.exprs.len());
        for expr in &output.exprs {
            row.push(eval(expr, env)?);
        }
        self.rows.push(row)
    }

    /// Sends the rows where the clause says.
    pub(super) fn finish(
        mut self,
        output: Option<&Output>,
        result: &mut DmlResult,
        env: &mut Env<'_, '_>,
    ) -> SqlResult<()> {
        let Some(output) = output else { return Ok(()) };
        if let Some(choices) = &env.core.choices {
            choices.shuffle(Question::RowOrder, &mut self.rows);
        }
        match &output.into {
            None => {
                result.output = Some((output.columns.clone(), self.rows));
                Ok(())
            }
            Some(into) => insert_outputs(into, self.rows, result, env),
        }
    }
}

fn insert_outputs(
    into: &OutputInto,
    rows: KeptRows,
    result: &mut DmlResult,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    check_target(&into.target, env)?;
    let table = into.target.table();
    for values in rows {
        env.tick()?;
        let mut next = |env: &mut Env<'_, '_>| next_identity(&into.target, env);
        let row = new_row(table, &into.columns, &values, &into.rules, &mut next, env)?;
        write_new(&into.target, &row.into(), &into.rules, result, env)?;
    }
    Ok(())
}
