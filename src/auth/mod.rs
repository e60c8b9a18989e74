//! Who we are to the server: a SQL login, or an Entra ID token from the application or from Azure.

#[cfg(feature = "azure-identity")]
mod azure;
mod cache;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use tiberius::AuthMethod;

#[cfg(feature = "azure-identity")]
pub use azure::AzureIdentity;
use cache::TokenCache;

/// An access token for `https://database.windows.net/`. `Debug` never shows it.
#[derive(Clone)]
pub struct AccessToken {
    /// The token text, as the identity service issued it.
    pub secret: String,
    /// When the token stops being accepted.
    pub expires_at: SystemTime,
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken")
            .field("secret", &"<hidden>")
            .field("expires_at", &self.expires_at)
            .finish()
    }
}

/// The identity service gave no token.
#[derive(Debug, Clone, thiserror::Error)]
#[error("no access token: {message}")]
pub struct TokenError {
    message: String,
    is_passing: bool,
}

impl TokenError {
    /// Wraps the reason. It is shown to people, so it must not contain a secret. The start of a
    /// provider reports it at once.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            is_passing: false,
        }
    }

    /// As [`TokenError::new`], for a failure that passes by itself, such as an identity service
    /// that cannot be reached. The start of a provider asks again.
    pub fn passing(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            is_passing: true,
        }
    }

    /// Whether asking again may help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.is_passing
    }
}

/// Gives Entra ID access tokens to new connections.
///
/// The provider keeps the token for all of its connections and asks for the next one five
/// minutes before it expires, so an implementation needs no cache of its own; one that has a cache may
/// give a token again that the server has refused. While a source
/// fails, the token that is still valid goes on serving, one that was refused before if there is no other. A connection that is open stays open
/// when its token expires; pooled connections are replaced within their maximum lifetime.
///
/// A closure that returns a future is a source too:
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::{Duration, SystemTime};
/// use duroxide_sql::{AccessToken, TokenError, TokenSource};
///
/// let source: Arc<dyn TokenSource> = Arc::new(|| async {
///     let secret = std::env::var("MY_TOKEN").map_err(|_| TokenError::new("MY_TOKEN is not set"))?;
///     let expires_at = SystemTime::now() + Duration::from_secs(3600);
///     Ok(AccessToken { secret, expires_at })
/// });
/// ```
#[async_trait::async_trait]
pub trait TokenSource: Send + Sync + 'static {
    /// Fetches a fresh token for the resource `https://database.windows.net/`.
    async fn token(&self) -> Result<AccessToken, TokenError>;
}

#[async_trait::async_trait]
impl<F, Answer> TokenSource for F
where
    F: Fn() -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Result<AccessToken, TokenError>> + Send,
{
    async fn token(&self) -> Result<AccessToken, TokenError> {
        self().await
    }
}

/// How a new connection proves its identity.
#[derive(Clone)]
pub(crate) enum Identity {
    /// User name and password in the login packet.
    SqlLogin { user: String, password: String },
    /// A token, shared by all connections.
    Token(Arc<TokenCache>),
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SqlLogin { user, .. } => f
                .debug_struct("SqlLogin")
                .field("user", user)
                .finish_non_exhaustive(),
            Self::Token(_) => f.write_str("Token(<hidden>)"),
        }
    }
}

impl Identity {
    /// Wraps a token source with the cache that all connections of a pool share.
    pub(crate) fn from_source(source: Arc<dyn TokenSource>) -> Self {
        Self::Token(TokenCache::new(source))
    }

    /// What a new connection shows to the server that has refused something else. May wait for a token source.
    pub(crate) async fn proof(&self, refused: Option<&Proof>) -> Result<Proof, TokenError> {
        match self {
            Self::SqlLogin { user, password } => Ok(Proof {
                method: AuthMethod::sql_server(user, password),
                token: None,
            }),
            Self::Token(cache) => {
                let refused = refused.and_then(|proof| proof.token.as_deref());
                let token = cache.get(refused).await?;
                Ok(Proof {
                    method: AuthMethod::aad_token(&token),
                    token: Some(token),
                })
            }
        }
    }

    /// Whether this is a token.
    pub(crate) fn is_token(&self) -> bool {
        matches!(self, Self::Token(_))
    }

    /// Called when the server refused the login. True when another attempt makes sense: a
    /// token may have been revoked or rotated, a password does not change by itself, nor does an identity whose new token is
    /// refused as well.
    pub(crate) fn renew_after_refusal(&self, refused: &Proof) -> bool {
        match (self, &refused.token) {
            (Self::Token(cache), Some(token)) => cache.forget(token),
            _ => false,
        }
    }
}

/// What one connection shows to the server. `Debug` is not implemented: it holds a secret.
pub(crate) struct Proof {
    /// The driver's form.
    pub(crate) method: AuthMethod,
    token: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_shows_a_secret() {
        let login = Identity::SqlLogin {
            user: "app".into(),
            password: "hunter2".into(),
        };
        assert!(!format!("{login:?}").contains("hunter2"));
        let token = AccessToken {
            secret: "hunter2".into(),
            expires_at: SystemTime::UNIX_EPOCH,
        };
        assert!(!format!("{token:?}").contains("hunter2"));
    }
}
