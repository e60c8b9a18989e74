//! Table hints and query hints. A hint the engine does not act on is refused by name (`crate::refused`).

use std::num::NonZeroU32;

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{JoinStrategy, QueryHint, TableHint};
use crate::error::SqlResult;
use crate::refused::{Kind, refusal};

const RECURSION_MAX: u32 = 32_767;

/// What a statement does with its target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Insert,
    /// UPDATE, DELETE.
    Change,
}

impl Parser<'_> {
    /// The hints of a target: how it is locked, not how it is searched, which the FROM clause may say.
    pub(super) fn target_hints(&mut self, verb: Verb) -> SqlResult<Vec<TableHint>> {
        let line = self.line();
        let hints = self.table_hints()?;
        for hint in &hints {
            match hint {
                TableHint::Index(_) | TableHint::IndexId(_) => {
                    return Err(errors::index_hint_of_target(line));
                }
                TableHint::ForceSeek => return Err(errors::forceseek_of_target(line)),
                TableHint::ForceScan => return Err(errors::forcescan_of_target(line)),
                TableHint::ReadPast if verb == Verb::Insert => {
                    return Err(errors::readpast_of_insert(line));
                }
                TableHint::ReadPast
                | TableHint::NoLock
                | TableHint::UpdLock
                | TableHint::XLock
                | TableHint::RowLock
                | TableHint::TabLock
                | TableHint::TabLockX
                | TableHint::HoldLock
                | TableHint::RepeatableRead
                | TableHint::ReadCommitted
                | TableHint::ReadCommittedLock
                | TableHint::NoWait => {}
            }
        }
        Ok(hints)
    }

    /// `WITH (hints)`, or the older `(hints)`; empty when neither follows.
    pub fn table_hints(&mut self) -> SqlResult<Vec<TableHint>> {
        // The end of a view, not a hint.
        if self.kw("WITH") && self.kw_at(1, "CHECK") {
            return Ok(Vec::new());
        }
        if self.eat_kw("WITH") {
            if !self.is(Tok::LParen) && self.is_ident() {
                let token = self.peek();
                return Err(errors::cte_needs_semicolon(
                    &self.near(token),
                    token.pos.line,
                ));
            }
        } else if !self.old_style_hint() {
            return Ok(Vec::new());
        }
        self.expect(Tok::LParen)?;
        let mut hints = Vec::new();
        while !self.is(Tok::RParen) || hints.is_empty() {
            self.table_hint(&mut hints)?;
            // Commas between hints are optional, but a trailing one is not allowed.
            if self.eat(Tok::Comma) && self.is(Tok::RParen) {
                return Err(self.fail());
            }
        }
        self.expect(Tok::RParen)?;
        Ok(hints)
    }

    /// Whether `(` opens hints without WITH: a lone lock hint, as in `FROM t (NOLOCK)`.
    pub fn old_style_hint(&self) -> bool {
        self.is(Tok::LParen)
            && matches!(self.peek_at(1).kind, Tok::Word | Tok::Reserved)
            && (simple_hint(&self.upper_at(1)).is_some() || self.kw_at(1, "INDEX"))
            && !matches!(self.peek_at(2).kind, Tok::Dot)
    }

    fn table_hint(&mut self, hints: &mut Vec<TableHint>) -> SqlResult<()> {
        let token = self.peek();
        let word = self.upper();
        if word.is_empty() {
            return Err(self.fail());
        }
        if let Some(refused) = refusal(Kind::TableHint, &word) {
            return Err(refused.at(token.pos.line));
        }
        if word == "INDEX" {
            self.advance();
            return self.index_hint(hints);
        }
        let Some(hint) = simple_hint(&word) else {
            let name = self.slice(token);
            return Err(errors::unknown_hint(name, token.pos.line));
        };
        self.advance();
        if hint == TableHint::ForceSeek && self.is(Tok::LParen) {
            return Err(self.unsupported("FORCESEEK with an index"));
        }
        hints.push(hint);
        Ok(())
    }

    /// `INDEX(a, b)`, `INDEX(1)`, `INDEX = a`, `INDEX = (a)`.
    fn index_hint(&mut self, hints: &mut Vec<TableHint>) -> SqlResult<()> {
        let parenthesised = if self.eat(Tok::Eq) {
            self.eat(Tok::LParen)
        } else {
            self.expect(Tok::LParen)?;
            true
        };
        if self.is(Tok::Int) {
            hints.push(TableHint::IndexId(self.integer()?));
        } else if parenthesised {
            hints.push(TableHint::Index(self.comma_list(Self::ident)?));
        } else {
            hints.push(TableHint::Index(vec![self.ident()?]));
        }
        if parenthesised {
            self.expect(Tok::RParen)?;
        }
        Ok(())
    }

    /// `OPTION (…)`, empty when absent.
    pub fn query_options(&mut self) -> SqlResult<Vec<QueryHint>> {
        if !self.eat_kw("OPTION") {
            return Ok(Vec::new());
        }
        self.paren_list(Self::query_hint)
    }

    fn query_hint(&mut self) -> SqlResult<QueryHint> {
        let word = self.upper();
        let second = self.upper_at(1);
        let take = |p: &mut Self, tokens: usize| {
            for _ in 0..tokens {
                p.advance();
            }
        };
        Ok(match (word.as_str(), second.as_str()) {
            ("RECOMPILE", _) => {
                take(self, 1);
                QueryHint::Recompile
            }
            ("MAXDOP", _) => {
                take(self, 1);
                QueryHint::MaxDop(self.integer()?)
            }
            ("MAXRECURSION", _) => {
                take(self, 1);
                let limit: u32 = self.integer()?;
                if limit > RECURSION_MAX {
                    return Err(errors::too_much_recursion(limit, self.line()));
                }
                QueryHint::MaxRecursion(NonZeroU32::new(limit))
            }
            ("FORCE", "ORDER") => {
                take(self, 2);
                QueryHint::ForceOrder
            }
            ("OPTIMIZE", "FOR") => {
                take(self, 2);
                self.optimize_for()?;
                QueryHint::OptimizeFor
            }
            ("LOOP", "JOIN") => {
                take(self, 2);
                QueryHint::Join(JoinStrategy::Loop)
            }
            ("HASH" | "MERGE", "JOIN") => {
                take(self, 2);
                QueryHint::Join(JoinStrategy::Hash)
            }
            ("KEEPFIXED", "PLAN") => {
                take(self, 2);
                QueryHint::KeepFixedPlan
            }
            ("NO_PERFORMANCE_SPOOL", _) => {
                take(self, 1);
                QueryHint::NoPerformanceSpool
            }
            ("HASH" | "ORDER", "GROUP")
            | ("CONCAT" | "HASH" | "MERGE", "UNION")
            | ("KEEP" | "ROBUST", "PLAN") => {
                take(self, 2);
                QueryHint::NoEffect
            }
            ("FAST", _) if self.peek_at(1).kind == Tok::Int => {
                take(self, 2);
                QueryHint::NoEffect
            }
            ("", _) => return Err(self.fail()),
            _ => {
                let two = || refusal(Kind::QueryHint, &format!("{word} {second}"));
                let refused = refusal(Kind::QueryHint, &word).or_else(two);
                return Err(refused.map_or_else(|| self.fail(), |r| r.at(self.line())));
            }
        })
    }

    fn optimize_for(&mut self) -> SqlResult<()> {
        if self.eat_kw("UNKNOWN") {
            return Ok(());
        }
        self.paren_list(|p| {
            p.variable()?;
            if p.eat(Tok::Eq) {
                p.simple_value()?;
                return Ok(());
            }
            p.expect_kw("UNKNOWN").map(drop)
        })
        .map(drop)
    }
}

fn simple_hint(word: &str) -> Option<TableHint> {
    Some(match word {
        "NOLOCK" | "READUNCOMMITTED" => TableHint::NoLock,
        "READPAST" => TableHint::ReadPast,
        "UPDLOCK" => TableHint::UpdLock,
        "XLOCK" => TableHint::XLock,
        "ROWLOCK" => TableHint::RowLock,
        "TABLOCK" => TableHint::TabLock,
        "TABLOCKX" => TableHint::TabLockX,
        "HOLDLOCK" | "SERIALIZABLE" => TableHint::HoldLock,
        "REPEATABLEREAD" => TableHint::RepeatableRead,
        "READCOMMITTED" => TableHint::ReadCommitted,
        "READCOMMITTEDLOCK" => TableHint::ReadCommittedLock,
        "NOWAIT" => TableHint::NoWait,
        "FORCESEEK" => TableHint::ForceSeek,
        "FORCESCAN" => TableHint::ForceScan,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_refused_hint_is_also_read() {
        for name in crate::refused::names(Kind::TableHint) {
            assert!(simple_hint(name).is_none(), "{name}");
        }
    }
}
