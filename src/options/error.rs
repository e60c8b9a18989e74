//! Why a setting is refused.
//!
//! Nothing here shows text of the connection string: whoever forgot to quote or to escape a
//! password has parts of it where an option, a port or a host should be.

use crate::schema_name::SchemaNameError;

/// A setting is wrong. Nothing was sent to a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The connection string names no server.
    #[error(
        "connection string names no server; write server=tcp:host,1433;… or sqlserver://host:1433/…"
    )]
    MissingServer,
    /// The URL is for another kind of database.
    #[error("connection string begins with {0}://, expected sqlserver://")]
    Scheme(&'static str),
    /// The URL has a scheme that nobody knows.
    #[error("connection string begins with an unknown scheme, expected sqlserver://")]
    UnknownScheme,
    /// The string has the form that Java programs use.
    #[error(
        "connection string has JDBC's form; write server=tcp:host,1433;database=…;user id=…;\
         password=… or sqlserver://user:password@host:1433/database"
    )]
    Jdbc,
    /// A part of the connection string is not `key=value`.
    #[error("connection string has a part that is not key=value; quote values that contain ';'")]
    NotKeyValue,
    /// A quoted value does not end.
    #[error(
        "connection string option {option} begins with a quote or a brace and does not end with \
         it; double it inside the value"
    )]
    Quote {
        /// The option's name when it is known, its position otherwise.
        option: String,
    },
    /// A percent escape in the URL is malformed.
    #[error("the {0} in the connection URL has a malformed %-escape; write % itself as %25")]
    Percent(&'static str),
    /// The URL goes on after what looked like its host, as it does when a password is not escaped.
    #[error(
        "connection URL has an '@' after the host; in user name, password and database write %40 \
         for @, %2F for /, %3F for ? and %25 for %"
    )]
    Unescaped,
    /// No such option.
    #[error(
        "connection string option {position} is unknown{}; check its spelling, and whether a \
         password before it needs quotes or escapes",
        .similar.map(|name| format!(", did you mean {name}")).unwrap_or_default()
    )]
    UnknownOption {
        /// Which option it is, counted from one; in a URL from the question mark on.
        position: usize,
        /// The known option with a similar name.
        similar: Option<&'static str>,
    },
    /// An option is there more than once.
    #[error("connection string option {0:?} is given twice; remove one")]
    Repeated(&'static str),
    /// The value of one option has swallowed the password.
    #[error(
        "connection string option {0:?} has a password inside its value; separate options with ';'"
    )]
    PasswordInside(&'static str),
    /// The option exists in other drivers; what it asks for is not done here.
    #[error("connection string option {key:?} is not supported: {hint}")]
    Unsupported {
        /// The refused option.
        key: &'static str,
        /// What to write instead.
        hint: &'static str,
    },
    /// The value does not fit the option.
    #[error("connection string option {key:?} must be {expected}")]
    InvalidValue {
        /// The option.
        key: &'static str,
        /// What would be accepted.
        expected: &'static str,
    },
    /// Neither a user name nor a token source.
    #[error("no user name; add user id=…;password=… or give the builder a token source")]
    MissingLogin,
    /// A user name, and no password.
    #[error("user name without a password; add password=…, or check that its variable is set")]
    MissingPassword,
    /// Both a user name or a password, and a token source.
    #[error("both a SQL login and a token source are given; remove one of them")]
    TwoLogins,
    /// The identity of Azure that the connection string names is not there.
    #[error("{0}")]
    Identity(String),
    /// An authority to trust, and the wish to trust everybody.
    #[error("both trustServerCertificate=true and a certificate authority are given; remove one")]
    TwoTrusts,
    /// An environment variable has an unusable value.
    #[error("environment variable {name} must be {expected}")]
    Environment {
        /// The variable.
        name: &'static str,
        /// What would be accepted.
        expected: &'static str,
    },
    /// An environment variable that is needed is not set.
    #[error("environment variable {0} is not set; set it to a connection string")]
    MissingEnvironment(&'static str),
    /// A number given to the builder is out of its range.
    #[error("{name} is {value}, expected {expected}")]
    OutOfRange {
        /// The builder's method.
        name: &'static str,
        /// The refused value.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// A text does not fit into a login.
    #[error("{name} has {units} UTF-16 units, a login carries 128; shorten it")]
    TooLong {
        /// The builder's method.
        name: &'static str,
        /// Its length.
        units: usize,
    },
    /// The schema name is not usable.
    #[error(transparent)]
    Schema(#[from] SchemaNameError),
}
