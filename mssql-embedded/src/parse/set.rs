//! SET of variables and of session options.

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{DeadlockPriority, IsolationLevel, SetOption, StmtKind};
use crate::error::SqlResult;
use crate::refused::{Kind, refusal};

/// Options that are on or off. The interpreter refuses the settings it can't honour.
const SWITCHES: &[&str] = &[
    "NOCOUNT",
    "XACT_ABORT",
    "ANSI_NULLS",
    "QUOTED_IDENTIFIER",
    "ARITHABORT",
    "ARITHIGNORE",
    "ANSI_WARNINGS",
    "ANSI_PADDING",
    "CONCAT_NULL_YIELDS_NULL",
    "NUMERIC_ROUNDABORT",
    "ANSI_NULL_DFLT_ON",
    "ANSI_NULL_DFLT_OFF",
    "IMPLICIT_TRANSACTIONS",
    "CURSOR_CLOSE_ON_COMMIT",
    "NOEXEC",
    "PARSEONLY",
    "FMTONLY",
    "ANSI_DEFAULTS",
];

impl Parser<'_> {
    pub fn set(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        if self.is(Tok::Variable) {
            return self.set_variable();
        }
        let word = self.upper();
        let option = match word.as_str() {
            "TRANSACTION" | "TRAN" => self.isolation_level()?,
            "IDENTITY_INSERT" => {
                self.advance();
                let table = self.object_name()?;
                SetOption::IdentityInsert(table, self.on_off()?)
            }
            "LOCK_TIMEOUT" => {
                self.advance();
                SetOption::LockTimeout(self.simple_value()?)
            }
            "DEADLOCK_PRIORITY" => {
                self.advance();
                SetOption::DeadlockPriority(self.deadlock_priority()?)
            }
            "ROWCOUNT" => {
                self.advance();
                SetOption::RowCount(self.simple_value()?)
            }
            "TEXTSIZE" => {
                self.advance();
                SetOption::TextSize(self.simple_value()?)
            }
            "DATEFIRST" => {
                self.advance();
                SetOption::DateFirst(self.simple_value()?)
            }
            "DATEFORMAT" => {
                self.advance();
                SetOption::DateFormat(self.ident_or_string()?)
            }
            "LANGUAGE" => {
                self.advance();
                SetOption::Language(self.ident_or_string()?.name)
            }
            "CONTEXT_INFO" => {
                self.advance();
                SetOption::ContextInfo(self.simple_value()?)
            }
            "STATISTICS" => self.statistics()?,
            _ => self.switches()?,
        };
        Ok(StmtKind::SetOption(option))
    }

    fn set_variable(&mut self) -> SqlResult<StmtKind> {
        let name = self.variable()?;
        if self.is(Tok::Dot) {
            return Err(self.unsupported("a method call on a variable"));
        }
        let op = self.assign_op()?;
        if self.kw("CURSOR") {
            return Err(self.unsupported("CURSOR"));
        }
        let value = self.expr()?;
        Ok(StmtKind::SetVariable { name, op, value })
    }

    fn switches(&mut self) -> SqlResult<SetOption> {
        let names = self.comma_list(|p| {
            let token = p.peek();
            let word = p.upper();
            if SWITCHES.contains(&word.as_str()) {
                p.advance();
                return Ok(word);
            }
            if let Some(refused) = refusal(Kind::SetOption, &word) {
                return Err(refused.at(token.pos.line));
            }
            if token.kind == Tok::Word {
                let name = p.slice(token);
                return Err(errors::unknown_set_option(name, token.pos.line));
            }
            Err(p.fail())
        })?;
        Ok(SetOption::Switch(names, self.on_off()?))
    }

    fn statistics(&mut self) -> SqlResult<SetOption> {
        self.advance();
        let names = self.comma_list(|p| {
            let word = p.upper();
            match word.as_str() {
                "IO" | "TIME" => {
                    p.advance();
                    Ok(word)
                }
                _ => {
                    let refused = refusal(Kind::SetOption, &format!("STATISTICS {word}"));
                    Err(refused.map_or_else(|| p.fail(), |r| r.at(p.line())))
                }
            }
        })?;
        // The figures would be sent as messages, and the engine has no such figures.
        if self.on_off()? {
            let name = names.first().map_or("", String::as_str);
            return Err(self.unsupported(&format!("SET STATISTICS {name} ON")));
        }
        Ok(SetOption::Statistics)
    }

    fn isolation_level(&mut self) -> SqlResult<SetOption> {
        self.advance();
        self.expect_kw("ISOLATION")?;
        self.expect_kw("LEVEL")?;
        let level = if self.eat_kw("READ") {
            if self.eat_kw("UNCOMMITTED") {
                IsolationLevel::ReadUncommitted
            } else {
                self.expect_kw("COMMITTED")?;
                IsolationLevel::ReadCommitted
            }
        } else if self.eat_kw("REPEATABLE") {
            self.expect_kw("READ")?;
            IsolationLevel::RepeatableRead
        } else if self.eat_kw("SNAPSHOT") {
            IsolationLevel::Snapshot
        } else {
            self.expect_kw("SERIALIZABLE")?;
            IsolationLevel::Serializable
        };
        Ok(SetOption::IsolationLevel(level))
    }

    fn deadlock_priority(&mut self) -> SqlResult<DeadlockPriority> {
        if self.is(Tok::Variable) {
            return Ok(DeadlockPriority::Variable(self.variable()?));
        }
        for (word, level) in [("LOW", -5), ("NORMAL", 0), ("HIGH", 5)] {
            if self.eat_kw(word) {
                return Ok(DeadlockPriority::Level(level));
            }
        }
        let token = self.peek();
        let level = self.signed_integer()?;
        match i32::try_from(level) {
            Ok(level) if (-10..=10).contains(&level) => Ok(DeadlockPriority::Level(level)),
            _ => Err(self.fail_at(token)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_refused_option_is_also_read() {
        for name in crate::refused::names(Kind::SetOption) {
            assert!(!SWITCHES.contains(&name), "{name}");
        }
    }
}
