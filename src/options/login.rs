//! Who logs in: a SQL login, a token source of the application, or an identity of Azure.

use std::sync::Arc;

use super::OptionsError;
use super::azure::{Azure, unsupported};
use super::connection_string::ConnectionString;
use super::key::Key;
use crate::auth::{Identity, TokenSource};

/// Decides between the three, and refuses two at once.
pub(super) fn identity(
    string: &mut ConnectionString,
    source: Option<Arc<dyn TokenSource>>,
) -> Result<Identity, OptionsError> {
    // An empty one is what a variable that is not set leaves behind.
    let filled = |text: &mut Option<String>| text.take().filter(|text| !text.is_empty());
    let (user, password) = (filled(&mut string.user), filled(&mut string.password));
    match (string.azure, source) {
        (Some(_), Some(_)) => Err(unsupported(
            Key::Authentication,
            "the builder has a token source as well; remove one of them",
        )),
        (Some(_), None) if password.is_some() => Err(unsupported(
            Key::Password,
            "an identity of Azure has none; remove it, or remove authentication",
        )),
        (Some(azure), None) => of_azure(azure, user.as_deref(), &string.host),
        (None, Some(_)) if user.is_some() || password.is_some() => Err(OptionsError::TwoLogins),
        (None, Some(source)) => Ok(Identity::from_source(source)),
        (None, None) => Ok(Identity::SqlLogin {
            user: user.ok_or(OptionsError::MissingLogin)?,
            password: password.ok_or(OptionsError::MissingPassword)?,
        }),
    }
}

/// As in other drivers, the user name is the client id of a user-assigned identity.
#[cfg(feature = "azure-identity")]
fn of_azure(azure: Azure, client_id: Option<&str>, host: &str) -> Result<Identity, OptionsError> {
    use crate::auth::AzureIdentity;
    let identity = match azure {
        Azure::Managed => AzureIdentity::managed(client_id),
        Azure::Workload => AzureIdentity::workload(client_id),
        Azure::Environment => AzureIdentity::from_environment(client_id),
    };
    let identity = identity.map_err(|error| OptionsError::Identity(error.to_string()))?;
    Ok(Identity::from_source(Arc::new(identity.for_server(host))))
}

#[cfg(not(feature = "azure-identity"))]
fn of_azure(_: Azure, _: Option<&str>, _: &str) -> Result<Identity, OptionsError> {
    Err(unsupported(
        Key::Authentication,
        "build duroxide-sql with its cargo feature azure-identity, or leave the option out and give \
         the builder a token source",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{AccessToken, TokenError};

    fn resolve(text: &str, source: Option<Arc<dyn TokenSource>>) -> Result<Identity, String> {
        let mut string = ConnectionString::parse(text).map_err(|error| error.to_string())?;
        identity(&mut string, source).map_err(|error| error.to_string())
    }

    fn source() -> Option<Arc<dyn TokenSource>> {
        let none = || async { Err::<AccessToken, _>(TokenError::new("closed")) };
        Some(Arc::new(none))
    }

    const KINDS: [&str; 4] = [
        "Active Directory Managed Identity",
        "ActiveDirectoryMSI",
        "ActiveDirectoryWorkloadIdentity",
        "\"Active Directory Default\"",
    ];

    #[test]
    fn two_logins_are_refused() {
        for kind in KINDS {
            let text = format!("server=h;authentication={kind}");
            let both = resolve(&text, source()).unwrap_err();
            assert!(both.contains("token source as well"), "{both}");
            let password = resolve(&format!("{text};password=hunter2"), None).unwrap_err();
            assert!(password.contains("an identity of Azure has none"));
        }
        for login in ["uid=a;pwd=b", "uid=a", "pwd=hunter2"] {
            let both = resolve(&format!("server=h;{login}"), source()).unwrap_err();
            assert!(both.contains("token source"), "{both}");
        }
        // What a variable leaves behind that is not set.
        assert!(resolve("server=h;uid=;pwd=", source()).unwrap().is_token());
        assert!(resolve("server=h", source()).unwrap().is_token());
        for kind in ["ActiveDirectoryPassword", "ActiveDirectoryInteractive", "x"] {
            let refused = resolve(&format!("server=h;authentication={kind}"), None).unwrap_err();
            assert!(refused.contains("token source"), "{refused}");
        }
    }

    #[cfg(not(feature = "azure-identity"))]
    #[test]
    fn identities_of_azure_need_the_feature() {
        for kind in KINDS {
            let text = format!("server=h;authentication={kind}");
            let refused = resolve(&text, None).unwrap_err();
            assert!(refused.contains("cargo feature azure-identity"));
        }
    }

    #[cfg(feature = "azure-identity")]
    #[test]
    fn identities_of_azure_are_tokens() {
        for kind in [KINDS[0], KINDS[1], KINDS[3]] {
            let text = format!("server=h;authentication={kind};user id=0f1e");
            assert!(resolve(&text, None).unwrap().is_token());
        }
        // No pod, no identity: the variables are named by whoever reads them.
        let refused = resolve(
            "server=h;authentication=ActiveDirectoryWorkloadIdentity",
            None,
        );
        let refused = refused.unwrap_err();
        assert!(refused.starts_with("no access token: no t"), "{refused}");
    }
}
