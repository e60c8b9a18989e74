//! The permissions that can be granted.

macro_rules! permissions {
    ($($permission:ident, $name:literal, $code:literal;)+) => {
        /// A permission that the engine checks. Others are refused, since granting them would promise something nobody
        /// keeps.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Permission {
            $(#[doc = $name] $permission,)+
        }

        impl Permission {
            /// The permission of an upper-case name.
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$permission),)+
                    _ => None,
                }
            }

            /// Its name, and its code in sys.database_permissions.
            const fn row(self) -> (&'static str, &'static str) {
                match self {
                    $(Self::$permission => ($name, $code),)+
                }
            }
        }
    };
}

permissions! {
    Execute, "EXECUTE", "EX  ";
    Select, "SELECT", "SL  ";
    Insert, "INSERT", "IN  ";
    Update, "UPDATE", "UP  ";
    Delete, "DELETE", "DL  ";
    Control, "CONTROL", "CL  ";
    Alter, "ALTER", "AL  ";
    ViewDefinition, "VIEW DEFINITION", "VW  ";
    References, "REFERENCES", "RF  ";
    CreateTable, "CREATE TABLE", "CRTB";
    CreateProcedure, "CREATE PROCEDURE", "CRPR";
    CreateSchema, "CREATE SCHEMA", "CRSM";
    CreateView, "CREATE VIEW", "CRVW";
    CreateRole, "CREATE ROLE", "CRRL";
    Connect, "CONNECT", "CO  ";
    AlterAnySchema, "ALTER ANY SCHEMA", "ALSM";
    AlterAnyRole, "ALTER ANY ROLE", "ALRL";
    AlterAnyUser, "ALTER ANY USER", "ALUS";
    TakeOwnership, "TAKE OWNERSHIP", "TO  ";
    ViewDatabaseState, "VIEW DATABASE STATE", "VWDS";
}

impl Permission {
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Its four letters in sys.database_permissions.
    pub const fn code(self) -> &'static str {
        self.row().1
    }
}

impl std::fmt::Display for Permission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
