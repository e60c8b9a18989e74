//! SET of variables and of session options.

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{
    DeadlockPriority, Effect, IsolationLevel, SessionStmt, SetOption, StmtKind, Switch, ValueStmt,
};
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refusal};

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
                let at = usize::from(matches!(self.peek().kind, Tok::Minus | Tok::Plus));
                let number = self.peek_at(at);
                if number.kind != Tok::Int || self.slice(number).parse::<i32>().is_err() {
                    return Err(errors::option_without_number("LOCK_TIMEOUT", self.line()));
                }
                SetOption::LockTimeout(self.simple_value()?)
            }
            "DEADLOCK_PRIORITY" => {
                self.advance();
                SetOption::DeadlockPriority(self.deadlock_priority()?)
            }
            "ROWCOUNT" => {
                self.advance();
                if matches!(self.peek().kind, Tok::Minus | Tok::Plus) {
                    return Err(self.fail());
                }
                SetOption::RowCount(self.simple_value()?)
            }
            "TEXTSIZE" => {
                self.advance();
                if self.is(Tok::Variable) {
                    return Err(self.fail());
                }
                SetOption::TextSize(self.simple_value()?)
            }
            "DATEFIRST" => {
                self.advance();
                SetOption::DateFirst(self.simple_value()?)
            }
            "DATEFORMAT" => {
                self.advance();
                self.only(&word, &["mdy"])?;
                SetOption::DateFormat
            }
            "LANGUAGE" => {
                self.advance();
                self.only(&word, &["us_english", "English"])?;
                SetOption::Language
            }
            "CONTEXT_INFO" => {
                self.advance();
                SetOption::ContextInfo(self.simple_value()?)
            }
            "STATISTICS" => self.statistics()?,
            _ => self.switches()?,
        };
        Ok(SessionStmt::Set(option).into())
    }

    fn set_variable(&mut self) -> SqlResult<StmtKind> {
        let name = self.variable()?;
        if self.is(Tok::Dot) {
            return Err(self.refused(Kind::Clause, "a method call on a variable"));
        }
        let op = self.assign_op()?;
        if self.kw("CURSOR") {
            return Err(self.refused(Kind::Clause, "CURSOR"));
        }
        let value = self.expr()?;
        Ok(ValueStmt::SetVariable { name, op, value }.into())
    }

    fn switches(&mut self) -> SqlResult<SetOption> {
        let line = self.line();
        let switches = self.comma_list(|p| {
            let token = p.peek();
            let word = p.upper();
            if let Some(switch) = Switch::by_name(&word) {
                p.advance();
                return Ok(switch);
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
        let on = self.on_off()?;
        let mut toggles = Vec::new();
        for switch in switches {
            match switch.effect(on) {
                Effect::Kept(toggle) => toggles.push(toggle),
                Effect::Always => {}
                Effect::Refused => {
                    let (name, state) = (switch.name(), if on { "ON" } else { "OFF" });
                    let refused = SqlError::unsupported(format!("SET {name} {state}"));
                    return Err(refused.at(line));
                }
            }
        }
        Ok(SetOption::Switch(toggles, on))
    }

    /// What follows SET LANGUAGE or SET DATEFORMAT, which must be one of these words.
    fn only(&mut self, option: &str, words: &[&str]) -> SqlResult<()> {
        let line = self.line();
        let name = self.ident_or_string()?.name;
        let name = name.trim();
        if words.iter().any(|word| word.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        Err(SqlError::unsupported(format!("SET {option} {name}")).at(line))
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
            assert!(Switch::by_name(name).is_none(), "{name}");
        }
    }
}
