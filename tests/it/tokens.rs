//! A token's whole way: from its source over the wire into the server, and back as a refusal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use duroxide_sql::{AccessToken, MssqlProvider, MssqlProviderBuilder, TokenError, TokenSource};
use mssql_embedded::{Controls, Encryption, Server};

use crate::support::items::create;

const HOUR: Duration = Duration::from_secs(3600);

/// Gives a new token every time, and tells the server of it.
struct Issuer {
    controls: Controls,
    calls: AtomicU32,
}

impl Issuer {
    fn new(server: &Server) -> Arc<Self> {
        Arc::new(Self {
            controls: server.controls(),
            calls: AtomicU32::new(0),
        })
    }

    fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait::async_trait]
impl TokenSource for Issuer {
    async fn token(&self) -> Result<AccessToken, TokenError> {
        let secret = format!("token-{}", self.calls.fetch_add(1, Ordering::SeqCst));
        self.controls.accept_token(&secret, "sa", HOUR);
        Ok(AccessToken {
            secret,
            expires_at: SystemTime::now() + HOUR,
        })
    }
}

fn server(encryption: Encryption) -> Server {
    let server = Server::builder().encryption(encryption).start();
    server.expect("the embedded server starts")
}

/// A provider that has no password, only this source.
fn builder(server: &Server, source: Arc<dyn TokenSource>) -> MssqlProviderBuilder {
    let login = format!(
        "user id=sa;password={};",
        server
            .connection_string()
            .split("password=")
            .nth(1)
            .unwrap()
            .split(';')
            .next()
            .unwrap()
    );
    let url = server.connection_string().replace(&login, "");
    MssqlProvider::builder(url).token_source(source)
}

/// A source that always gives this token.
fn fixed(secret: &'static str, calls: &Arc<AtomicU32>) -> Arc<dyn TokenSource> {
    let calls = calls.clone();
    Arc::new(move || {
        calls.fetch_add(1, Ordering::SeqCst);
        async move {
            Ok(AccessToken {
                secret: secret.to_owned(),
                expires_at: SystemTime::now() + HOUR,
            })
        }
    })
}

/// One token opens all connections, whatever is encrypted.
#[tokio::test]
async fn tokens_log_in() {
    for encryption in [Encryption::Off, Encryption::Offered, Encryption::Required] {
        let server = server(encryption);
        let issuer = Issuer::new(&server);
        let provider = builder(&server, issuer.clone())
            .pool_min_idle(5)
            .build()
            .await;
        create(&provider.expect("the start succeeds"), "order").await;
        assert_eq!(issuer.calls(), 1);
    }
}

/// A token that is revoked is replaced when the next connection is opened, and nobody notices.
#[tokio::test]
async fn revoked_tokens_are_replaced() {
    let server = server(Encryption::Off);
    let issuer = Issuer::new(&server);
    let provider = builder(&server, issuer.clone()).build().await;
    let provider = provider.expect("the start succeeds");
    server.controls().revoke_token("token-0");
    for session in server.controls().sessions() {
        server.controls().kill(session);
    }
    create(&provider, "order").await;
    assert_eq!(issuer.calls(), 2);
}

/// A token that the server does not know is refused, after another one was asked for.
#[tokio::test]
async fn unknown_tokens_are_refused() {
    let server = server(Encryption::Offered);
    let calls = Arc::new(AtomicU32::new(0));
    let started = builder(&server, fixed("unknown", &calls)).build().await;
    assert_eq!(
        started.expect_err("nobody knows this token").to_string(),
        format!(
            "login to {} refused: Login failed for user '<token-identified principal>' (server \
             error 18456); check that the database has a user for this identity",
            server.address()
        )
    );
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

/// An identity that the server lets in no more is refused with every token: not each login asks for another.
#[tokio::test]
async fn refused_identity_does_not_ask_for_a_token_at_every_login() {
    let server = server(Encryption::Off);
    let calls = Arc::new(AtomicU32::new(0));
    server.controls().accept_token("token", "sa", HOUR);
    let provider = builder(&server, fixed("token", &calls)).build().await;
    let provider = provider.expect("the start succeeds");
    server.controls().revoke_token("token");
    for session in server.controls().sessions() {
        server.controls().kill(session);
    }
    for _ in 0..3 {
        let pinged = provider.ping(HOUR).await;
        assert!(pinged.unwrap_err().message.contains("18456"));
    }
    assert_eq!(calls.load(Ordering::SeqCst), 2, "one, and its replacement");
}

/// The server's clock decides when a token ends.
#[tokio::test]
async fn expired_tokens_are_refused() {
    let server = server(Encryption::Offered);
    server.controls().accept_token("old", "sa", HOUR);
    server.controls().advance(HOUR);
    let source = fixed("old", &Arc::default());
    let error = builder(&server, source).build().await;
    let error = error.expect_err("the token has expired").to_string();
    assert!(
        error.contains("Token is expired (server error 18456)"),
        "{error}"
    );
}

/// A source that takes longer than a connection may is waited for.
#[tokio::test]
async fn slow_sources_are_not_held_to_the_connect_timeout() {
    let server = server(Encryption::Off);
    let issuer = Issuer::new(&server);
    let slow = {
        let issuer = issuer.clone();
        move || {
            let issuer = issuer.clone();
            async move {
                // Longer than the connection may take, by the clock and not by a guess.
                tokio::time::sleep(Duration::from_millis(2500)).await;
                issuer.token().await
            }
        }
    };
    let provider = builder(&server, Arc::new(slow))
        .connect_timeout(Duration::from_secs(2))
        .build()
        .await;
    create(&provider.expect("the start succeeds"), "order").await;
}
