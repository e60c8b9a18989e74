//! The variables of a batch or procedure, collected before it runs.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ast::Pos;
use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::value::DataType;

/// A scalar variable or parameter.
#[derive(Clone, Debug)]
pub struct ScalarVariable {
    /// Its slot in the frame.
    pub slot: usize,
    pub ty: DataType,
    /// Byte offset of its DECLARE; it cannot be used before. Parameters have none.
    pub declared: Option<u32>,
}

/// A variable of a table type, which lives outside transactions.
#[derive(Clone, Debug)]
pub struct TableVariable {
    /// Its slot among the frame's table variables.
    pub slot: usize,
    pub table: Arc<TableDef>,
}

/// The variables of one batch or procedure. A variable lives from its DECLARE to the end of the
/// batch, whatever blocks or loops the DECLARE stands in.
#[derive(Clone, Debug, Default)]
pub struct VariableMap {
    scalars: Vec<ScalarVariable>,
    tables: Vec<TableVariable>,
    names: HashMap<String, Kind>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Scalar(usize),
    Table(usize),
}

impl VariableMap {
    /// Adds a scalar variable; a parameter has no place of declaration.
    ///
    /// # Errors
    ///
    /// 134 for a name declared twice.
    pub fn add_scalar(&mut self, name: &str, ty: DataType, pos: Option<Pos>) -> SqlResult<()> {
        let slot = self.scalars.len();
        self.claim(name, Kind::Scalar(slot))?;
        let declared = pos.map(|p| p.offset);
        self.scalars.push(ScalarVariable { slot, ty, declared });
        Ok(())
    }

    /// Adds a table variable.
    ///
    /// # Errors
    ///
    /// 134 for a name declared twice.
    pub fn add_table(&mut self, name: &str, table: Arc<TableDef>) -> SqlResult<()> {
        let slot = self.tables.len();
        self.claim(name, Kind::Table(slot))?;
        self.tables.push(TableVariable { slot, table });
        Ok(())
    }

    fn claim(&mut self, name: &str, kind: Kind) -> SqlResult<()> {
        if self.names.insert(name.to_lowercase(), kind).is_some() {
            return Err(SqlError::with(
                134,
                15,
                2,
                format!(
                    "The variable name '{name}' has already been declared. Variable names must be \
                     unique within a query batch or stored procedure."
                ),
            ));
        }
        Ok(())
    }

    /// The scalar variables, by slot.
    pub fn scalars(&self) -> &[ScalarVariable] {
        &self.scalars
    }

    /// The table variables, by slot.
    pub fn tables(&self) -> &[TableVariable] {
        &self.tables
    }

    /// A scalar variable used at a place of the text.
    ///
    /// # Errors
    ///
    /// 137 when it is not declared, or only later.
    pub fn scalar(&self, name: &str, pos: Pos) -> SqlResult<&ScalarVariable> {
        let found = self.scalar_anywhere(name);
        found
            .filter(|variable| variable.declared.is_none_or(|at| pos.offset >= at))
            .ok_or_else(|| undeclared(name, pos))
    }

    fn scalar_anywhere(&self, name: &str) -> Option<&ScalarVariable> {
        match self.names.get(&name.to_lowercase())? {
            Kind::Scalar(slot) => Some(&self.scalars[*slot]),
            Kind::Table(_) => None,
        }
    }

    /// A scalar variable that is assigned to.
    ///
    /// # Errors
    ///
    /// 137 when it is not declared, with the state that SQL Server gives in this place.
    pub fn target(&self, name: &str, pos: Pos) -> SqlResult<&ScalarVariable> {
        self.scalar(name, pos).map_err(as_target)
    }

    /// A scalar variable that is assigned to, wherever it is declared.
    ///
    /// # Errors
    ///
    /// As [`Self::target`].
    pub fn target_named(&self, name: &str) -> SqlResult<&ScalarVariable> {
        self.scalar_named(name).map_err(as_target)
    }

    /// A scalar variable by name, wherever it is declared.
    ///
    /// # Errors
    ///
    /// 137 when it is not declared.
    pub fn scalar_named(&self, name: &str) -> SqlResult<&ScalarVariable> {
        self.scalar_anywhere(name)
            .ok_or_else(|| undeclared(name, Pos::default()))
    }

    /// A table variable.
    ///
    /// # Errors
    ///
    /// 1087 when it is not declared.
    pub fn table(&self, name: &str) -> SqlResult<&TableVariable> {
        match self.names.get(&name.to_lowercase()) {
            Some(Kind::Table(slot)) => Ok(&self.tables[*slot]),
            _ => Err(undeclared_table(name)),
        }
    }
}

/// 137 has another state where the variable is assigned to.
fn as_target(mut error: SqlError) -> SqlError {
    error.state = 1;
    error
}

/// 137: a variable that nobody has declared.
pub fn undeclared(name: &str, pos: Pos) -> SqlError {
    SqlError::with(
        137,
        15,
        2,
        format!("Must declare the scalar variable \"{name}\"."),
    )
    .at(pos.line)
}

/// 1087: a table variable that nobody has declared.
fn undeclared_table(name: &str) -> SqlError {
    SqlError::with(
        1087,
        15,
        2,
        format!("Must declare the table variable \"{name}\"."),
    )
}
