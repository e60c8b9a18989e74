//! EXECUTE AS and REVERT.

use crate::access::Latch;
use crate::ast::UserName;
use crate::context::{ActingAs, Core, Frame};
use crate::error::{SqlError, SqlResult};
use crate::value::Value;

use super::{Failure, Flow, Interp};

impl Interp<'_> {
    /// `EXECUTE AS USER = 'x'`: the session acts as that user until REVERT, or until the procedure
    /// or text that said so ends.
    pub fn execute_as(&mut self, name: &UserName, frame: &mut Frame) -> Result<Flow, Failure> {
        let name = name_of(name, frame)?;
        let user = {
            let engine = std::sync::Arc::clone(&self.core.engine);
            let latch = engine.latch();
            user_of(&name, self.core, frame, &latch)?
        };
        self.core.impersonated.push(ActingAs {
            sysadmin: self.core.sysadmin,
            user: frame.user,
        });
        self.core.sysadmin = false;
        self.core.user = user;
        frame.user = user;
        Ok(Flow::Next)
    }

    /// `REVERT`: back to who the session was before; nothing happens when it is already itself.
    pub fn revert(&mut self, frame: &mut Frame) -> Flow {
        if let Some(identity) = self.core.impersonated.pop() {
            frame.user = identity.user;
            self.core.resume(identity);
        }
        Flow::Next
    }
}

fn name_of(name: &UserName, frame: &Frame) -> SqlResult<String> {
    match name {
        UserName::Text(name) => Ok(name.clone()),
        UserName::Variable(variable) => {
            if let Value::Str(s) = &frame.values[frame.variables.scalar_named(variable)?.slot] {
                Ok(String::from_utf16_lossy(s))
            } else {
                Err(cannot(""))
            }
        }
    }
}

/// The user to become. Only the owner of the database may become another.
fn user_of(name: &str, core: &Core, frame: &Frame, latch: &Latch<'_>) -> SqlResult<i32> {
    let database = latch.catalog.databases.get(&core.database);
    let found = database.and_then(|d| d.find_principal(name));
    let allowed = core.sysadmin || frame.user == 1;
    match found {
        Some(principal) if !principal.role && allowed => Ok(principal.id),
        _ => Err(cannot(name)),
    }
}

fn cannot(name: &str) -> SqlError {
    SqlError::new(
        15517,
        format!(
            "Cannot execute as the database principal because the principal \"{name}\" does not \
             exist, this type of principal cannot be impersonated, or you do not have permission."
        ),
    )
}
