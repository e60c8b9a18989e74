//! The dictionary: what T-SQL can ask about databases, sessions and the server.
//!
//! A system view is one [`View`] with its name, its columns and its rows; a metadata function such as OBJECT_ID is one
//! [`Metadata`] with its name, its signature and its value. Both read a [`Source`]. To add one, write it in the file of its
//! family and list it in `views/mod.rs` or `functions/mod.rs`.

mod elsewhere;
mod functions;
mod kind;
mod metadata;
mod object_type;
mod sid;
mod source;
mod view;
mod views;

pub use elsewhere::Elsewhere;
pub use metadata::{Call, Metadata};
pub use source::Source;
pub use view::{Column, View};

use crate::error::{SqlError, SqlResult};

pub const SERVER_NAME: &str = "mssql-embedded";

/// The system view of a lower-case two-part name such as `sys.tables`.
pub fn view(name: &str) -> Option<&'static View> {
    views::ALL.iter().find(|v| v.name == name).copied()
}

/// Refuses a view of the server's state to whoever may not see it.
///
/// # Errors
///
/// 300 and 297.
pub fn check_access(view: &View, source: &dyn Source) -> SqlResult<()> {
    if source.sysadmin() || !views::OF_THE_SERVER.contains(&view.name) {
        return Ok(());
    }
    let message = "The user does not have permission to perform this action.";
    let cause = "VIEW SERVER STATE permission was denied on object 'server', database 'master'.";
    Err(SqlError::new(297, message).because(SqlError::with(300, 14, 1, cause)))
}

pub fn functions() -> impl Iterator<Item = &'static Metadata> {
    functions::all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refused::{Kind, refusal};
    use std::collections::HashSet;

    /// A view is found by its name, and its columns by theirs.
    #[test]
    fn names_of_views_and_columns_are_unique() {
        let mut names = HashSet::new();
        for v in views::ALL {
            assert!(names.insert(v.name), "{} twice", v.name);
            assert_eq!(v.name, v.name.to_lowercase());
            assert!(v.name.contains('.'), "{} has no schema", v.name);
            let refused = refusal(Kind::View, v.name);
            assert!(refused.is_none(), "{} is refused, too", v.name);
            let mut columns = HashSet::new();
            for column in v.columns {
                assert!(columns.insert(column.name), "{}.{}", v.name, column.name);
            }
        }
    }
}
