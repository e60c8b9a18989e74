//! GROUP BY with ROLLUP, CUBE and GROUPING SETS, which are all written out as lists of sets.

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::Expr;
use crate::error::SqlResult;
use crate::refused::Kind;

/// How many grouping sets a query may have.
const MAX_SETS: usize = 4096;

/// Grouping sets as positions in the list of expressions.
type Sets = Vec<Vec<usize>>;

/// The list after GROUP BY: its expressions, and its sets unless it is a plain list.
pub(super) type Grouping = (Vec<Expr>, Sets);

impl Parser<'_> {
    /// `BY …`, the word GROUP already read.
    pub(super) fn group_by(&mut self) -> SqlResult<Grouping> {
        self.expect_kw("BY")?;
        if self.kw("ALL") {
            return Err(self.refused(Kind::Clause, "GROUP BY ALL"));
        }
        let line = self.line();
        let mut exprs = Vec::new();
        let mut sets = vec![Vec::new()];
        let mut plain = true;
        loop {
            let element = match self.grouping_sets(&mut exprs)? {
                Some(element) => {
                    plain = false;
                    element
                }
                None => vec![vec![self.grouping_expr(&mut exprs)?]],
            };
            sets = crossed(&sets, &element);
            if sets.len() > MAX_SETS {
                return Err(errors::too_many_sets(line));
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        if plain && self.kw("WITH") && (self.kw_at(1, "ROLLUP") || self.kw_at(1, "CUBE")) {
            self.advance();
            let all: Sets = (0..exprs.len()).map(|i| vec![i]).collect();
            sets = if self.kw("ROLLUP") {
                rollup(&all)
            } else {
                cube(&all)
            };
            self.advance();
            plain = false;
        }
        if plain {
            sets.clear();
        }
        Ok((exprs, sets))
    }

    fn grouping_expr(&mut self, exprs: &mut Vec<Expr>) -> SqlResult<usize> {
        exprs.push(self.expr()?);
        Ok(exprs.len() - 1)
    }

    /// ROLLUP, CUBE, GROUPING SETS or `()`, if one of them is next.
    fn grouping_sets(&mut self, exprs: &mut Vec<Expr>) -> SqlResult<Option<Sets>> {
        if self.is(Tok::LParen) && self.peek_at(1).kind == Tok::RParen {
            self.advance();
            self.advance();
            return Ok(Some(vec![Vec::new()]));
        }
        let opens = self.peek_at(1).kind == Tok::LParen;
        if opens && self.kw_any(&["ROLLUP", "CUBE"]) {
            let all = self.kw("CUBE");
            let line = self.line();
            self.advance();
            let members = self.paren_list(|p| p.composite(exprs))?;
            if all && members.len() > 12 {
                return Err(errors::too_many_sets(line));
            }
            return Ok(Some(if all {
                cube(&members)
            } else {
                rollup(&members)
            }));
        }
        if self.kw("GROUPING") && self.kw_at(1, "SETS") {
            self.advance();
            self.advance();
            let members = self.paren_list(|p| match p.grouping_sets(exprs)? {
                Some(sets) => Ok(sets),
                None => Ok(vec![p.composite(exprs)?]),
            })?;
            return Ok(Some(members.into_iter().flatten().collect()));
        }
        Ok(None)
    }

    /// An expression, or several in parentheses that count as one.
    fn composite(&mut self, exprs: &mut Vec<Expr>) -> SqlResult<Vec<usize>> {
        if self.is(Tok::LParen) {
            return self.paren_list(|p| p.grouping_expr(exprs));
        }
        Ok(vec![self.grouping_expr(exprs)?])
    }
}

/// Every set of the one joined with every set of the other.
fn crossed(left: &Sets, right: &Sets) -> Sets {
    let joined = |l: &Vec<usize>, r: &Vec<usize>| l.iter().chain(r).copied().collect();
    left.iter()
        .flat_map(|l| right.iter().map(move |r| joined(l, r)))
        .collect()
}

/// All members, all but the last, and so on to none.
fn rollup(members: &Sets) -> Sets {
    let first = |n: usize| members[..n].concat();
    (0..=members.len()).rev().map(first).collect()
}

/// Every selection of members.
fn cube(members: &Sets) -> Sets {
    let count = members.len();
    let chosen = |mask: usize| {
        let taken = (0..count).filter(|i| mask & (1 << i) == 0);
        taken.flat_map(|i| members[i].iter().copied()).collect()
    };
    (0..1_usize << count).map(chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_out() {
        let members = vec![vec![0], vec![1, 2]];
        assert_eq!(rollup(&members), [vec![0, 1, 2], vec![0], vec![]]);
        assert_eq!(cube(&members).len(), 4);
        assert_eq!(
            crossed(&vec![vec![0]], &vec![vec![1], vec![]]),
            [vec![0, 1], vec![0]]
        );
    }
}
