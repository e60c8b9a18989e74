//! GROUP BY with ROLLUP, CUBE and GROUPING SETS, which are all written out as lists of sets.
//!
//! A few words can stand for more sets than there is memory ("The maximum number of expressions is 32", "The maximum
//! number of groups is 4,096", GROUP BY), so they are counted before any of them is written out.

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::Expr;
use crate::error::{SqlError, SqlResult};
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
        // What stands beside each other, and how many sets that will be.
        let mut elements = Vec::new();
        let mut count = 1_usize;
        let mut plain = true;
        loop {
            elements.push(match self.grouping_sets(&mut exprs)? {
                Some(element) => {
                    plain = false;
                    count = counted(count.checked_mul(element.len()), line)?;
                    element
                }
                None => vec![vec![self.grouping_expr(&mut exprs)?]],
            });
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        if plain && self.kw("WITH") && (self.kw_at(1, "ROLLUP") || self.kw_at(1, "CUBE")) {
            self.advance();
            let all: Sets = (0..exprs.len()).map(|i| vec![i]).collect();
            let sets = if self.kw("ROLLUP") {
                rollup(&all, line)?
            } else {
                cube(&all, line)?
            };
            self.advance();
            return Ok((exprs, sets));
        }
        if plain {
            return Ok((exprs, Vec::new()));
        }
        let nothing: Sets = vec![Vec::new()];
        let mut sets = nothing.clone();
        for element in elements.iter().filter(|element| **element != nothing) {
            check_widths(widest(&sets) + widest(element), line)?;
            sets = crossed(&sets, element);
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
            return Ok(Some(if all {
                cube(&members, line)?
            } else {
                rollup(&members, line)?
            }));
        }
        if self.kw("GROUPING") && self.kw_at(1, "SETS") {
            let line = self.line();
            self.advance();
            self.advance();
            let mut sets = Vec::new();
            self.paren_list(|p| {
                let more = match p.nested(|p| p.grouping_sets(exprs))? {
                    Some(more) => more,
                    None => vec![p.composite(exprs)?],
                };
                counted(sets.len().checked_add(more.len()), line)?;
                sets.extend(more);
                Ok(())
            })?;
            return Ok(Some(sets));
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

/// How many sets there will be, if that is not too many.
fn counted(sets: Option<usize>, line: u32) -> SqlResult<usize> {
    match sets {
        Some(sets) if sets <= MAX_SETS => Ok(sets),
        Some(_) | None => Err(errors::too_many_sets(line)),
    }
}

/// Refuses sets of more expressions than all of them together may name.
fn check_widths(widest: usize, line: u32) -> SqlResult<()> {
    if widest > SqlError::GROUPING_KEYS_MAX {
        return Err(SqlError::too_many_grouping_keys().at(line));
    }
    Ok(())
}

/// How many expressions the longest of the sets has.
fn widest(sets: &Sets) -> usize {
    sets.iter().map(Vec::len).max().unwrap_or(0)
}

/// Every set of the one joined with every set of the other.
fn crossed(left: &Sets, right: &Sets) -> Sets {
    let joined = |l: &Vec<usize>, r: &Vec<usize>| l.iter().chain(r).copied().collect();
    left.iter()
        .flat_map(|l| right.iter().map(move |r| joined(l, r)))
        .collect()
}

/// All members, all but the last, and so on to none.
fn rollup(members: &Sets, line: u32) -> SqlResult<Sets> {
    check_widths(members.iter().map(Vec::len).sum(), line)?;
    let first = |n: usize| members[..n].concat();
    Ok((0..=members.len()).rev().map(first).collect())
}

/// Every selection of members.
fn cube(members: &Sets, line: u32) -> SqlResult<Sets> {
    let count = members.len();
    let bits = u32::try_from(count).ok();
    let sets = counted(bits.and_then(|bits| 1_usize.checked_shl(bits)), line)?;
    check_widths(members.iter().map(Vec::len).sum(), line)?;
    let chosen = |mask: usize| {
        let taken = (0..count).filter(|i| mask & (1 << i) == 0);
        taken.flat_map(|i| members[i].iter().copied()).collect()
    };
    Ok((0..sets).map(chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_out() {
        let members = vec![vec![0], vec![1, 2]];
        assert_eq!(
            rollup(&members, 1).unwrap(),
            [vec![0, 1, 2], vec![0], vec![]]
        );
        assert_eq!(cube(&members, 1).unwrap().len(), 4);
        assert_eq!(
            crossed(&vec![vec![0]], &vec![vec![1], vec![]]),
            [vec![0, 1], vec![0]]
        );
    }

    /// What GROUP BY says, parsed.
    fn parsed(list: &str) -> Result<usize, i32> {
        let text = format!("SELECT 1 FROM t GROUP BY {list}");
        let mut progress = crate::parse::unheard;
        let tokens = crate::parse::lexer::tokenize(&text, true, &mut progress).unwrap();
        let mut parser = Parser::new(&text, tokens, &mut progress);
        while !parser.eat_kw("GROUP") {
            parser.advance();
        }
        let sets = parser.group_by().map(|(_, sets)| sets.len());
        sets.map_err(|error| error.number)
    }

    /// Sets are counted, and so are their expressions, before they take memory.
    #[test]
    fn too_many_sets_are_never_written_out() {
        let list = |n: usize| vec!["a"; n].join(", ");
        let of = |word: &str, n: usize| format!("{word} ({})", list(n));
        assert_eq!(parsed(&of("CUBE", 12)), Ok(4096));
        assert_eq!(parsed(&of("ROLLUP", 32)), Ok(33));
        assert_eq!(parsed(&format!("{} WITH CUBE", list(12))), Ok(4096));
        assert_eq!(
            parsed(&format!("{}, {}", list(20), of("CUBE", 12))),
            Ok(4096)
        );
        assert_eq!(parsed(&list(10_000)), Ok(0));
        let sets = format!("GROUPING SETS ({})", vec!["()"; 4096].join(", "));
        assert_eq!(parsed(&sets), Ok(4096));
        for n in [13, 40, 63, 64, 65, 1000] {
            assert_eq!(parsed(&format!("{} WITH CUBE", list(n))), Err(10703), "{n}");
            assert_eq!(parsed(&of("CUBE", n)), Err(10703), "{n}");
        }
        for (text, number) in [
            (format!("{}, {}", of("CUBE", 12), of("CUBE", 12)), 10703),
            (vec![of("CUBE", 2); 1000].join(", "), 10703),
            (format!("{}, {}", of("CUBE", 12), of("ROLLUP", 1)), 10703),
            (format!("GROUPING SETS ({}, ())", of("CUBE", 12)), 10703),
            (
                format!("GROUPING SETS ({})", vec!["()"; 4097].join(", ")),
                10703,
            ),
            (
                format!("GROUPING SETS ({})", vec![of("CUBE", 12); 1000].join(", ")),
                10703,
            ),
            (of("ROLLUP", 100_000), 10706),
            (format!("{} WITH ROLLUP", list(33)), 10706),
            (format!("{}, {}", list(21), of("CUBE", 12)), 10706),
            (format!("CUBE ((a, a), ({}))", list(31)), 10706),
            ("GROUPING SETS (".repeat(100_000), 191),
        ] {
            assert_eq!(
                parsed(&text),
                Err(number),
                "{}",
                &text[..text.len().min(60)]
            );
        }
    }
}
