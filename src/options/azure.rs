//! Which identity of Azure a connection string names.

use super::OptionsError;
use super::key::Key;

/// The identity of Azure that a connection string names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Azure {
    Managed,
    Workload,
    Environment,
}

/// Reads `authentication`. `None` is a SQL login.
pub(super) fn authentication(value: &str) -> Result<Option<Azure>, OptionsError> {
    let letters = value.chars().filter(|c| !c.is_whitespace());
    let folded: String = letters.flat_map(char::to_lowercase).collect();
    match folded.as_str() {
        "sqlpassword" => Ok(None),
        "activedirectorymanagedidentity" | "activedirectorymsi" => Ok(Some(Azure::Managed)),
        "activedirectoryworkloadidentity" => Ok(Some(Azure::Workload)),
        "activedirectorydefault" => Ok(Some(Azure::Environment)),
        _ => Err(unsupported(
            Key::Authentication,
            "for other kinds of Entra ID login leave it out and give the builder a token source",
        )),
    }
}

/// The refusal of an option of the login, with what to do instead.
pub(super) fn unsupported(key: Key, hint: &'static str) -> OptionsError {
    let key = key.name();
    OptionsError::Unsupported { key, hint }
}
