//! Which definitions a user sees ("Metadata visibility configuration"): of what they own, or have some permission on.

use super::permission::{has, may_administer};
use super::{Database, Object, is_temporary};
use crate::ast::Permission;

/// The permissions that let a user see any object.
const ON_ANY: &[Permission] = &[
    Permission::ViewDefinition,
    Permission::Alter,
    Permission::TakeOwnership,
    Permission::AlterAnySchema,
];
/// Those that let them see a table or view, besides.
const ON_ROWS: &[Permission] = &[
    Permission::Select,
    Permission::Insert,
    Permission::Update,
    Permission::Delete,
    Permission::References,
];
/// Those that let them see a procedure, besides.
const ON_PROCEDURES: &[Permission] = &[Permission::Execute];

/// Somebody who looks at the definitions of a database.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'d> {
    database: &'d Database,
    user: i32,
    /// An owner of the database, or one of its security administrators, who have VIEW DEFINITION.
    sees_all: bool,
}

impl<'d> Viewer<'d> {
    pub fn new(database: &'d Database, user: i32, sysadmin: bool) -> Self {
        let sees_all = may_administer(database, user, sysadmin);
        Self {
            database,
            user,
            sees_all,
        }
    }

    /// Whether the user sees every definition.
    pub fn sees_all(&self) -> bool {
        self.sees_all
    }

    /// Whether the user sees that there is such an object. A constraint is seen with its table, a temporary table by
    /// whoever can name it.
    pub fn sees(&self, object: &Object) -> bool {
        if self.sees_all || is_temporary(object.name()) {
            return true;
        }
        let more = match object {
            Object::Table(_) | Object::View(_) => ON_ROWS,
            Object::Procedure(_) => ON_PROCEDURES,
            Object::Constraint { table, .. } => {
                let table = self.database.objects.get(table);
                return table.is_some_and(|table| self.sees(table));
            }
        };
        self.has_any(object, ON_ANY) || self.has_any(object, more)
    }

    /// Whether the user sees its text, too: to use an object is not enough for that.
    pub fn reads(&self, object: &Object) -> bool {
        self.sees_all || is_temporary(object.name()) || self.has_any(object, ON_ANY)
    }

    fn has_any(&self, object: &Object, permissions: &[Permission]) -> bool {
        let mut permissions = permissions.iter();
        permissions.any(|&permission| has(self.database, self.user, object, permission))
    }
}
