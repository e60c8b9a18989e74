//! What a newcomer sees when something is wrong: one line that says what, and what to do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use duroxide_sql::{
    AccessToken, MigrationPolicy, MssqlProvider, MssqlProviderBuilder, TokenError, TokenSource,
};
use mssql_embedded::{Encryption, Server};

use crate::support::database::{TestSchema, own_server};
use crate::support::items::create;

const PASSWORD: &str = "Str0ng.enough";

async fn refusal(builder: MssqlProviderBuilder) -> String {
    let started = builder.connect_timeout(Duration::from_secs(20)).build();
    let error = started.await.expect_err("a mistake in the settings");
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message}");
    if matches!(error, duroxide_sql::Error::Connect(_)) {
        let chain = format!("{:#}", anyhow::Error::from(error));
        assert_eq!(chain, message, "nothing is said twice");
    }
    message
}

/// What the start with this connection string says.
async fn refused(url: &str) -> String {
    refusal(MssqlProvider::builder(url).schema("orders")).await
}

/// A server with one login besides `sa`, which may connect and nothing else.
fn server(encryption: Encryption) -> Server {
    let server = Server::builder()
        .password(PASSWORD)
        .encryption(encryption)
        .start()
        .expect("the embedded server starts");
    let login = server
        .controls()
        .create_login("app", PASSWORD, "master", &[]);
    login.expect("the login is created");
    server
}

fn url(server: &Server, rest: &str) -> String {
    format!("server=tcp:127.0.0.1,{};{rest}", server.port())
}

/// The mistakes that are noticed before anything is sent.
#[tokio::test]
async fn wrong_settings_are_named() {
    let url = "server=tcp:localhost,1433;user id=sa;password=x";
    assert_eq!(
        refused(&format!("{url};databse=orders")).await,
        "connection string option 4 is unknown, did you mean database; check its spelling, and \
         whether a password before it needs quotes or escapes"
    );
    assert_eq!(
        refused("sqlserver://sa:x@localhost/orders?encrypted=true").await,
        "connection string option 1 is unknown, did you mean encrypt; check its spelling, and \
         whether a password before it needs quotes or escapes"
    );
    assert_eq!(
        refused(&format!("{url};encrypt=maybe")).await,
        "connection string option \"encrypt\" must be true, strict or false"
    );
    assert_eq!(
        refused("server=tcp:localhost,1433;user id=sa").await,
        "user name without a password; add password=…, or check that its variable is set"
    );
    assert_eq!(
        refused("server=tcp:localhost,1433").await,
        "no user name; add user id=…;password=… or give the builder a token source"
    );
    assert_eq!(
        refused("postgres://sa:x@localhost/orders").await,
        "connection string begins with postgres://, expected sqlserver://"
    );
}

/// Schema names that SQL Server or we cannot use.
#[tokio::test]
async fn illegal_schema_names_are_named() {
    let long = "x".repeat(129);
    for (name, message) in [
        ("", "schema name is empty; choose a name such as duroxide"),
        (
            "a ",
            "schema name \"a \" ends in a space, which SQL Server ignores when it compares names; \
             remove the space",
        ),
        (
            "a\nb",
            "schema name \"a\\nb\" contains a control character; remove it",
        ),
        (
            "sys",
            "schema name \"sys\" is reserved by SQL Server; choose another",
        ),
        (
            &long,
            "schema name has 129 UTF-16 units, SQL Server allows 128; shorten it",
        ),
    ] {
        let url = "server=tcp:localhost,1433;user id=sa;password=x";
        let builder = MssqlProvider::builder(url).schema(name);
        assert_eq!(refusal(builder).await, message);
    }
}

/// Nobody listens on that port. A server that is starting looks the same, so the start waits.
#[tokio::test]
async fn wrong_port_is_named() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let system = std::net::TcpStream::connect(address).expect_err("nobody listens");
    let url = format!(
        "server=tcp:127.0.0.1,{};user id=sa;password=x",
        address.port()
    );
    let builder = MssqlProvider::builder(url).startup_timeout(Duration::from_millis(500));
    assert_eq!(
        refusal(builder).await,
        format!(
            "no SQL Server answers at {address}: {system}; check host, port and firewall; given \
             up after 500ms"
        )
    );
}

/// Something else listens on that port.
#[tokio::test]
async fn other_protocol_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let web = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        while let Ok((mut client, _)) = listener.accept().await {
            let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let message = refused(&format!(
        "server=tcp:127.0.0.1,{};user id=sa;password=x",
        address.port()
    ))
    .await;
    web.abort();
    assert_eq!(
        message,
        format!(
            "{address} accepts connections, but does not answer as a SQL Server: bytes remaining \
             on stream; check host and port"
        )
    );
}

/// A server that accepts and then says nothing does not hold the start for ever.
#[tokio::test]
async fn silent_server_is_given_up_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!(
        "server=tcp:127.0.0.1,{};user id=sa;password=x",
        address.port()
    );
    let builder = MssqlProvider::builder(url)
        .connect_timeout(Duration::from_millis(200))
        .startup_timeout(Duration::from_millis(600));
    let begun = Instant::now();
    let message = builder
        .build()
        .await
        .expect_err("nobody answers")
        .to_string();
    assert_eq!(
        message,
        format!(
            "timeout: {address} accepted a connection, but did not finish the login within \
             200ms; check that it is a SQL Server; given up after 600ms"
        )
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn wrong_password_is_named() {
    let server = server(Encryption::Offered);
    let login = "user id=sa;password=hunter2;trustServerCertificate=true";
    assert_eq!(
        refused(&url(&server, login)).await,
        format!(
            "login to 127.0.0.1:{} refused: Login failed for user 'sa' (server error 18456); \
             check user and password",
            server.port()
        )
    );
}

#[tokio::test]
async fn unknown_database_is_named() {
    let server = server(Encryption::Offered);
    let rest =
        format!("database=nowhere;user id=sa;password={PASSWORD};trustServerCertificate=true");
    let builder =
        MssqlProvider::builder(url(&server, &rest)).startup_timeout(Duration::from_secs(3));
    assert_eq!(
        refusal(builder).await,
        format!(
            "database \"nowhere\" on 127.0.0.1:{} cannot be opened: Cannot open database \
             \"nowhere\" requested by the login. The login failed (server error 4060); check its \
             name and the login's access to it; given up after 3s",
            server.port()
        )
    );
}

/// Why a certificate that nobody vouches for is refused, in the words of what speaks TLS.
const REJECTED: &str = if cfg!(feature = "native-tls") {
    "self-signed certificate"
} else {
    "UnknownIssuer"
};

/// The embedded server's certificate is its own, so nobody vouches for it. A server that insists
/// on encryption has its certificate checked even when the client would do without.
#[tokio::test]
async fn untrusted_certificate_is_named() {
    for (encryption, encrypt) in [
        (Encryption::Offered, "true"),
        (Encryption::Offered, "strict"),
        (Encryption::Required, "true"),
        (Encryption::Required, "false"),
    ] {
        let server = server(encryption);
        let rest = format!("user id=sa;password={PASSWORD};encrypt={encrypt}");
        assert_eq!(
            refused(&url(&server, &rest)).await,
            format!(
                "TLS with 127.0.0.1:{} failed: the server's certificate was rejected during the TLS \
                 handshake: {REJECTED}; if the server's certificate is self-signed, \
                 install its authority, or add trustServerCertificate=true on a trusted network",
                server.port()
            ),
            "{encryption:?} {encrypt}"
        );
    }
}

const NO_ENCRYPTION: &str = "offers no encryption; give it a certificate, or, on this machine \
     only, write encrypt=DANGER_PLAINTEXT, which sends the password in clear text";

/// The client asks for encryption, the server has none.
#[tokio::test]
async fn missing_encryption_is_named() {
    let server = server(Encryption::Off);
    let port = server.port();
    for (encrypt, message) in [
        ("true", NO_ENCRYPTION),
        ("false", NO_ENCRYPTION),
        // One that does not listen yet looks the same, so the start waits.
        (
            "strict",
            "does not begin with TLS, as encrypt=strict demands; write encrypt=true for SQL \
             Server 2019 and older; given up after 2s",
        ),
    ] {
        let rest =
            format!("user id=sa;password={PASSWORD};encrypt={encrypt};trustServerCertificate=true");
        let mut builder = MssqlProvider::builder(url(&server, &rest)).schema("orders");
        if encrypt == "strict" {
            builder = builder.startup_timeout(Duration::from_secs(2));
        }
        assert_eq!(
            refusal(builder).await,
            format!("127.0.0.1:{port} {message}"),
            "{encrypt}"
        );
    }
}

/// The server insists on encryption, the client was told to have none.
#[tokio::test]
async fn demanded_encryption_is_named() {
    let server = server(Encryption::Required);
    let rest = format!("user id=sa;password={PASSWORD};encrypt=DANGER_PLAINTEXT");
    assert_eq!(
        refused(&url(&server, &rest)).await,
        format!(
            "127.0.0.1:{} demands encryption; write encrypt=true",
            server.port()
        )
    );
}

/// Encrypted from the first request to the last.
#[tokio::test]
async fn encrypted_connections_work_when_the_certificate_is_trusted() {
    for (encryption, encrypt) in [
        (Encryption::Offered, "true"),
        (Encryption::Offered, "strict"),
        (Encryption::Required, "false"),
        (Encryption::Off, "DANGER_PLAINTEXT"),
    ] {
        let server = server(encryption);
        let rest =
            format!("user id=sa;password={PASSWORD};encrypt={encrypt};trustServerCertificate=true");
        let schema = TestSchema::at(server.connection_string());
        let builder = MssqlProvider::builder(url(&server, &rest)).schema(schema.name().as_str());
        let provider = builder.build().await.expect("the start succeeds");
        create(&provider, "order").await;
    }
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
        refused(&server.connection_string()).await,
        "database has compatibility level 120, at least 130 is needed; run ALTER DATABASE CURRENT \
         SET COMPATIBILITY_LEVEL = 130"
    );
}

/// A login that may connect and nothing else can neither install nor use a schema.
#[tokio::test]
async fn missing_rights_are_named() {
    let server = server(Encryption::Offered);
    let rest = format!("user id=app;password={PASSWORD};trustServerCertificate=true");
    let url = url(&server, &rest);
    assert_eq!(
        refused(&url).await,
        "the login may not install schema [orders]: CREATE SCHEMA permission denied in database \
         'master' (server error 262); have a DBA run the script that install_script returns, and \
         start with MigrationPolicy::Verify"
    );

    let schema = TestSchema::named(server.connection_string(), "orders");
    schema.provider().await;
    let verify = MssqlProvider::builder(&url)
        .schema("orders")
        .migration_policy(MigrationPolicy::Verify);
    assert_eq!(
        refusal(verify).await,
        "the login may not use schema [orders]: The EXECUTE permission was denied on the object \
         'get_schema_state', database 'master', schema 'orders' (server error 229); add its user \
         to the schema's runtime role"
    );
}

/// A token source that has none to give.
struct NoToken;

#[async_trait::async_trait]
impl TokenSource for NoToken {
    async fn token(&self) -> Result<AccessToken, TokenError> {
        Err(TokenError::new("the Azure CLI refuses; run az login"))
    }
}

/// A missing token is not blamed on the server, which never hears of it.
#[tokio::test]
async fn missing_token_is_named() {
    let server = server(Encryption::Offered);
    let builder = MssqlProvider::builder(url(&server, "trustServerCertificate=true"));
    assert_eq!(
        refusal(builder.token_source(Arc::new(NoToken))).await,
        format!(
            "no access token: the Azure CLI refuses; run az login; 127.0.0.1:{} was not asked",
            server.port()
        )
    );
}
