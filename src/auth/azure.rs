//! Azure's own identities as token sources, through Microsoft's `azure_identity` crate.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

use azure_core::credentials::TokenCredential;
use azure_core::error::ErrorKind;
use azure_identity::{
    DeveloperToolsCredential, ManagedIdentityCredential, ManagedIdentityCredentialOptions,
    UserAssignedId, WorkloadIdentityCredential, WorkloadIdentityCredentialOptions,
};

use super::{AccessToken, TokenError, TokenSource};

/// What a token for Azure SQL is for: by the end of the server's name, the public cloud last.
const SCOPES: [(&str, &str); 3] = [
    (
        ".usgovcloudapi.net",
        "https://database.usgovcloudapi.net/.default",
    ),
    (
        ".chinacloudapi.cn",
        "https://database.chinacloudapi.cn/.default",
    ),
    ("", "https://database.windows.net/.default"),
];
/// Set where a Kubernetes pod has a workload identity.
const WORKLOAD_TOKEN_FILE: &str = "AZURE_FEDERATED_TOKEN_FILE";
/// Set where App Service, Functions or Container Apps give an application its identity.
const APP_SERVICE_ENDPOINT: &str = "IDENTITY_ENDPOINT";
/// No reason is shown at greater length.
const REASON_MAX: usize = 600;

/// A token source for Azure SQL that needs no secret: a managed identity, a workload identity, or whoever
/// is logged in to the developer's tools. Needs the cargo feature `azure-identity`.
///
/// Its credentials keep their tokens, and so does Azure behind a managed identity. When the server refuses one before its end, the next
/// answer may be the same token.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use duroxide_sql::{AzureIdentity, MssqlProvider};
///
/// let identity = AzureIdentity::managed(None)?;
/// let store = MssqlProvider::builder("sqlserver://SERVER.database.windows.net/orders")
///     .token_source(Arc::new(identity))
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
pub struct AzureIdentity {
    /// Asked in this order until one gives a token.
    candidates: Vec<Arc<dyn TokenCredential>>,
    /// The one that did. The others are not asked any more: an application that changed its identity
    /// in the middle of its life would be hard to understand.
    chosen: OnceLock<Arc<dyn TokenCredential>>,
    scope: String,
}

impl fmt::Debug for AzureIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureIdentity")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl AzureIdentity {
    /// The managed identity of this virtual machine, App Service, Function or Container App: the one
    /// with this client id, or the system-assigned one.
    ///
    /// # Errors
    ///
    /// When the environment describes an identity that `azure_identity` does not support.
    pub fn managed(client_id: Option<&str>) -> Result<Self, TokenError> {
        managed(client_id).map(Self::from_credential)
    }

    /// The workload identity of this Kubernetes pod, as `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and
    /// `AZURE_FEDERATED_TOKEN_FILE` describe it; a client id given here wins.
    ///
    /// # Errors
    ///
    /// When a variable is missing or the file cannot be read.
    pub fn workload(client_id: Option<&str>) -> Result<Self, TokenError> {
        workload(client_id).map(Self::from_credential)
    }

    /// Whoever is logged in to the Azure CLI (`az login`) or the Azure Developer CLI
    /// (`azd auth login`). For a developer's machine.
    ///
    /// # Errors
    ///
    /// When `azure_identity` cannot run commands here.
    pub fn developer() -> Result<Self, TokenError> {
        developer().map(Self::from_credential)
    }

    /// What fits the environment: a workload identity where `AZURE_FEDERATED_TOKEN_FILE` is set, else a
    /// managed identity where `IDENTITY_ENDPOINT` is set, else the developer's tools and then the
    /// machine's managed identity. The tools come first because a machine without them says so at
    /// once, and one without a metadata service only after a minute.
    ///
    /// # Errors
    ///
    /// As those of the kind that fits.
    pub fn from_environment(client_id: Option<&str>) -> Result<Self, TokenError> {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if is_set(WORKLOAD_TOKEN_FILE) {
            Self::workload(client_id)
        } else if is_set(APP_SERVICE_ENDPOINT) {
            Self::managed(client_id)
        } else {
            Ok(Self::first_of(vec![developer()?, managed(client_id)?]))
        }
    }

    /// Any other credential of `azure_identity`, such as a service principal's certificate.
    #[must_use]
    pub fn from_credential(credential: Arc<dyn TokenCredential>) -> Self {
        Self::first_of(vec![credential])
    }

    /// Asks for tokens of another cloud than the public one, for instance
    /// `https://database.usgovcloudapi.net/.default`.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Asks for tokens of the cloud that this server belongs to.
    pub(crate) fn for_server(self, host: &str) -> Self {
        self.scope(scope_of(host))
    }

    fn first_of(candidates: Vec<Arc<dyn TokenCredential>>) -> Self {
        Self {
            candidates,
            chosen: OnceLock::new(),
            scope: scope_of("").to_owned(),
        }
    }

    async fn ask(&self, credential: &Arc<dyn TokenCredential>) -> Result<AccessToken, TokenError> {
        let answer = credential.get_token(&[&self.scope], None).await;
        let token = answer.map_err(|error| explain(&error))?;
        Ok(AccessToken {
            secret: token.token.secret().to_owned(),
            expires_at: token.expires_on.into(),
        })
    }
}

#[async_trait::async_trait]
impl TokenSource for AzureIdentity {
    async fn token(&self) -> Result<AccessToken, TokenError> {
        if let Some(chosen) = self.chosen.get() {
            return self.ask(chosen).await;
        }
        let mut failures = Vec::new();
        for candidate in &self.candidates {
            match self.ask(candidate).await {
                Ok(token) => {
                    // Somebody who asked at the same time may have been first, with the same one.
                    let _ = self.chosen.set(candidate.clone());
                    return Ok(token);
                }
                Err(error) => failures.push(error),
            }
        }
        let reasons: Vec<_> = failures.iter().map(|error| error.message.clone()).collect();
        Err(TokenError {
            message: reasons.join("; "),
            is_passing: failures.iter().any(TokenError::is_passing),
        })
    }
}

fn managed(client_id: Option<&str>) -> Result<Arc<dyn TokenCredential>, TokenError> {
    let options = ManagedIdentityCredentialOptions {
        user_assigned_id: client_id.map(|id| UserAssignedId::ClientId(id.to_owned())),
        ..Default::default()
    };
    match ManagedIdentityCredential::new(Some(options)) {
        Ok(credential) => Ok(credential),
        Err(error) => Err(explain(&error)),
    }
}

fn workload(client_id: Option<&str>) -> Result<Arc<dyn TokenCredential>, TokenError> {
    let options = WorkloadIdentityCredentialOptions {
        client_id: client_id.map(ToOwned::to_owned),
        ..Default::default()
    };
    match WorkloadIdentityCredential::new(Some(options)) {
        Ok(credential) => Ok(credential),
        Err(error) => Err(explain(&error)),
    }
}

fn developer() -> Result<Arc<dyn TokenCredential>, TokenError> {
    match DeveloperToolsCredential::new(None) {
        Ok(credential) => Ok(credential),
        Err(error) => Err(explain(&error)),
    }
}

fn scope_of(host: &str) -> &'static str {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let found = SCOPES.iter().find(|(end, _)| host.ends_with(end));
    found.map_or("", |(_, scope)| scope)
}

/// The reason in one line, and whether it passes by itself.
fn explain(error: &azure_core::Error) -> TokenError {
    let mut is_passing = false;
    let mut is_unreadable = false;
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(current) = cause {
        match current
            .downcast_ref::<azure_core::Error>()
            .map(azure_core::Error::kind)
        {
            Some(ErrorKind::Io | ErrorKind::Connection) => is_passing = true,
            Some(ErrorKind::HttpResponse { status, .. }) => {
                is_passing |= passes(u16::from(*status))
            }
            Some(ErrorKind::DataConversion) => is_unreadable = true,
            _ => {}
        }
        cause = current.source();
    }
    let message = if is_unreadable {
        // The parser's own words may quote the answer, and the answer may hold a token.
        "the identity service's answer cannot be read".to_owned()
    } else {
        one_line(&error.to_string())
    };
    TokenError {
        message,
        is_passing,
    }
}

/// The metadata service is busy, restarting or not ready yet
/// (<https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#error-handling>).
fn passes(status: u16) -> bool {
    matches!(status, 404 | 408 | 410 | 429 | 500..)
}

fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    if let Some((end, _)) = line.char_indices().nth(REASON_MAX) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use azure_core::credentials::{AccessToken as Issued, TokenRequestOptions};
    use azure_core::time::{Duration, OffsetDateTime};

    use super::*;

    /// Gives a token after so many failures, and notes what it was asked for.
    #[derive(Debug, Default)]
    struct Fake {
        name: &'static str,
        failures: u32,
        calls: AtomicU32,
    }

    #[async_trait::async_trait]
    impl TokenCredential for Fake {
        async fn get_token(
            &self,
            scopes: &[&str],
            _: Option<TokenRequestOptions<'_>>,
        ) -> azure_core::Result<Issued> {
            if self.calls.fetch_add(1, Ordering::SeqCst) < self.failures {
                let message = format!("{} is\n  closed", self.name);
                return Err(azure_core::Error::with_message(
                    ErrorKind::Credential,
                    message,
                ));
            }
            let secret = format!("{} for {}", self.name, scopes.join(" "));
            let end = OffsetDateTime::UNIX_EPOCH + Duration::hours(1);
            Ok(Issued::new(secret, end))
        }
    }

    fn fake(name: &'static str, failures: u32) -> Arc<Fake> {
        let calls = AtomicU32::default();
        Arc::new(Fake {
            name,
            failures,
            calls,
        })
    }

    #[tokio::test]
    async fn first_identity_that_gives_a_token_is_kept() {
        let (closed, late, never) = (fake("a", 9), fake("b", 1), fake("c", 0));
        let identity = AzureIdentity::first_of(vec![closed.clone(), late.clone()]);
        let error = identity.token().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "no access token: a is closed; b is closed"
        );
        assert!(!error.is_passing());
        for _ in 0..3 {
            let token = identity.token().await.unwrap();
            assert_eq!(token.secret, "b for https://database.windows.net/.default");
            let hour = std::time::Duration::from_secs(3600);
            assert_eq!(token.expires_at, std::time::SystemTime::UNIX_EPOCH + hour);
        }
        assert_eq!(closed.calls.load(Ordering::SeqCst), 2);
        assert!(!format!("{identity:?}").contains("b for"));
        let other = AzureIdentity::from_credential(never).scope("x/.default");
        assert_eq!(other.token().await.unwrap().secret, "c for x/.default");
    }

    #[test]
    fn scope_follows_the_cloud() {
        for (host, scope) in [
            ("db.database.windows.net", SCOPES[2].1),
            ("DB.database.usgovcloudapi.net.", SCOPES[0].1),
            ("db.database.chinacloudapi.cn", SCOPES[1].1),
            ("10.0.0.1", SCOPES[2].1),
        ] {
            assert_eq!(scope_of(host), scope, "{host}");
        }
    }

    fn http(status: u16) -> azure_core::Error {
        let kind = ErrorKind::HttpResponse {
            status: status.into(),
            error_code: None,
            raw_response: None,
        };
        let inner = azure_core::Error::with_message(kind, "inner");
        azure_core::Error::with_error(ErrorKind::Credential, inner, "outer")
    }

    #[test]
    fn failures_that_pass_are_told_from_mistakes() {
        for status in [404, 410, 429, 500, 503, 504] {
            assert!(explain(&http(status)).is_passing(), "{status}");
        }
        for status in [400, 401, 403] {
            assert!(!explain(&http(status)).is_passing(), "{status}");
        }
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        assert!(explain(&refused.into()).is_passing());
    }

    /// The words of a parser may quote the token that it could not read.
    #[test]
    fn unreadable_answers_are_not_quoted() {
        let parsed = serde_json::from_str::<u32>("\"eyJhbGciOi\"").unwrap_err();
        assert!(parsed.to_string().contains("eyJ"), "{parsed}");
        let inner = azure_core::Error::from(parsed);
        let message = format!("ManagedIdentityCredential authentication failed. {inner}");
        let outer = azure_core::Error::with_error(ErrorKind::Credential, inner, message);
        assert_eq!(
            explain(&outer).to_string(),
            "no access token: the identity service's answer cannot be read"
        );
        let long = azure_core::Error::with_message(ErrorKind::Credential, "ä".repeat(1000));
        assert_eq!(explain(&long).message.chars().count(), REASON_MAX + 1);
    }
}
