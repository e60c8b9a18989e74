//! The inner side of a loop, whose rows a spool may keep.

use std::ops::Range;

use crate::error::SqlResult;
use crate::memory::KeptRows;
use crate::plan::Node;

use super::super::Env;
use super::super::spool::{Asked, Ticket};
use super::{Operator, SharedRows, open};

/// Opens the inner side of a loop, which fills `slots`.
pub fn open_side<'p>(
    node: &'p Node,
    slots: &Range<usize>,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Box<dyn Operator + 'p>> {
    let asked = env.spools.of_node(node, slots, level, env.core, &env.rows);
    let ticket = match asked {
        Asked::Nothing => return open(node, level, env),
        Asked::Rows(rows) => return Ok(Box::new(SharedRows::new(rows, slots.start, level))),
        Asked::Keep(ticket) => ticket,
    };
    let mut side = open(node, level, env)?;
    let mut rows = KeptRows::new(&env.core.memory);
    if !ticket.is_eager {
        return Ok(Box::new(Noting {
            side,
            slots: slots.clone(),
            level,
            keeping: Some((ticket, rows)),
        }));
    }
    while side.next(env)? {
        rows.push(env.rows[level][slots.clone()].to_vec())?;
    }
    let rows = env.spools.keep(ticket, rows);
    Ok(Box::new(SharedRows::new(rows, slots.start, level)))
}

/// Hands on rows and keeps them when they have all been read.
struct Noting<'p> {
    side: Box<dyn Operator + 'p>,
    slots: Range<usize>,
    level: usize,
    /// Until they have all been read.
    keeping: Option<(Ticket, KeptRows)>,
}

impl Operator for Noting<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        if self.side.next(env)? {
            if let Some((_, rows)) = &mut self.keeping {
                rows.push(env.rows[self.level][self.slots.clone()].to_vec())?;
            }
            return Ok(true);
        }
        if let Some((ticket, rows)) = self.keeping.take() {
            env.spools.keep(ticket, rows);
        }
        Ok(false)
    }
}
