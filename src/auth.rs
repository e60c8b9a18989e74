//! Who we are to the server: a SQL login, or an Entra ID token from the application.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tiberius::AuthMethod;
use tokio::sync::Mutex;

/// A token this close to its end is not used for a new connection: the login itself and the
/// clock difference to Azure both take time.
const REFRESH_BEFORE: Duration = Duration::from_secs(5 * 60);

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
}

impl TokenError {
    /// Wraps the reason. It is shown to people, so it must not contain a secret.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// Gives Entra ID access tokens to new connections.
///
/// The provider keeps a token until five minutes before it expires, so an implementation
/// needs no cache of its own. A connection that is open stays open when its token expires;
/// pooled connections are replaced within their maximum lifetime.
#[async_trait::async_trait]
pub trait TokenSource: Send + Sync + 'static {
    /// Fetches a fresh token for the resource `https://database.windows.net/`.
    async fn token(&self) -> Result<AccessToken, TokenError>;
}

/// How a new connection proves its identity.
#[derive(Clone)]
pub(crate) enum Identity {
    /// User name and password in the login packet.
    SqlLogin { user: String, password: String },
    /// A token, asked for when none is cached or the cached one is about to expire.
    Token(Arc<CachedToken>),
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
        Self::Token(Arc::new(CachedToken {
            source,
            cached: Mutex::new(None),
        }))
    }

    /// The driver's form of this identity.
    pub(crate) async fn method(&self) -> Result<AuthMethod, TokenError> {
        match self {
            Self::SqlLogin { user, password } => Ok(AuthMethod::sql_server(user, password)),
            Self::Token(token) => Ok(AuthMethod::aad_token(token.get().await?)),
        }
    }

    /// Called when the server refused the login. True when another attempt makes sense: a
    /// token may have been revoked or rotated, a password does not change by itself.
    pub(crate) async fn renew_after_refusal(&self) -> bool {
        match self {
            Self::SqlLogin { .. } => false,
            Self::Token(token) => {
                *token.cached.lock().await = None;
                true
            }
        }
    }

    /// Whether a refused login may succeed later without anyone changing the settings.
    pub(crate) fn is_token(&self) -> bool {
        matches!(self, Self::Token(_))
    }
}

/// A token source and the last token it gave.
pub(crate) struct CachedToken {
    source: Arc<dyn TokenSource>,
    cached: Mutex<Option<AccessToken>>,
}

impl CachedToken {
    async fn get(&self) -> Result<String, TokenError> {
        let mut cached = self.cached.lock().await;
        if let Some(token) = cached.as_ref()
            && SystemTime::now() + REFRESH_BEFORE < token.expires_at
        {
            return Ok(token.secret.clone());
        }
        let token = self.source.token().await?;
        let secret = token.secret.clone();
        *cached = Some(token);
        Ok(secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Counting {
        calls: AtomicU32,
        lifetime: Duration,
    }

    #[async_trait::async_trait]
    impl TokenSource for Counting {
        async fn token(&self) -> Result<AccessToken, TokenError> {
            let n = self.calls.fetch_add(1, Ordering::SeqCst);
            let expires_at = SystemTime::now() + self.lifetime;
            Ok(AccessToken {
                secret: format!("secret-{n}"),
                expires_at,
            })
        }
    }

    async fn calls_after_two_connections(lifetime: Duration) -> u32 {
        let source = Arc::new(Counting {
            calls: AtomicU32::new(0),
            lifetime,
        });
        let identity = Identity::from_source(source.clone());
        identity.method().await.unwrap();
        identity.method().await.unwrap();
        source.calls.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn token_is_kept_while_it_lasts_and_replaced_before_it_expires() {
        assert_eq!(
            calls_after_two_connections(Duration::from_secs(3600)).await,
            1
        );
        assert_eq!(
            calls_after_two_connections(Duration::from_secs(60)).await,
            2
        );
    }

    #[tokio::test]
    async fn token_is_asked_for_again_after_a_refused_login() {
        let source = Arc::new(Counting {
            calls: AtomicU32::new(0),
            lifetime: Duration::from_secs(3600),
        });
        let identity = Identity::from_source(source.clone());
        identity.method().await.unwrap();
        assert!(identity.renew_after_refusal().await);
        identity.method().await.unwrap();
        assert_eq!(source.calls.load(Ordering::SeqCst), 2);
    }

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
