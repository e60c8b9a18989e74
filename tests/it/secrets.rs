//! No secret is in an error or in a log line of any level, whatever goes wrong on the way in.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use duroxide_sql::{AccessToken, MssqlProvider, TokenError};
use mssql_embedded::{Encryption, Server};

use crate::support::log::Log;

/// Words that are in no message, so that any part of a secret is noticed.
const WORDS: [&str; 2] = ["Xqzka", "Wvjyb"];

fn assert_clean(text: &str, where_from: &str) {
    let lower = text.to_lowercase();
    for word in WORDS {
        let at = lower.find(&word.to_lowercase());
        let around = at.map(|at| &text[at.saturating_sub(200)..at]);
        assert_eq!(around, None, "{word} is shown: {where_from}");
    }
}

/// What the start says with this connection string.
async fn failure(url: &str) -> String {
    let started = MssqlProvider::builder(url)
        .schema("orders")
        .pool_min_idle(0)
        .startup_timeout(Duration::from_millis(400))
        .build()
        .await;
    match started {
        Ok(provider) => format!("{provider:?}"),
        Err(error) => format!("{error} {error:?}"),
    }
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Wrong passwords with every printable character, escaped or not, in both forms.
#[tokio::test]
async fn refused_logins_show_no_password() {
    let server = Server::builder().password("Str0ng.enough").start().unwrap();
    let port = server.port();
    let (log, _guard) = Log::catch();
    for character in ' '..='~' {
        let password = format!("{}{character}{}", WORDS[0], WORDS[1]);
        let quoted = password.replace('\'', "''");
        for url in [
            format!("server=tcp:127.0.0.1,{port};encrypt=DANGER_PLAINTEXT;uid=sa;pwd={password}"),
            format!("server=tcp:127.0.0.1,{port};encrypt=DANGER_PLAINTEXT;uid=sa;pwd='{quoted}'"),
            format!("sqlserver://sa:{password}@127.0.0.1:{port}?encrypt=DANGER_PLAINTEXT"),
            format!(
                "sqlserver://sa:{}@127.0.0.1:{port}?encrypt=DANGER_PLAINTEXT",
                percent(&password)
            ),
        ] {
            let failure = failure(&url).await;
            assert_clean(&failure, &url);
        }
    }
    assert!(log.text().contains("18456"), "refusals are logged");
    assert_clean(&log.text(), "log");
}

/// Every other way not to get in, and the way in itself.
#[tokio::test]
async fn no_failure_to_connect_shows_the_password() {
    let password = WORDS.concat();
    let start = |encryption| {
        Server::builder()
            .password(&password)
            .encryption(encryption)
            .start()
            .unwrap()
    };
    let (offered, off) = (start(Encryption::Offered), start(Encryption::Off));
    let login = format!("uid=sa;pwd={password}");
    let at = |server: &Server| format!("server=tcp:127.0.0.1,{};{login}", server.port());
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed_port = closed.local_addr().unwrap().port();
    drop(closed);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    let (log, _guard) = Log::catch();
    for url in [
        format!("server=tcp:127.0.0.1,{closed_port};{login}"),
        format!("server=tcp:127.0.0.1,{silent_port};{login}"),
        format!("server=no-such-host.invalid;{login}"),
        at(&offered),
        at(&off),
        format!("{};encrypt=strict", at(&off)),
        format!("{};trustServerCertificateCA=/no/such/file", at(&offered)),
        format!(
            "{};trustServerCertificate=true;database=nowhere",
            at(&offered)
        ),
        format!("{};trustServerCertificate=true", at(&offered)),
    ] {
        assert_clean(&failure(&url).await, &url);
    }
    assert_clean(&log.text(), "log");
}

/// A token is as secret as a password.
#[tokio::test]
async fn no_failure_to_connect_shows_the_token() {
    let server = Server::builder().start().unwrap();
    let (log, _guard) = Log::catch();
    let url = format!(
        "server=tcp:127.0.0.1,{};encrypt=DANGER_PLAINTEXT",
        server.port()
    );
    let source = || async {
        Ok::<_, TokenError>(AccessToken {
            secret: WORDS.concat(),
            expires_at: SystemTime::now() + Duration::from_secs(3600),
        })
    };
    let error = MssqlProvider::builder(url)
        .token_source(Arc::new(source))
        .build()
        .await
        .expect_err("the token is unknown");
    assert_clean(&format!("{error} {error:?}"), "error");
    assert_clean(&log.text(), "log");
}
