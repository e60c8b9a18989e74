//! CREATE and ALTER of procedures and views.

use std::sync::Arc;

use super::cursor::{Parser, Scope};
use super::errors;
use super::stmt::{ListEnd, Place};
use super::token::Tok;
use crate::ast::{CreateProcedure, CreateView, Ddl, Making, ObjectName, PARAMETERS_MAX, ProcParam};
use crate::error::{SqlError, SqlResult};
use crate::refused::Kind;

impl Parser<'_> {
    pub fn create_procedure(&mut self, place: Place, making: Making) -> SqlResult<Ddl> {
        self.first_in_batch(place, "CREATE/ALTER PROCEDURE")?;
        self.advance();
        let name = self.object_name()?;
        if name.parts.last().is_some_and(|p| p.name.starts_with('#')) {
            return Err(self.refused(Kind::Clause, "a temporary procedure"));
        }
        let short = name.parts.last().map_or("", |p| p.name.as_str()).to_owned();
        let read = self.procedure_of(name, making);
        // From here on errors say in which procedure they are.
        read.map_err(|mut error| {
            error.procedure = short;
            error
        })
    }

    fn procedure_of(&mut self, name: ObjectName, making: Making) -> SqlResult<Ddl> {
        if self.is(Tok::Semi) {
            return Err(self.refused(Kind::Clause, "a numbered procedure"));
        }
        let line = self.line();
        let params = self.proc_params()?;
        if params.len() > PARAMETERS_MAX {
            let verb = making.verb();
            return Err(errors::too_many_parameters(verb, PARAMETERS_MAX, line));
        }
        let mut procedure = CreateProcedure {
            name,
            making,
            params,
            body: Arc::default(),
            text: self.text.to_owned(),
        };
        if self.eat_kw("WITH") {
            self.proc_options()?;
        }
        if self.kw("FOR") {
            return Err(self.refused(Kind::Clause, "FOR REPLICATION"));
        }
        self.expect_kw("AS")?;
        if self.kw("EXTERNAL") {
            return Err(self.refused(Kind::Clause, "EXTERNAL NAME"));
        }
        let outer = std::mem::replace(
            &mut self.scope,
            Scope {
                procedure: true,
                ..Scope::default()
            },
        );
        let body = self.statements(ListEnd::Text)?;
        self.scope = outer;
        if body.is_empty() {
            return Err(self.fail());
        }
        procedure.body = Arc::new(body);
        Ok(Ddl::CreateProcedure(procedure))
    }

    /// The parameter list of a procedure, with or without parentheses.
    pub fn proc_params(&mut self) -> SqlResult<Vec<ProcParam>> {
        if self.eat(Tok::LParen) {
            let params = if self.is(Tok::RParen) {
                Vec::new()
            } else {
                self.comma_list(Self::proc_param)?
            };
            self.expect(Tok::RParen)?;
            return Ok(params);
        }
        if self.is(Tok::Variable) {
            return self.comma_list(Self::proc_param);
        }
        Ok(Vec::new())
    }

    fn proc_param(&mut self) -> SqlResult<ProcParam> {
        let name = self.variable()?;
        self.eat_kw("AS");
        let ty = self.type_name()?;
        if self.kw("NOT") {
            return Err(self.refused(Kind::Clause, "NOT NULL on a procedure parameter"));
        }
        self.eat_kw("NULL");
        let default = if self.eat(Tok::Eq) {
            Some(self.simple_value_or_word()?)
        } else {
            None
        };
        let output = self.eat_kw("OUTPUT") || self.eat_kw("OUT");
        let readonly = self.eat_kw("READONLY");
        Ok(ProcParam {
            name,
            ty,
            default,
            output,
            readonly,
        })
    }

    /// What may stand here changes nothing: when a plan is made anew cannot be observed.
    fn proc_options(&mut self) -> SqlResult<()> {
        self.comma_list(|p| {
            if p.eat_kw("RECOMPILE") {
                Ok(())
            } else if p.eat_kw("EXEC") || p.eat_kw("EXECUTE") {
                p.expect_kw("AS")?;
                p.execute_as_caller()
            } else {
                Err(p.unsupported_word(&format!("the procedure option {}", p.upper())))
            }
        })
        .map(drop)
    }

    /// EXECUTE AS CALLER, which is what a procedure does by itself; as somebody else it does not run here.
    fn execute_as_caller(&mut self) -> SqlResult<()> {
        if self.eat_kw("CALLER") {
            return Ok(());
        }
        let line = self.line();
        let other = if self.kw_any(&["OWNER", "SELF"]) {
            self.upper()
        } else {
            self.string()?
        };
        Err(SqlError::unsupported(format!("EXECUTE AS {other}")).at(line))
    }

    pub fn create_view(&mut self, place: Place, making: Making) -> SqlResult<Ddl> {
        self.first_in_batch(place, &format!("{} VIEW", making.verb()))?;
        self.advance();
        let name = self.object_name()?;
        let columns = if self.is(Tok::LParen) {
            self.paren_list(Self::ident)?
        } else {
            Vec::new()
        };
        if self.eat_kw("WITH") {
            return Err(self.unsupported(&format!("CREATE VIEW … WITH {}", self.upper())));
        }
        self.expect_kw("AS")?;
        let with = self.ctes()?;
        let query = crate::ast::SelectStmt {
            with,
            query: self.subquery()?,
            options: Vec::new(),
        };
        if self.kw("WITH") && self.kw_at(1, "CHECK") {
            return Err(self.refused(Kind::Clause, "WITH CHECK OPTION"));
        }
        self.eat(Tok::Semi);
        if !self.at_end() {
            return Err(self.fail());
        }
        Ok(Ddl::CreateView(CreateView {
            name,
            columns,
            query,
            text: self.text.to_owned(),
            making,
        }))
    }
}
