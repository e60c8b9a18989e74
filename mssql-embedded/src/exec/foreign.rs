//! Foreign keys, checked when a statement has written all its rows.

use crate::access;
use crate::error::SqlResult;
use crate::memory::row_bytes;
use crate::plan::{Cascade, ForeignRules};
use crate::storage::Row;
use crate::value::Value;

use super::filter::qualifies;
use super::row::{conflict, over_row};
use super::{Env, collect, test};

/// Checks that each row refers to rows that exist.
///
/// # Errors
///
/// 547 for the first that does not.
pub fn check_parents(
    rules: &ForeignRules,
    rows: &[Row],
    verb: &str,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    // The statement has written, and looks at what is there now.
    env.spools.turn_off();
    for rule in &rules.parents {
        for row in rows {
            env.tick()?;
            if rule.columns.iter().any(|c| row[*c].is_null()) {
                continue;
            }
            let found = over_row(row, env, |env| test(&rule.exists, env))?;
            if found != Some(true) {
                let same = rule.conflict.same_table;
                let kind = if same {
                    "FOREIGN KEY SAME TABLE"
                } else {
                    "FOREIGN KEY"
                };
                return Err(conflict(&rule.conflict, verb, kind));
            }
        }
    }
    Ok(())
}

/// Deletes what refers to rows that are gone, where the key says so, and checks that nothing else does.
///
/// # Errors
///
/// 547 when a row would be left without the row it refers to.
pub fn settle_children(
    rules: &ForeignRules,
    gone: &[Row],
    verb: &str,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    env.spools.turn_off();
    for rule in &rules.children {
        for row in gone {
            env.tick()?;
            let referred = over_row(row, env, |env| {
                Ok(test(&rule.exists, env)? == Some(true)
                    && test(&rule.replaced, env)? != Some(true))
            })?;
            if !referred {
                continue;
            }
            match &rule.cascade {
                Some(cascade) => delete_children(cascade, row, env)?,
                None => {
                    let same = rule.conflict.same_table;
                    let kind = if same {
                        "SAME TABLE REFERENCE"
                    } else {
                        "REFERENCE"
                    };
                    return Err(conflict(&rule.conflict, verb, kind));
                }
            }
        }
    }
    Ok(())
}

fn delete_children(cascade: &Cascade, row: &Row, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let found = over_row(row, env, |env| collect(&cascade.rows, env))?;
    let mut filter = |index: usize, row: &Row| qualifies(&cascade.rules, index, row);
    let mut charge = env.core.memory.charge();
    let mut gone = Vec::with_capacity(found.len());
    for mut values in found {
        env.tick()?;
        let Some(Value::Bytes(locator)) = values.pop() else {
            continue;
        };
        access::delete(&mut env.access()?, &cascade.table, &locator, &mut filter)?;
        let old = values.split_off(1);
        charge.add(size_of::<Row>() + row_bytes(&old))?;
        gone.push(Row::from(old));
    }
    settle_children(&cascade.foreign, &gone, "DELETE", env)
}
