//! CREATE and ALTER of procedures and views.

use std::sync::Arc;

use super::cursor::{Parser, Scope};
use super::errors;
use super::stmt::{ListEnd, Place};
use super::token::Tok;
use crate::ast::{CreateProcedure, CreateView, Ddl, ObjectName, PARAMETERS_MAX, ProcParam};
use crate::error::SqlResult;
use crate::refused::Kind;

impl Parser<'_> {
    pub fn create_procedure(
        &mut self,
        place: Place,
        or_alter: bool,
        alter: bool,
    ) -> SqlResult<Ddl> {
        self.first_in_batch(place, "CREATE/ALTER PROCEDURE")?;
        self.advance();
        let name = self.object_name()?;
        if name.parts.last().is_some_and(|p| p.name.starts_with('#')) {
            return Err(self.refused(Kind::Clause, "a temporary procedure"));
        }
        let short = name.parts.last().map_or("", |p| p.name.as_str()).to_owned();
        let read = self.procedure_of(name, or_alter, alter);
        // From here on errors say in which procedure they are.
        read.map_err(|mut error| {
            error.procedure = short;
            error
        })
    }

    fn procedure_of(&mut self, name: ObjectName, or_alter: bool, alter: bool) -> SqlResult<Ddl> {
        if self.is(Tok::Semi) {
            return Err(self.refused(Kind::Clause, "a numbered procedure"));
        }
        let line = self.line();
        let params = self.proc_params()?;
        if params.len() > PARAMETERS_MAX {
            let what = if alter { "ALTER" } else { "CREATE" };
            return Err(errors::too_many_parameters(what, PARAMETERS_MAX, line));
        }
        let mut procedure = CreateProcedure {
            name,
            or_alter,
            alter,
            params,
            execute_as: None,
            recompile: false,
            body: Arc::default(),
            text: self.text.to_owned(),
        };
        if self.eat_kw("WITH") {
            self.proc_options(&mut procedure)?;
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

    fn proc_options(&mut self, procedure: &mut CreateProcedure) -> SqlResult<()> {
        self.comma_list(|p| {
            if p.eat_kw("RECOMPILE") {
                procedure.recompile = true;
            } else if p.kw("EXEC") || p.kw("EXECUTE") {
                p.advance();
                p.expect_kw("AS")?;
                procedure.execute_as = Some(p.execute_as_principal()?);
            } else if p.is_ident() {
                return Err(p.unsupported(&format!("the procedure option {}", p.upper())));
            } else {
                return Err(p.fail());
            }
            Ok(())
        })
        .map(drop)
    }

    fn execute_as_principal(&mut self) -> SqlResult<String> {
        if self.kw_any(&["OWNER", "SELF", "CALLER"]) {
            let word = self.upper();
            self.advance();
            return Ok(word);
        }
        self.string()
    }

    pub fn create_view(&mut self, place: Place, or_alter: bool, alter: bool) -> SqlResult<Ddl> {
        let what = if alter { "ALTER VIEW" } else { "CREATE VIEW" };
        self.first_in_batch(place, what)?;
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
            or_alter,
            alter,
        }))
    }
}
