//! What a newcomer sees when something is wrong: one line that says what, and what to do.

use std::time::Duration;

use duroxide_sql::MssqlProvider;

use crate::support::database::{
    SnapshotReads, TestSchema, connection_string, external, own_server,
};
use crate::support::items::create;

async fn refusal(url: &str, schema: &str) -> String {
    let builder = MssqlProvider::builder(url).schema(schema);
    let started = builder
        .connect_timeout(Duration::from_secs(5))
        .build()
        .await;
    let message = started.expect_err("a mistake in the settings").to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

/// The mistakes that are noticed before anything is sent.
#[tokio::test]
async fn wrong_settings_are_named() {
    let url = "server=tcp:localhost,1433;user id=sa;password=x";
    assert_eq!(
        refusal(&format!("{url};databse=orders"), "s").await,
        "connection string option \"databse\" is unknown; check its spelling or remove it"
    );
    assert_eq!(
        refusal(url, "a ").await,
        "schema name \"a \" ends in a space, which SQL Server ignores when it compares names; \
         remove the space"
    );
    assert_eq!(
        refusal("server=tcp:localhost,1433", "s").await,
        "no user name; add user id=…;password=… or give the builder a token source"
    );
}

/// Nobody listens on that port.
#[tokio::test]
async fn wrong_port_is_named() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("server=tcp:127.0.0.1,{port};user id=sa;password=x;encrypt=false");
    let message = refusal(&url, "s").await;
    assert!(
        message.starts_with(&format!("no SQL Server answers at 127.0.0.1:{port}: ")),
        "{message}"
    );
    assert!(
        message.ends_with("check host, port and firewall"),
        "{message}"
    );
}

/// A server that accepts and then says nothing does not hold the start for ever.
#[tokio::test]
async fn silent_server_is_given_up_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("server=tcp:127.0.0.1,{port};user id=sa;password=x;encrypt=false");
    let builder = MssqlProvider::builder(url).connect_timeout(Duration::from_millis(200));
    let begun = std::time::Instant::now();
    let message = builder
        .build()
        .await
        .expect_err("nobody answers")
        .to_string();
    assert!(
        message.contains("did not accept a connection within 200ms"),
        "{message}"
    );
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// The embedded server's connection string with one part replaced.
fn embedded(part: &str, value: &str) -> Option<String> {
    if external().is_some() {
        return None;
    }
    let url = connection_string(SnapshotReads::Off);
    let parts: Vec<_> = url
        .split(';')
        .map(|pair| match pair.split_once('=') {
            Some((key, _)) if key.eq_ignore_ascii_case(part) => format!("{key}={value}"),
            _ => pair.to_owned(),
        })
        .collect();
    Some(parts.join(";"))
}

#[tokio::test]
async fn wrong_password_is_named() {
    let Some(url) = embedded("password", "wrong") else {
        return;
    };
    let message = refusal(&url, "s").await;
    assert!(message.contains("refused"), "{message}");
    assert!(message.ends_with("check user and password"), "{message}");
    assert!(!message.contains("wrong"), "{message}");
}

#[tokio::test]
async fn unknown_database_is_named() {
    let Some(url) = embedded("database", "nowhere") else {
        return;
    };
    let message = refusal(&url, "s").await;
    assert!(
        message.starts_with("database \"nowhere\" on 127.0.0.1:"),
        "{message}"
    );
    assert!(
        message.ends_with("check its name and the login's access to it"),
        "{message}"
    );
}

/// The embedded server's certificate is its own, so nobody vouches for it.
#[tokio::test]
async fn untrusted_certificate_is_named() {
    let Some(url) = embedded("trustServerCertificate", "false") else {
        return;
    };
    let message = refusal(&url.replace("encrypt=false", "encrypt=true"), "s").await;
    assert!(message.starts_with("TLS with 127.0.0.1:"), "{message}");
    assert!(
        message.contains("trustServerCertificate=true on a trusted network"),
        "{message}"
    );
}

/// Encrypted from the first request to the last.
#[tokio::test]
async fn encrypted_connections_work_when_the_certificate_is_trusted() {
    let Some(url) = embedded("encrypt", "true") else {
        return;
    };
    let schema = TestSchema::at(url);
    let provider = schema.provider().await;
    create(&provider, "order").await;
}

/// A database that behaves like a server of 2014 has no OPENJSON.
#[tokio::test]
async fn low_compatibility_level_is_named() {
    let server = own_server();
    server
        .controls()
        .set_compatibility_level("master", 120)
        .unwrap();
    assert_eq!(
        refusal(&server.connection_string(), "s").await,
        "database has compatibility level 120, at least 130 is needed; run ALTER DATABASE CURRENT \
         SET COMPATIBILITY_LEVEL = 130"
    );
}

/// A login that may connect and nothing else.
#[tokio::test]
async fn missing_rights_are_named() {
    let server = own_server();
    server
        .controls()
        .create_login("app", "Str0ng.enough", "master", &[])
        .unwrap();
    let url = format!(
        "server=tcp:127.0.0.1,{};user id=app;password=Str0ng.enough;encrypt=false;\
         trustServerCertificate=true",
        server.port()
    );
    let message = refusal(&url, "orders").await;
    assert!(
        message.starts_with("the login may not install schema [orders]: "),
        "{message}"
    );
    assert!(
        message.ends_with("and start with MigrationPolicy::Verify"),
        "{message}"
    );
}
